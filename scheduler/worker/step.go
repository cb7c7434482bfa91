package worker

import (
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/timer"
	"godwit/task"
)

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice.
func (w *Worker) Step(now time.Time, ev message.Event) []message.Effect {
	w.now, w.effects = now, w.room.Begin()
	w.results.given.expire(now)
	if w.born == 0 {
		w.born = now.UnixNano()
		w.results.deleteSpoiled()
	}
	switch ev := ev.(type) {
	case *message.Received:
		w.receive(ev.From, ev.Message)
	case message.LeaderChanged:
		w.follow(ev)
	case message.Prepared:
		w.prepared(ev)
	case message.Ended:
		w.ended(ev)
	case message.Arrived:
		w.arrived(ev)
	case message.NotArrived:
		w.notArrived(ev)
	case message.NotHanded:
		w.notHanded(ev)
	case message.Checkpointed:
		w.checkpointed(ev)
	case message.StateBad:
		w.stateBad(ev)
	case message.NotSaved:
		w.notSaved(ev)
	case message.NotBegun:
		w.notBegun(ev)
	case message.OwnerState:
		w.ownerChanged(ev)
	}
	w.jobs.releaseIdle(now, &w.effects)
	w.startQueued()
	w.report()
	w.results.keepDue(now, w.timing.ReportEvery)
	w.effects = w.room.End(w.effects)
	return w.effects
}

// NextWake says when time alone will make the worker do something.
func (w *Worker) NextWake() (time.Time, bool) {
	at, ok := w.jobs.timers.Next()
	at, ok = timer.Earlier(at, ok, w.nextReport(), w.leader != "")
	due, keep := w.results.nextKeep(w.timing.ReportEvery)
	at, ok = timer.Earlier(at, ok, due, keep)
	return timer.Earlier(at, ok, w.news.toTell, w.leader != "" && w.news.untold > 0 && !w.news.toTell.IsZero())
}

func (w *Worker) receive(from task.PeerID, m *message.Message) {
	if m.Wrong != nil {
		w.found(from, m.Wrong)
	}
	if m.Got != nil && m.Got.Asks {
		w.results.bring(from, m.Got, w)
	}
	if from != w.leader {
		return
	}
	switch {
	case m.Place != nil && m.Place.Epoch >= w.epoch:
		w.epoch = m.Place.Epoch
		w.place(m.Place)
	case m.Ack != nil && m.Ack.Epoch >= w.epoch:
		w.epoch = m.Ack.Epoch
		w.acknowledged(m.Ack)
	}
}

// follow obeys a leader. A new term gets a full report, from which the leader
// learns what runs here. A leader of an older term than was seen gets one too:
// it has lost its disk, learns from the report's epoch what it must outrun, and
// until then none of its leases is taken.
func (w *Worker) follow(ev message.LeaderChanged) {
	if ev.Leader == w.leader && ev.Epoch <= w.epoch {
		return
	}
	w.leader, w.epoch = ev.Leader, max(w.epoch, ev.Epoch)
	w.news.greeted, w.news.urgent = false, w.leader != ""
	for _, u := range w.results.all {
		u.sent = time.Time{}
	}
}

// acknowledged forgets what the leader has made durable and ends what it drops.
func (w *Worker) acknowledged(a *message.Ack) {
	w.news.greeted = true
	if len(a.Ended) > 0 {
		durable := make(map[message.AttemptName]bool, len(a.Ended))
		for _, n := range a.Ended {
			n.Reason = ""
			durable[n] = true
		}
		w.results.forget(w.now, func(u *unacked) bool {
			return durable[message.AttemptName{Task: u.ending.Result.Task, Attempt: u.ending.Attempt}]
		})
	}
	for _, n := range a.Drop {
		w.drop(n)
	}
	for i := range a.Moves {
		w.moveTo(&a.Moves[i])
	}
}
