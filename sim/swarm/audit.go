package swarm

import (
	"fmt"
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// standsStill is the interval at which a node that lends nothing looks whether it can run a task again.
const standsStill = time.Minute

// audit runs a task of this node's own job again, at the speed of its host. It takes no core from other tasks. States on
// the way are not kept, so a part of a task takes as long as all of it.
func (n *node) audit(e message.Audit) {
	rate := n.speed()
	if rate == 0 {
		n.after(standsStill, talking, func() { n.audit(e) })
		return
	}
	work := n.w.jobs[e.Task.Job].tasks[e.Task.Index].work
	n.after(time.Duration(float64(work)/rate), ending, func() { n.audited(e, time.Duration(float64(work)/rate)) })
}

// audited answers an Audit with what the task comes to.
func (n *node) audited(e message.Audit, took time.Duration) {
	done := message.Audited{Task: e.Task, Interpreted: e.Interpreted, StopAt: e.StopAt, Part: e.Part, First: e.First,
		Here: completed(e.Task)}
	if e.Part != nil || e.StopAt > 0 {
		done.Unserved, done.Lost = "no states are kept here", true
	}
	if !e.First {
		held, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(e.Task.Job, e.Task.Index)])
		if err != nil {
			n.w.note(err)
			return
		}
		done.Held = held
	}
	done.Here.CPU, done.Here.Wall = took, took
	n.w.note(done.Here.Sign(n.key))
	n.step(n.m.Submitter(), done)
}

// completed is what a task comes to on every honest node.
func completed(id task.TaskID) task.Result {
	out := fmt.Append(nil, id)
	return task.Result{Task: id, Outcome: task.Completed,
		Outputs: []task.Output{{Name: task.Stdout, CID: task.RawCID(out), Size: int64(len(out)), Inline: out}}}
}
