package ending

import (
	"fmt"
	"math"
	"time"
)

// A job with stages is run ahead as one job for each of them, which share what falls to all. Tasks of a stage wait
// until those that they read have ended: how many may begin follows from how far the stages are that it reads.

// MaxStages bounds the stages of a job.
const MaxStages = 64

// A Stage is what is left of one stage of a job.
type Stage struct {
	Waiting  uint64 // as Job has it, also runs of which the tasks cannot begin yet
	Over     uint64 // runs that are over
	Running  []Attempt
	Memory   int64
	Declared time.Duration
	Ended    []time.Duration
	Needs    []Need
}

// A Need says which stage has to be how far.
type Need struct {
	Stage int // in Job.Stages; before the one that has the need
	// From is the share of that stage's tasks that have ended when the first task of this one may begin, 0 to 1. The
	// others may one after the other as it goes on from there: with 1 all wait for all.
	From float64
}

// left counts the runs of a stage that are not over.
func (s *Stage) left() uint64 { return s.Waiting + uint64(len(s.Running)) }

// parts returns the jobs that a job is run ahead as: itself, or one for each of its stages.
func (j *Job) parts() []*Job {
	if len(j.Stages) == 0 {
		return []*Job{j}
	}
	out := make([]*Job, len(j.Stages))
	for i := range j.Stages {
		s := &j.Stages[i]
		out[i] = &Job{ID: j.ID, Waiting: s.Waiting, Running: s.Running, Memory: s.Memory, Declared: s.Declared,
			Ended: s.Ended, Save: j.Save}
	}
	return out
}

// checkStages refuses stages that make no sense.
func (j *Job) checkStages() error {
	if len(j.Stages) > MaxStages {
		return fmt.Errorf("job %q: %d stages, the most is %d", j.ID, len(j.Stages), MaxStages)
	}
	if len(j.Stages) > 0 && j.Waiting+uint64(len(j.Running)+len(j.Ended)) > 0 {
		return fmt.Errorf("job %q: tasks beside those of its stages", j.ID)
	}
	for i := range j.Stages {
		for _, n := range j.Stages[i].Needs {
			if n.Stage < 0 || n.Stage >= i || !(n.From >= 0 && n.From <= 1) {
				return fmt.Errorf("job %q: stage %d needs stage %d from %v on", j.ID, i, n.Stage, n.From)
			}
		}
	}
	return nil
}

// A staging is what a stage's part of a draw is beside a job. The zero value is that of a job without stages.
type staging struct {
	needs []Need
	held  uint64  // runs that cannot begin yet
	freed float64 // of all, that could begin or are over
	done  float64 // that are over
	all   float64
}

// stage makes the parts of the first job, which were taken in, stages of it: what cannot begin is held. share is the
// part of the tasks that is drawn.
func (w *world) stage(of *Job, share float64) {
	for i := range of.Stages {
		s, j := &of.Stages[i], w.jobs[i]
		j.needs = s.Needs
		j.done = float64(s.Over) * share
		j.all = j.done + j.left()
		if len(j.needs) > 0 {
			j.held, j.waiting = j.waiting, 0
			j.freed = j.all - float64(j.held)
		}
	}
	w.release()
}

// release has those tasks wait that may begin by now.
func (w *world) release() {
	for _, j := range w.jobs[:w.parts] {
		if j.held == 0 {
			continue
		}
		may, whole := j.all, true
		for _, n := range j.needs {
			of := w.jobs[n.Stage]
			if of.over() {
				continue
			}
			whole = false
			may = min(may, n.lets(j.all, of.done/max(of.all, 1)))
		}
		n := j.held
		if !whole {
			n = min(n, uint64(max(0, may-j.freed)))
		}
		j.held -= n
		j.waiting += n
		j.freed += float64(n)
	}
}

// lets is how many of so many tasks may begin where that share of those that they read has ended.
func (n *Need) lets(all, share float64) float64 {
	const slack = 1e-9 // of shares that are sums
	switch {
	case share+slack < n.From || n.From == 1:
		return 0
	case n.From == 0:
		return math.Floor(all*share + slack)
	}
	return 1 + math.Floor(max(0, all-1)*max(0, share-n.From)/(1-n.From)+slack)
}
