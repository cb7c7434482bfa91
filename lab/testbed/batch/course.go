package batch

import (
	"fmt"
	"io"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// wavesOf is the least time in which so many slots do a job's tasks when none is
// divided: whole waves, as Grundeken 2009, section 4.2, has the ideal. 0 where the
// work is not known.
func wavesOf(tasks uint64, slots int, work time.Duration) float64 {
	n := uint64(slots)
	return float64((tasks+n-1)/n) * work.Seconds()
}

// A course says where a job's time went that was not work, in seconds from when
// the job was handed in. Leases are as the leader counts them.
type course struct {
	FirstS float64 `json:"first_s"` // until the first lease
	FullS  float64 `json:"full_s"`  // until as many leases as there are slots
	LastS  float64 `json:"last_s"`  // until the last lease of a run from the beginning
	EndS   float64 `json:"end_s"`   // until the last end that the leader heard of
	// Least and Most are the tasks that a node completed.
	Least int `json:"least"`
	Most  int `json:"most"`
}

// courseOf reads the course of a job that began at a time on so many nodes.
func courseOf(begun time.Time, nodes, slots int, tasks []message.TaskStatus) (c course) {
	var starts []float64
	done := map[task.PeerID]int{}
	for _, t := range tasks {
		for _, a := range t.Attempts {
			if !a.FromCheckpoint {
				starts = append(starts, a.Start.Sub(begun).Seconds())
			}
			if a.Outcome == task.Completed.String() {
				done[a.Worker]++
				c.EndS = max(c.EndS, a.End.Sub(begun).Seconds())
			}
		}
	}
	if len(starts) == 0 {
		return c
	}
	slices.Sort(starts)
	c.FirstS, c.FullS, c.LastS = starts[0], starts[min(slots, len(starts))-1], starts[len(starts)-1]
	for _, n := range done {
		c.Most = max(c.Most, n)
	}
	if c.Least = c.Most; len(done) < nodes {
		c.Least = 0
	}
	for _, n := range done {
		c.Least = min(c.Least, n)
	}
	return c
}

// Of 1,000 tasks of 30 s on 68 nodes Grundeken 2009, Table 4.1, took 474.85 s where
// launchers run one task after the other, and 685.01 s where each task is submitted
// by itself; whole waves are 450 s.
const (
	launcherRatio = 474.85 / 450
	directRatio   = 685.01 / 450
)

// printIdeal sets the makespan beside both ideals, and those beside what is published.
func (rep *report) printIdeal(w io.Writer) {
	if rep.IdealS == 0 {
		return
	}
	fmt.Fprintf(w, "ideal %.2f s: %.3f times as long\n", rep.IdealS, rep.MakespanS/rep.IdealS)
	fmt.Fprintf(w, "ideal of whole waves %.2f s: %.3f times as long (1,000 tasks of 30 s on 68 nodes, Grundeken 2009: "+
		"launchers %.3f, task by task %.3f)\n",
		rep.WavesS, rep.MakespanS/rep.WavesS, launcherRatio, directRatio)
	c := &rep.Course
	fmt.Fprintf(w, "first lease after %.2f s, every slot had one after %.2f s, the last given after %.2f s, the last "+
		"end heard of after %.2f s; %d to %d tasks a node\n",
		c.FirstS, c.FullS, c.LastS, c.EndS, c.Least, c.Most)
}
