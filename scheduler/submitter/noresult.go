package submitter

import (
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// Some results of a job that is checked are none, whatever they say: those that show nothing by which
// they could be held against another run. They are given back, and their worker is kept away from the job.
// It is not named: it may be of an older version. So nobody gains by hiding how it ran a task.

// noResult says why a result counts for nothing, or "".
func (c *checks) noResult(r *task.Result) string {
	switch {
	case r.Outcome != task.Completed:
	case r.Trail == nil && c.trailed:
		return "it shows no trail, and the program leaves one"
	case r.Trail != nil && !task.KnownEngine(r.Trail.Engine):
		return fmt.Sprintf("no engine is called %q that runs programs", r.Trail.Engine)
	}
	return ""
}

// refuseResult has others run a task whose result is none, and keeps its worker away from the job. Where
// it was given back too often it is run again here.
func (a *audits) refuseResult(j *submitted, t *message.TaskSummary, why string) {
	r := &t.Results[0]
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: t.Index}, Action: "no result", Peer: r.Worker,
		Reason: why})
	a.note(j, checked{Index: t.Index, State: verdictDue, Doubted: true, Worker: r.Worker, Poll: newPoll(r).kept("", false)})
	a.keepAway(j, r.Worker)
	a.giveBack(j, r.Worker)
}

// keepAway has a worker get no more tasks of a job.
func (a *audits) keepAway(j *submitted, worker task.PeerID) {
	if j.checks.excused[worker] {
		return
	}
	j.checks.excused[worker] = true
	if !j.state.Final {
		a.s.got(j)
	}
}

// leavesTrail takes in that the program of a job leaves a trail, as this node saw itself: what was taken
// before of workers that showed none is none.
func (a *audits) leavesTrail(j *submitted, here *task.Result) {
	c := j.checks
	if c.trailed || here.Outcome != task.Completed || here.Trail == nil {
		return
	}
	c.trailed = true
	for _, w := range slices.Sorted(maps.Keys(c.trailless)) {
		a.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: here.Task.Index}, Action: "no result", Peer: w,
			Reason: "its results show no trail, and the program leaves one"})
		a.keepAway(j, w)
		a.distrustIn(j, w, true)
	}
	clear(c.trailless)
}
