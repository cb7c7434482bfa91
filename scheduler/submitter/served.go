package submitter

import (
	"fmt"
	"time"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/task"
)

// What a worker does when it is asked for states that it signed.

// served notes that the worker of a leg named the states of its run, and gave the one that was needed.
func (a *audits) served(p *parting, signed *task.Result, part *message.Part) {
	if p.states[part.Leg] = part.States; part.First == 0 || p.served[part.Leg] {
		return
	}
	p.served[part.Leg] = true
	if worker := signed.Leg(part.Leg).Worker; a.credit(worker).Serve() {
		a.keep(worker)
	}
}

// unserved has the whole task run, since its worker did not serve a state. Who was there, and
// refused or served something else, loses standing, and so does who loses states again and again;
// who is away, or slow, does not, and nobody is to have them after task.KeptFor.
func (a *audits) unserved(at *auditing, signed *task.Result, ev *message.Audited) {
	asked := signed
	if signed.Trail != nil && ev.Asked > 0 && ev.Asked <= len(signed.Trail.Began) {
		asked = signed.Leg(ev.Asked)
	}
	worker, since := asked.Worker, signedAt(asked, a.s.now)
	did := ""
	switch {
	case a.s.now.Sub(since) > task.KeptFor:
	case ev.Refused:
		if a.credit(worker).Refuse() {
			did = "refused states that it had signed"
		}
		a.keep(worker)
	case ev.Lost:
		if a.credit(worker).Lose(since, a.s.now) {
			did = "lost states that it had signed"
		}
		a.keep(worker)
	}
	if did != "" {
		a.s.emit(message.Decided{Task: at.id, Action: "begins at nothing", Peer: worker,
			Reason: fmt.Sprintf("it %s %d times", did, credibility.MostRefusals)})
	}
	a.whole(at, ev.Unserved)
}

// signedAt is about when a worker signed a result: its run ended so long after its lease was given,
// by its leader's clock; now where nothing says when that was.
func signedAt(r *task.Result, now time.Time) time.Time {
	if r.Receipt == nil {
		return now
	}
	at := time.UnixMilli(r.Receipt.Issued).Add(min(max(r.Wall, 0), task.MaxDuration))
	if at.After(now) {
		return now
	}
	return at
}
