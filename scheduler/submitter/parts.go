package submitter

import (
	"fmt"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxProofStates bounds the results of one job with whose proofs a state is kept: one takes as much
// room as the job's memory, at most.
const maxProofStates = 8

// A drawn is which intervals of a result are run again, in place of the whole task, out of how
// many. The zero value is the whole task.
type drawn struct {
	mask uint64 // a bit for each
	of   int
}

// count is how many are drawn.
func (d drawn) count() (n int) {
	for m := d.mask; m != 0; m &= m - 1 {
		n++
	}
	return n
}

// draw says what of a result is run again: nothing, some of its intervals, or all. Of a result that
// has too few intervals it is all or nothing.
func (a *audits) draw(j *submitted, r *task.Result, share float64) (d drawn, due bool) {
	key := task.DrawKey(a.s.key, j.spec.Nonce)
	n := r.Trail.Intervals(j.spec.Spacing())
	if n == 0 {
		return d, len(credibility.Draw(key, r.Task.Index, r.Digest(), 1, share)) > 0
	}
	which := credibility.Draw(key, r.Task.Index, r.Digest(), n, share)
	if len(which) == n {
		return d, true
	}
	d.of = n
	for _, k := range which {
		d.mask |= 1 << k
	}
	return d, len(which) > 0
}

// A parting runs the drawn intervals of a result again, those that follow each other together.
type parting struct {
	drawn
	first, last int              // at hand
	states      *task.KeptStates // as the worker named them
	served      bool             // it gave one
	compiled    *message.Audited // of the part at hand, where it is not what was signed
	at          int              // the first interval in it that is not
	wrong       bool             // interpreted, too
	why         string
}

// newParting begins with the first that is drawn.
func newParting(d drawn) *parting {
	p := &parting{drawn: d, last: -1}
	p.next()
	return p
}

// next goes on to the next intervals, and reports whether there are some.
func (p *parting) next() bool {
	p.compiled = nil
	for p.first = p.last + 1; p.first < p.of && p.mask>>p.first&1 == 0; {
		p.first++
	}
	for p.last = p.first; p.last+1 < p.of && p.mask>>(p.last+1)&1 == 1; {
		p.last++
	}
	return p.first < p.of
}

// parted takes in what came of intervals.
func (a *audits) parted(j *submitted, at *auditing, ev *message.Audited) {
	p, signed, here := at.parts, &ev.Held.Results[0], &ev.Here
	if ev.Part != nil && ev.Unserved == "" {
		a.served(p, signed.Worker, ev.Part)
	}
	state, stopped := stateAt(here, stopOf(ev))
	switch {
	case ev.Unserved != "":
		a.unserved(at, signed, ev)
	case !stopped && (here.Outcome == task.Interrupted || here.Outcome == task.HostError && at.fails+1 < auditTries):
		a.later(at, here.Outcome)
	case ev.Part == nil || ev.Part.States == nil, !stopped, !signed.Outcome.Reproducible(),
		here.Trail == nil || here.Trail.Pass != signed.Trail.Pass:
		a.whole(at, "the part cannot be told here")
	default:
		a.judgePart(j, at, ev, state)
	}
}

// stopOf is the fuel at which the run of intervals was to stop; 0 for the end.
func stopOf(ev *message.Audited) uint64 {
	if p := ev.Part; p != nil && p.States != nil && p.Last < len(p.States.States) {
		return p.States.States[p.Last].Fuel
	}
	return 0
}

func (a *audits) whole(at *auditing, why string) {
	at.parts, at.fails = nil, 0
	at.whole = true
	a.s.emit(message.Decided{Task: at.id, Action: "runs again as a whole", Reason: task.ClipMessage(why)})
}

// judgePart holds what intervals came to against what their worker signed of them.
func (a *audits) judgePart(j *submitted, at *auditing, ev *message.Audited, state []byte) {
	p, signed := at.parts, &ev.Held.Results[0]
	wrong, why := differsAt(ev, state)
	switch {
	case wrong < 0:
		if p.compiled != nil {
			a.s.emit(message.Decided{Task: at.id, Action: "divergent here", Reason: "interpreted, a part of the task comes to " +
				"what was signed; compiled, it does not: test this machine's memory"})
		}
		switch {
		case p.next():
		case a.known(signed.Worker).Faults > 0:
			a.whole(at, "its worker was wrong elsewhere")
		default:
			a.credit(signed.Worker).Confirm(p.count(), p.of, a.s.now)
			a.keep(signed.Worker)
			a.settle(j, at.id, verdictAccepted, "")
		}
	case p.compiled == nil:
		p.compiled, p.at = ev, wrong
	case wrong != p.at || !samePart(p.compiled, ev):
		a.settle(j, at.id, verdictOpen, "this machine is at odds with itself: compiled and interpreted, a part of the task "+
			"ends otherwise; test its memory")
	case wrong == 0 && traceable(signed): // it may be another's who ran the task before
		a.whole(at, "the part before the worker's own is wrong")
	default:
		at.part = partOf(signed, p.states, wrong)
		if ev.Part.First == wrong && j.checks.wrong.Count() < maxProofStates {
			at.proves(signed, signed.Trail.ProveIntervals(wrong, wrong, p.states))
		}
		p.why = fmt.Sprintf("the part from fuel %d to %d comes to something else here: %s", at.part.From, at.part.To, why)
		p.wrong = true
		at.compiled = &p.compiled.Here
	}
}

// differsAt returns the first interval of a part that came to something else than was signed, and
// why; -1 for none.
func differsAt(ev *message.Audited, state []byte) (interval int, why string) {
	of := ev.Part.States.Boundaries()
	passed := map[uint64][32]byte{}
	for _, b := range ev.Passed {
		passed[b.Fuel] = b.State
	}
	for k := ev.Part.First; k < ev.Part.Last; k++ {
		if s, came := passed[of[k].Fuel]; !came || s != of[k].State {
			return k, "it ends in another state"
		}
	}
	last := ev.Part.Last
	if last < len(of) {
		if string(state) != string(of[last].State[:]) {
			return last, "it ends in another state"
		}
		return -1, ""
	}
	if why := ev.Held.Results[0].Difference(&ev.Here, nil); why != "" {
		return last, why
	}
	return -1, ""
}

// samePart reports whether two runs of a part came to the same.
func samePart(a, b *message.Audited) bool {
	if a.Here.Outcome == task.Interrupted && b.Here.Outcome == task.Interrupted {
		return a.Here.Trail.Fuel == b.Here.Trail.Fuel && string(a.Here.Trail.Last) == string(b.Here.Trail.Last)
	}
	return a.Here.Difference(&b.Here, nil) == ""
}

// replace puts what the whole task came to here in the place of a result of which a part is wrong.
func (a *audits) replace(j *submitted, at *auditing, ev *message.Audited) {
	signed, here, p := &ev.Held.Results[0], &ev.Here, at.parts
	switch {
	case here.Outcome == task.Interrupted, here.Outcome == task.HostError && at.fails+1 < auditTries:
		a.later(at, here.Outcome)
	case !here.Outcome.Reproducible():
		a.settle(j, at.id, verdictOpen, "it does not run to its end here: "+here.Outcome.String())
	case signed.Difference(here, nil) == "" && here.Trail != nil && here.Trail.Boundaries == signed.Trail.Boundaries:
		a.settle(j, at.id, verdictOpen, "this machine is at odds with itself: a part of the task comes to something else, "+
			"the whole does not; test its memory")
	default:
		a.found(j, ev, []task.PeerID{signed.Worker}, p.why)
	}
}

// releaseOf tells the worker of a result that nobody will ask for its states any more; nil where it
// has none.
func releaseOf(r *task.Result, self task.PeerID) *message.Released {
	if r.Trail == nil || r.Trail.Boundaries == 0 || r.Worker == self {
		return nil
	}
	return &message.Released{Task: r.Task, Worker: r.Worker, Root: r.Trail.Root}
}

// acceptedParts is what is known of a result of which parts were right.
func (a *audits) acceptedParts(j *submitted, at *auditing, c checked) checked {
	worker := at.release.Worker
	mark := a.known(worker)
	m := mark.Mark(a.s.now)
	c.Worker, c.Audits, c.At = worker, m.Audits, m.At.Unix()
	c.Failed = at.failed
	c.Engine, c.Network = j.checks.engines[worker], a.networkOf(worker)
	c.Parts, c.Of = at.parts.count(), at.parts.of
	c.Told = a.heard.countOf(j, worker)
	return c
}

// proves notes how others see that a result is wrong.
func (at *auditing) proves(signed *task.Result, p *task.PartProof) {
	at.proof, at.state = p, signed.StateOf(p)
}

// partOf is an interval of a result that is wrong.
func partOf(signed *task.Result, kept *task.KeptStates, k int) *message.RefutedPart {
	from, to := signed.Trail.IntervalFuel(kept.Boundaries(), k)
	return &message.RefutedPart{Number: uint32(k), From: from, To: to}
}
