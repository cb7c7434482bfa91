package exec

import (
	"context"

	"godwit/migrate/handover"
	"godwit/overlay"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// maxStrange bounds the hand-overs that wait for a leader's offer: a member
	// with more slots than that is offered as many in one step only by a leader
	// whose word is before its streams.
	maxStrange = 64
	// stagesQueued is how many stages may wait for a sandbox that still compiles:
	// more than a machine gives.
	stagesQueued = handover.MaxRounds + 1
)

func (x *Executor) newDestination(name arrivalName) *destination {
	d := &destination{name: name}
	d.session = x.newSession(handover.NewTaker(handover.Default()), d.carryOut)
	d.settled = func(arrived bool) {
		if x.arriving[name] == d {
			delete(x.arriving, name)
		}
		if arrived {
			x.arrived(d)
		}
	}
	x.arriving[name] = d
	return d
}

// expect answers an Expect, on the loop.
func (x *Executor) expect(of Client, e message.Expect) {
	job := x.jobs.get(e.Task.Job)
	if !x.saves(job) {
		of.Report(message.NotArrived{Task: e.Task, Attempt: e.Attempt, Reason: "a state of that job cannot be taken here"})
		return
	}
	name := arrivalName{of.Overlay(), e.Task, e.Attempt}
	offer := handover.Offered{
		Overlay: string(name.of), Task: e.Task, As: handover.Attempt(e.Attempt),
		Worker: e.From, From: handover.Attempt(e.FromAttempt),
	}
	if d := x.arriving[name]; d != nil && !d.offered {
		s, stages := x.prepareArrival(d, of, e, job)
		if d.call(func() {
			d.saving, d.stages = s, stages
			d.step(offer)
		}) {
			x.spawn(func() { x.await(d, s) })
			return
		}
		d.attempt.end() // it has just given up waiting for this: the source asks again
	}
	d := x.newDestination(name)
	s, stages := x.prepareArrival(d, of, e, job)
	d.saving, d.stages = s, stages
	x.spawn(func() { d.run(x.ctx, offer) })
	x.spawn(func() { x.await(d, s) })
}

// prepareArrival prepares the attempt that is to come, and returns how its state gets
// into the sandbox.
func (x *Executor) prepareArrival(
	d *destination, of Client, e message.Expect, job *Job,
) (*saving, chan<- sandbox.Stage) {
	d.offered, d.from = true, e.From
	begins := message.Start{Task: e.Task, Attempt: e.Attempt, Holders: e.Holders, Receipt: e.Receipt, Reads: e.Reads}
	d.attempt = x.newAttempt(start{of: of, Start: begins}, job, true)
	s := x.newSaving(x.ctx, d.attempt, job, e.Left, func(why string) { x.cannotFreezeSoon(d.attempt, why) })
	stages := make(chan sandbox.Stage, stagesQueued)
	s.Stages = stages
	s.OnStage = func(int) { d.call(d.placedOne) }
	s.OnBegin = func() { d.tell(handover.Thawed{}) }
	x.saveOnTime(d.attempt, job, s)
	return s, stages
}

// await runs the sandbox that waits for the state, and then the guest.
func (x *Executor) await(d *destination, s *saving) {
	a := d.attempt
	res := x.runTask(a, s)
	a.end()
	why := res.Message
	if why == "" {
		why = "the sandbox ended"
	}
	d.tell(handover.Cancel{Reason: why})
	<-d.done
	if d.result.Outcome == handover.Arrived {
		x.Host.Post(func() { x.ended(a, res, nil) })
		return
	}
	saved, release := d.best()
	x.Host.Post(func() {
		defer release()
		if w := d.instead; w != nil {
			putOff(x, *w)
			return
		}
		a.of.Report(message.NotArrived{Task: a.name.Task, Attempt: a.name.Attempt, Reason: d.result.Reason, Saved: saved})
	})
}

// insteadOf has a Start take the place of a state that is still to come, and reports
// whether it is dealt with.
func (x *Executor) insteadOf(w start) bool {
	if _, runs := x.running[message.AttemptName{Task: w.Task, Attempt: w.Attempt}]; runs {
		return true // it has arrived
	}
	d := x.arriving[arrivalName{w.of.Overlay(), w.Task, w.Attempt}]
	if d == nil || !d.offered {
		return false
	}
	d.instead = &w
	d.cancel("it begins here from another state")
	return true
}

// refuseArrivals ends those hand-overs to this node, on the loop.
func (x *Executor) refuseArrivals(why string, which func(*destination) bool) {
	for _, d := range x.arriving {
		if d.offered && which(d) {
			d.cancel(why)
		}
	}
}

// arrived books an attempt that has come here and runs, on the loop.
func (x *Executor) arrived(d *destination) {
	a := d.attempt
	x.running[a.name] = a
	x.ahead.count(1)
	x.Host.CountChanged()
	x.cap()
	if d.instead == nil {
		a.of.Report(message.Arrived{Task: a.name.Task, Attempt: a.name.Attempt})
	}
}

// Serve serves a stream that a member opened to bring a task, on a goroutine of the
// network's, and returns when it is at its end.
func (x *Executor) Serve(ctx context.Context, from task.PeerID, s Stream) {
	f, err := s.Receive()
	if err != nil {
		return
	}
	open, ok := f.(handover.Open)
	if !ok {
		s.Hang("the first frame is not an opening")
		return
	}
	var d *destination
	var fresh bool
	why := "the node stops"
	_ = x.Host.Do(ctx, func() { d, fresh, why = x.opened(from, open) })
	if d == nil {
		_ = s.Send(handover.Refuse{Reason: why})
		return
	}
	first := handover.Opened{Stream: int(d.streams.Add(1)), Peer: from, Open: open}
	conns := make(chan *conn, 1)
	if fresh {
		conns <- d.attach(first.Stream, s)
		x.spawn(func() { d.run(x.ctx, first) })
	} else if !d.call(func() {
		conns <- d.attach(first.Stream, s)
		d.step(first)
	}) {
		_ = s.Send(handover.Refuse{Reason: "it was given up here a moment ago", Later: true})
		return
	}
	select {
	case c := <-conns:
		d.read(c)
		<-c.gone // what it still has to say is written
	case <-d.done:
	}
}

// opened finds the hand-over that a stream is of, on the loop, or says why there
// can be none. One of which the leader has not told yet is fresh.
func (x *Executor) opened(from task.PeerID, o handover.Open) (d *destination, fresh bool, why string) {
	of := x.Host.Client(overlay.ID(o.Overlay), from)
	if of == nil {
		return nil, false, "this node is not with you in that overlay"
	}
	name := arrivalName{of.Overlay(), o.Task, message.Attempt(o.As)}
	if d := x.arriving[name]; d != nil {
		return d, false, ""
	}
	strange := 0
	for _, d := range x.arriving {
		if !d.offered {
			strange++
		}
	}
	if strange >= maxStrange {
		return nil, false, "too many tasks are on their way here"
	}
	return x.newDestination(name), true, ""
}
