package exec

import (
	"godwit/migrate/handover"
	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// handOver answers a HandOver, on the loop.
func (x *Executor) handOver(of Client, e message.HandOver) {
	a, runs := x.running[message.AttemptName{Task: e.Task, Attempt: e.Attempt}]
	refuse := func(why string) {
		of.Report(message.NotHanded{Task: e.Task, Attempt: e.Attempt, Reason: why})
	}
	switch {
	case !runs && x.isWaiting(e.Task, e.Attempt):
		refuse("it waits for a core here, and has not begun")
		return
	case !runs: // its end is on the way
		return
	case !a.savable():
		refuse("its state cannot be saved")
		return
	case a.saved.Load() || a.controls.leaves() != nil: // its end is on the way, or the answer
		return
	}
	order := handover.Order{
		Overlay: string(of.Overlay()), Task: e.Task, From: handover.Attempt(e.Named), As: handover.Attempt(e.As),
		Urgent: x.inHaste() || !x.Runner.Rounds(),
	}
	s := x.newSource(handover.NewGiver(handover.Default(), order), a, e.To)
	a.controls.set(s)
	if x.lent.Rule == owner.RuleGoing && !order.Urgent {
		x.after(a, x.lastMoment().Sub(x.Host.Now()), func() { x.hurry(a, "the machine goes in a moment") })
	}
	x.Log.Info("a task leaves", "task", e.Task.String(), "to", e.To, "urgent", order.Urgent)
	x.spawn(func() { s.run(x.ctx, handover.Begin{}) })
}

func (x *Executor) isWaiting(id task.TaskID, as message.Attempt) bool {
	for i := range x.waiting {
		if x.waiting[i].is(id, as) {
			return true
		}
	}
	return false
}

func (x *Executor) newSource(m machine, a *attempt, to task.PeerID) *source {
	s := &source{name: a.name, controls: a.controls, freeze: a.save, end: a.end, to: to, begun: x.Host.Now()}
	s.session = x.newSession(m, s.carryOut)
	s.settled = func(f handover.Finish) {
		switch f.Outcome {
		case handover.Handed:
			x.Host.Post(func() { x.pace.note(f.Stats.Bytes, f.Stats.Total) })
		case handover.Stays:
			x.report(a.of, message.NotHanded{Task: a.name.Task, Attempt: a.name.Attempt, Reason: f.Reason})
		}
	}
	return s
}
