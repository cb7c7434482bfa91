package ends

import (
	"fmt"
	"math"
	"time"

	"godwit/ending"
	"godwit/sim"
	"godwit/task"
)

// A book keeps what became of a job's tasks, so that it can be said how the job stood at
// half.
type book struct {
	d     *drawn
	tasks []entry
	done  int
	half  time.Time // when half of the tasks were done
	end   time.Time // zero: it had none
	until time.Time // of the run
	at    []entry   // tasks as they were at half
}

// An entry is a task.
type entry struct {
	host  int
	runs  bool
	still bool
	done  bool
	from  time.Time
	did   float64 // work until from, in seconds on the reference core
	saved float64
}

// note takes in a decision of the run.
func (b *book) note(d sim.Decision) {
	if d.Task >= uint64(len(b.tasks)) {
		return
	}
	e := &b.tasks[d.Task]
	switch d.Action {
	case "placed":
		*e = entry{host: d.Host, runs: true, from: d.At, did: e.saved, saved: e.saved}
	case "suspended":
		e.did, e.still = b.work(e, d.At), true
	case "resumed":
		e.from, e.still = d.At, false
	case "lost", "returned":
		every := saves.Seconds() * speed(&b.d.hosts[e.host])
		e.saved = max(e.saved, math.Floor(b.work(e, d.At)/every)*every)
		e.runs, e.still = false, false
	case "completed":
		e.runs, e.still, e.done = false, false, true
		if b.done++; b.done == len(b.tasks) {
			b.end = d.At
		}
		if b.half.IsZero() && 2*b.done >= len(b.tasks) {
			b.half = d.At
			b.at = append([]entry(nil), b.tasks...)
		}
	}
}

// work is what a task has done at a time.
func (b *book) work(e *entry, at time.Time) float64 {
	if !e.runs || e.still {
		return e.did
	}
	return e.did + max(0, at.Sub(e.from).Seconds())*speed(&b.d.hosts[e.host])
}

// jobAt is the job as its coordinator knows it at a time: when it was handed in, or at
// half.
func (b *book) jobAt(at time.Time) *ending.Job {
	j := &ending.Job{ID: task.JobID(fmt.Sprintf("job%d", len(b.tasks))), Declared: b.d.guess, Save: saves}
	if at.Equal(b.d.at) {
		j.Waiting = uint64(len(b.tasks))
		return j
	}
	for i := range b.at {
		switch e := &b.at[i]; {
		case e.done:
			j.Ended = append(j.Ended, time.Duration(b.d.works[i]*float64(time.Second)))
		case e.runs:
			j.Running = append(j.Running, ending.Attempt{Peer: peerOf(e.host), Work: time.Duration(b.work(e, at) *
				float64(time.Second))})
		default:
			j.Waiting++
		}
	}
	return j
}
