package submitter

import (
	"bytes"
	"fmt"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// Who is wrong is known once the whole task has run here. Others have to see it for themselves, and a
// long task is much to run: so the one part is sought at which the worker's run goes another way, from
// a state that was signed. Its worker still has that state, or nobody can be shown more than the whole.

// narrowMost is how long the part may take to come, run and all: until then its worker is not named.
const narrowMost = 10 * time.Minute

// A narrowing runs the part once more of a result that is known to be wrong. What comes of it changes
// nothing but what others are shown.
type narrowing struct {
	ev  *message.Audited // of the whole task
	by  []task.PeerID
	why string
	// until is when it is given up: where no core is free here any more.
	until time.Time
	// from is the state that the run of the worker of link, whose state is wrong, began with, and proof
	// that of it; nil where it is the end that is wrong.
	from  *message.Began
	link  *task.Link
	proof *task.PartProof
	leg   int // in which the interval is sought where it is the end that is wrong, or a state that it left
}

// narrow has the part sought, and reports whether there is anything to seek.
func (a *audits) narrow(j *submitted, ev *message.Audited, by []task.PeerID, why string) bool {
	at, r := a.at[ev.Task], &ev.Held.Results[0]
	if !a.abroad.lends || at.narrow != nil || at.proof != nil || len(by) != 1 || task.SignsReads(j.spec, ev.Task.Index) ||
		r.Trail == nil || ev.Here.Trail == nil ||
		ev.Here.Trail.Pass != r.Trail.Pass || j.checks.wrong.Count() >= maxProofStates {
		return false
	}
	n := &narrowing{ev: ev, by: by, why: why, until: a.s.now.Add(narrowMost)}
	spacing := j.spec.Spacing()
	if leg := at.wrongLeg(); leg > 0 && r.Trail.LegIntervals(leg, spacing) > 1 {
		n.leg = leg
	} else if !n.whole(at, r, spacing) {
		return false
	}
	at.narrow = n
	a.s.timers.Set(n.until, auditTimer)
	return true
}

// wrongLeg is the leg before the last that is known to be wrong; 0 for none.
func (at *auditing) wrongLeg() int {
	switch t := at.trace; {
	case t != nil && t.wrong:
		return t.link + 1
	case at.parts != nil && at.parts.wrong:
		return at.parts.leg
	}
	return 0
}

// whole has all run that the worker ran who is wrong, and reports whether there is anything to run.
func (n *narrowing) whole(at *auditing, r *task.Result, spacing uint64) bool {
	n.leg = 0
	switch t := at.trace; {
	case t != nil && t.wrong:
		if t.link == len(t.chain())-1 { // its worker began with the task
			at.proves(r, r.Trail.ProveLink(t.link))
			return false
		}
		before := &t.chain()[t.link+1]
		if before.CID == "" {
			return false
		}
		n.link = t.probe()
		n.from = &message.Began{Fuel: before.Fuel, Hash: before.Voucher.Hash, CID: before.CID,
			Holders: []task.PeerID{before.Voucher.Worker, n.by[0], r.Worker}}
		n.proof = r.Trail.ProveLink(t.link)
	case n.by[0] != r.Worker || r.Trail.LegIntervals(0, spacing) == 0:
		return false
	}
	return true
}

// late reports whether the part is given up: what comes of it later is nobody's business.
func (n *narrowing) late(now time.Time) bool { return n != nil && !now.Before(n.until) }

// audit is what is asked of the part.
func (n *narrowing) audit(id task.TaskID, key []byte) message.Audit {
	e := message.Audit{Task: id, Key: key}
	if n.from != nil {
		e.From, e.StopAt = n.from, n.link.Fuel
		return e
	}
	e.Part = &message.Part{Leg: n.leg, Seek: append([]task.Boundary{}, n.ev.Passed...)}
	return e
}

// concludes takes in what came of the part, and goes on with what was found before.
func (n *narrowing) concludes(a *audits, j *submitted, ev *message.Audited) {
	at := a.at[ev.Task]
	signed := &n.ev.Held.Results[0]
	switch {
	case ev.Unserved != "" && n.leg > 0 && n.whole(at, signed, j.spec.Spacing()):
		return // the leg as a whole, then
	case ev.Unserved != "":
	case n.from != nil:
		if state, stopped := stateAt(&ev.Here, n.link.Fuel); stopped && !bytes.Equal(state, n.link.Voucher.Hash) {
			at.proves(signed, n.proof)
		}
	case ev.Part != nil && ev.Part.States != nil:
		state, stopped := stateAt(&ev.Here, stopOf(ev))
		if !stopped {
			break
		}
		if k, _ := differsAt(ev, state); k >= 0 {
			leg := ev.Part.Leg
			at.proves(signed, signed.Trail.ProveIntervals(leg, ev.Part.First, k, ev.Part.States))
			at.part = drawn{legs: signed.Trail.Legs(j.spec.Spacing())}.partOf(signed, ev.Part.States, leg, k)
			n.why = fmt.Sprintf("%s; it is the part from fuel %d to %d", n.why, at.part.From, at.part.To)
		}
	}
	a.found(j, n.ev, n.by, n.why)
}
