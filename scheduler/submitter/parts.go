package submitter

import (
	"fmt"

	"godwit/credibility"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxProofStates bounds the results of one job with whose proofs a state is kept: one takes as much
// room as the job's memory, at most.
const maxProofStates = 8

// A drawn is which intervals of a result are run again, in place of the whole task, out of how
// many: those of all legs. The zero value is the whole task.
type drawn struct {
	which ledger.Set // numbers, from the task's beginning
	of    int
	legs  []int // as task.Trail.Legs has them; nil where there is one
}

// place says in which leg an interval lies, which of it that is, and how many follow it there.
func (d drawn) place(part int) (leg, interval, more int) {
	if len(d.legs) == 0 {
		return 0, part, d.of - 1 - part
	}
	for leg = len(d.legs) - 1; leg > 0 && part >= d.legs[leg]; leg-- {
		part -= d.legs[leg]
	}
	return leg, part, d.legs[leg] - 1 - part
}

// inLeg is how many are drawn of a leg.
func (d drawn) inLeg(leg int) (n int) {
	for _, r := range d.which {
		for k := r.From; k < r.To; k++ {
			if of, _, _ := d.place(int(k)); of == leg {
				n++
			}
		}
	}
	return n
}

// count is how many are drawn.
func (d drawn) count() int { return int(d.which.Count()) }

// mask has a bit for each that is drawn of the first 64, as it is stored; rest are the others.
func (d drawn) mask() (mask uint64, rest []uint16) {
	for _, r := range d.which {
		for k := r.From; k < r.To; k++ {
			if k < 64 {
				mask |= 1 << k
			} else {
				rest = append(rest, uint16(k))
			}
		}
	}
	return mask, rest
}

// drawnOf is what was stored of what is drawn.
func drawnOf(mask uint64, rest []uint16, of int, legs []int) drawn {
	d := drawn{of: of, legs: legs}
	for k := range min(of, 64) {
		if mask>>k&1 == 1 {
			d.which.Add(uint64(k))
		}
	}
	for _, k := range rest {
		if int(k) < of {
			d.which.Add(uint64(k))
		}
	}
	return d
}

// draw says what of a result is run again: nothing, some of its intervals, or all. Of a result that
// has too few intervals it is all or nothing.
func (a *audits) draw(j *submitted, i uint64, r *task.Result, share float64) (d drawn, due bool) {
	key := task.DrawKey(a.s.key, j.spec.Nonce)
	n := r.Trail.Parts(j.spec.Spacing())
	if n == 0 || task.SignsReads(j.spec, i) { // that is run again whole, on what is held of what it reads
		return d, len(credibility.Draw(key, i, r.Digest(), 1, share)) > 0
	}
	which := credibility.Draw(key, i, r.Digest(), n, share)
	if len(which) == n {
		return d, true
	}
	d.of, d.legs = n, r.Trail.Legs(j.spec.Spacing())
	for _, k := range which {
		d.which.Add(uint64(k))
	}
	return d, len(which) > 0
}

// leastShare is the share of a result that is run again, if the rule says share: more of the first of a source, and of
// a small job, but not more than one part of a task that has parts.
func (a *audits) leastShare(j *submitted, i uint64, r *task.Result, share float64) float64 {
	if a.s.cfg.FirstOfSource == 0 {
		return share
	}
	least := float64(credibility.Sample(j.total)) / float64(j.total)
	if a.early(j, i) {
		least = 1
	}
	if n := r.Trail.Parts(j.spec.Spacing()); n > 0 && !task.SignsReads(j.spec, i) {
		least /= float64(n)
	}
	return max(share, least)
}

// A parting runs the drawn intervals of a result again, those of one leg that follow each other together.
type parting struct {
	drawn
	first, last int                      // at hand, of all legs
	states      map[int]*task.KeptStates // as the worker of a leg named them
	served      map[int]bool             // legs of which it gave one
	compiled    *message.Audited         // of the part at hand, where it is not what was signed
	at          int                      // the first interval in it that is not
	wrong       bool                     // interpreted, too
	by          task.PeerID              // whose it is, and in which leg it lies
	leg         int
	why         string
}

// newParting begins with the first that is drawn.
func newParting(d drawn) *parting {
	p := &parting{drawn: d, last: -1, states: map[int]*task.KeptStates{}, served: map[int]bool{}}
	p.next()
	return p
}

// hand is the part at hand.
func (p *parting) hand() *message.Part {
	leg, first, _ := p.place(p.first)
	return &message.Part{Leg: leg, First: first, Last: first + p.last - p.first, States: p.states[leg]}
}

// next goes on to the next intervals, and reports whether there are some.
func (p *parting) next() bool {
	p.compiled = nil
	for p.first = p.last + 1; p.first < p.of && !p.which.Contains(uint64(p.first)); {
		p.first++
	}
	if p.first >= p.of {
		return false
	}
	_, _, more := p.place(p.first)
	for p.last = p.first; more > 0 && p.which.Contains(uint64(p.last+1)); more-- {
		p.last++
	}
	return true
}

// parted takes in what came of intervals.
func (a *audits) parted(j *submitted, at *auditing, ev *message.Audited) {
	p, signed, here := at.parts, &ev.Held.Results[0], &ev.Here
	if ev.Part != nil && ev.Unserved == "" {
		a.served(p, signed, ev.Part)
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
	switch p := ev.Part; {
	case p == nil || p.States == nil:
	case p.Last < len(p.States.States):
		return p.States.States[p.Last].Fuel
	case p.Leg > 0:
		return ev.Held.Results[0].Trail.Leg(p.Leg).Fuel
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
		case a.anyWrong(append(a.leftBy(signed), signed.Worker)):
			a.whole(at, "its worker was wrong elsewhere, or one that ran a part of it before")
		default:
			a.confirmLegs(p, signed)
			a.settle(j, at.id, verdictAccepted, "")
		}
	case p.compiled == nil:
		p.compiled, p.at = ev, wrong
	case wrong != p.at || !samePart(p.compiled, ev):
		a.settle(j, at.id, verdictOpen, "this machine is at odds with itself: compiled and interpreted, a part of the task "+
			"ends otherwise; test its memory")
	case wrong == 0 && traceable(signed.Leg(ev.Part.Leg)): // it may be another's who ran the task before
		a.whole(at, "the part before the worker's own is wrong")
	default:
		leg, kept := ev.Part.Leg, ev.Part.States
		at.part, p.leg, p.by = p.partOf(signed, kept, leg, wrong), leg, signed.Leg(leg).Worker
		if ev.Part.First == wrong && j.checks.wrong.Count() < maxProofStates {
			at.proves(signed, signed.Trail.ProveIntervals(leg, wrong, wrong, kept))
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
	if last < len(of) || ev.Part.Leg > 0 {
		ends := ev.Held.Results[0].Trail.Leg(ev.Part.Leg).Last
		if last < len(of) {
			ends = of[last].State[:]
		}
		if string(state) != string(ends) {
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
		a.found(j, ev, []task.PeerID{p.by}, p.why)
	}
}

// confirmLegs counts what was run again for those whose it is.
func (a *audits) confirmLegs(p *parting, signed *task.Result) {
	for leg := range max(1, len(p.legs)) {
		if n := p.inLeg(leg); n > 0 {
			worker := signed.Leg(leg).Worker
			a.credit(worker).Confirm(n, p.of, a.s.now)
			a.keep(worker)
		}
	}
}

// releaseOf tells the workers of all legs of a result that nobody will ask for their states any more.
func releaseOf(r *task.Result, self task.PeerID) (out []message.Released) {
	for leg := 0; r.Trail != nil && leg <= len(r.Trail.Began); leg++ {
		if of := r.Leg(leg); of.Trail.Boundaries > 0 && of.Worker != self {
			out = append(out, message.Released{Task: r.Task, Worker: of.Worker, Root: of.Trail.Root})
		}
	}
	return out
}

// acceptedParts is what is known of a result of which parts were right.
func (a *audits) acceptedParts(j *submitted, at *auditing, c checked) checked {
	worker := at.signer
	mark := a.known(worker)
	m := mark.Mark(a.s.now)
	c.Worker, c.Audits, c.At = worker, m.Audits, m.At.Unix()
	c.Failed = at.failed
	c.Engine, c.Network = j.checks.engines[worker], a.networkOf(worker)
	c.Parts, c.Of = at.parts.count(), at.parts.of
	c.Told, c.Left = a.heard.countOf(j, worker), at.left
	return c
}

// proves notes how others see that a result is wrong.
func (at *auditing) proves(signed *task.Result, p *task.PartProof) {
	at.proof, at.state = p, signed.StateOf(p)
}

// partOf is an interval of a leg of a result that is wrong.
func partOf(signed *task.Result, kept *task.KeptStates, leg, k int) *message.RefutedPart {
	t := signed.Trail.Leg(leg)
	from, to := t.IntervalFuel(kept.Boundaries(), k)
	if k == 0 && leg > 0 {
		from = t.Base()
	}
	return &message.RefutedPart{Number: uint32(k), From: from, To: to}
}

// partOf is that of a result whose parts are numbered.
func (d drawn) partOf(signed *task.Result, kept *task.KeptStates, leg, k int) *message.RefutedPart {
	out := partOf(signed, kept, leg, k)
	for before := leg + 1; before < len(d.legs); before++ {
		out.Number += uint32(d.legs[before])
	}
	return out
}
