package freeze

import (
	"math"
	"sort"

	"godwit/sandbox/wasm"
)

// Fuel is to be what a program did. But to charge each piece of straight code by itself would cost more than the code.
// So a charge is made ahead, for what is likely to follow: a function's entry (or who calls it) pays for the way to its
// end, a loop's turn for the way round. Where ways part whose costs do not lie near each other, the dearer one pays the
// difference where it begins: a large arm of a switch, a slow path. What is charged is then within a factor of what is
// done whatever way is taken, and the ways that most turns take make no charge but the first.
//
// The costs that are still to be paid are found backwards, from the end of the region (a function, or one turn of a
// loop). Ways that end in a trap do not count; those that leave a loop count only in the region around it.

// rest is what is still to be paid for from some place on.
type rest struct {
	kind   restKind
	lo, hi uint64 // the cheapest and the dearest way
}

type restKind byte

const (
	never  restKind = iota // it ends in a trap
	leaves                 // every way leaves the loop
	turns                  // some way goes round the loop, or to the function's end
)

// mid is what is charged for a rest, after a way that costs at least so much: as far from the cheapest as from the
// dearest, as factors.
func (r rest) mid(before uint64) uint64 {
	m := uint64(math.Sqrt(float64(r.lo+before) * float64(r.hi+before)))
	return m - min(m, before)
}

func (r rest) plus(cost uint64) rest {
	return rest{r.kind, min(r.lo+cost, maxCost), min(r.hi+cost, maxCost)}
}

const (
	// spread is how much dearer than the cheapest the dearest way may be that is charged the same: either is then
	// charged within a factor of two of its cost.
	spread = 4
	// leastCharge is the smallest difference that is charged by itself: the charge takes three instructions.
	leastCharge = 12
	// leastLeaving is what a way out of a loop costs before it is charged by itself.
	leastLeaving = 64
	// chargeRounds bounds how often a function is gone through: each round but the last found a label to be charged at.
	chargeRounds = 8
	// beginCost is what the poll of a region costs.
	beginCost = 5
)

// charges says where a function pays for what.
type charges struct {
	after []uint64 // by joint: charged behind it; for if, else and end where the code after it begins
	// own is, by joint, what a turn of a loop costs, and what a jump of thread.go is charged.
	own   []uint64
	entry uint64 // what a call costs, with what it calls
}

// region is a loop while the joints are gone through backwards.
type region struct {
	frame int  // of its loop
	after rest // what was paid on entry for what comes after it
}

// label is a construct while the joints are gone through backwards.
type label struct {
	opener, end int32
	to          rest // what is to be paid from where a branch to it leads
	els         rest // of an if: from the beginning of its else
}

// assessor finds a function's charges.
type assessor struct {
	*skeleton
	charges
	cuts    map[int32]rest // by the joint of an end: the label is charged down to this
	more    bool           // a cut was added
	frames  []label
	regions []region
	exits   map[int32]int32 // by the joint of a loop that cannot be left at its end: where branches leave it for
	ends    []rest          // by the joint of an end: what is to be paid behind it
	arms    []arm
}

// arm is one of the ways that part at a joint.
type arm struct {
	rest
	site  int32 // where it would be charged
	label bool  // at a label, so for everybody who goes there
}

// assess decides what is charged where.
func (s *skeleton) assess() charges {
	s.measure(beginCost)
	n := len(s.joints)
	a := &assessor{skeleton: s, cuts: map[int32]rest{}, exits: s.leaving(),
		charges: charges{after: make([]uint64, n), own: make([]uint64, n)}}
	if s.dispatches != nil {
		a.ends = make([]rest, n)
	}
	for range chargeRounds {
		a.more = false
		a.round()
		if !a.more {
			break
		}
	}
	if a.ends != nil {
		a.payJumps()
	}
	return a.charges
}

// leaving finds for each loop whose end is not reached the innermost construct that a branch leaves it for; -1 is the
// function.
func (s *skeleton) leaving() map[int32]int32 {
	out := map[int32]int32{}
	open := []int32{-1}
	var loops []int // places in open
	note := func(depth uint32) {
		t := len(open) - 1 - int(depth)
		if n := len(loops); n > 0 && t >= 0 && loops[n-1] > t {
			l := open[loops[n-1]]
			if have, ok := out[l]; !ok || open[t] > have {
				out[l] = open[t]
			}
		}
	}
	for k := range s.joints {
		j := &s.joints[k]
		switch j.op {
		case wasm.OpLoop:
			loops = append(loops, len(open))
			open = append(open, int32(k))
		case wasm.OpBlock, wasm.OpIf:
			open = append(open, int32(k))
		case wasm.OpEnd:
			open = open[:len(open)-1]
			if n := len(loops); n > 0 && loops[n-1] == len(open) {
				loops = loops[:n-1]
			}
		case wasm.OpBr, wasm.OpBrIf:
			note(j.a)
		case wasm.OpBrTable:
			for _, l := range s.labels[j.first : j.first+int32(j.a)] {
				note(l)
			}
		}
	}
	return out
}

// round goes through the joints backwards once.
func (a *assessor) round() {
	clear(a.after)
	a.frames, a.regions = a.frames[:0], a.regions[:0]
	now := rest{kind: turns}
	for k := int32(len(a.joints)) - 1; k >= 0; k-- {
		j := &a.joints[k]
		switch j.op {
		case wasm.OpEnd:
			now = a.end(k, now)
		case wasm.OpElse:
			f := &a.frames[len(a.frames)-1]
			f.els, now = now, f.to
		case wasm.OpIf:
			now = a.iff(k, now)
		case wasm.OpBlock:
			a.frames = a.frames[:len(a.frames)-1]
		case wasm.OpLoop:
			now = a.loop(k, now)
		case wasm.OpBr:
			now = a.branch(k)
		case wasm.OpBrIf:
			a.arms = append(a.arms[:0], arm{rest: now, site: k}, a.target(j.a))
			now = a.part(j)
		case wasm.OpBrTable:
			if a.jumping(j) { // the function begins where the variable's first value leads
				now = a.dispatch(j)
				break
			}
			a.arms = a.arms[:0]
			for _, l := range a.labels[j.first : j.first+int32(j.a)] {
				a.arms = append(a.arms, a.target(l))
			}
			now = a.part(j)
		case wasm.OpReturn:
			now = a.beyond()
		case wasm.OpUnreachable:
			now = rest{}
		}
		now = now.plus(j.cost)
	}
	a.entry = now.mid(beginCost) + beginCost
}

// dispatch is the rest at the br_table of a dispatching loop: the function begins where the variable's first value
// leads. A branch back that does not say where it leads may lead to any.
func (a *assessor) dispatch(j *joint) rest {
	first := a.target(a.labels[j.first]).rest
	all := first
	for _, l := range a.labels[j.first : j.first+int32(j.a)] {
		if to := a.target(l); to.kind != never {
			all = rest{max(all.kind, to.kind), min(all.lo, to.lo), max(all.hi, to.hi)}
		}
	}
	a.own[j.loop] = max(1, min(all.mid(beginCost)+beginCost, maxCost))
	return first
}

// payJumps has the jumps backwards pay for what follows where they lead.
func (a *assessor) payJumps() {
	for k := range a.joints {
		if j := &a.joints[k]; j.op == wasm.OpBr && a.jumping(j) {
			if end := a.joints[j.jump].match; end < int32(k) {
				a.own[k] = min(a.ends[end].mid(beginCost)+beginCost, maxCost)
			}
		}
	}
}

// branch is the rest at a br.
func (a *assessor) branch(k int32) rest {
	j := &a.joints[k]
	if !a.jumping(j) {
		return a.target(j.a).rest
	}
	if end := a.joints[j.jump].match; end < k {
		return a.beyond()
	}
	at := sort.Search(len(a.frames), func(n int) bool { return a.frames[n].opener >= j.jump })
	return a.target(uint32(len(a.frames) - 1 - at)).rest
}

// out is the rest where the function returns.
func (a *assessor) beyond() rest {
	if len(a.regions) > 0 {
		return rest{kind: leaves}
	}
	return rest{kind: turns}
}

// end begins, seen from behind, a construct or the function's body.
func (a *assessor) end(k int32, now rest) rest {
	j := &a.joints[k]
	if base, ok := a.cuts[k]; ok && now.kind != never {
		if c := now.mid(beginCost) - min(now.mid(beginCost), base.mid(beginCost)); c >= leastCharge {
			a.after[k] = c
			now = rest{now.kind, base.lo, base.hi}
		}
	}
	a.frames = append(a.frames, label{opener: j.match, end: k, to: now})
	if a.ends != nil {
		a.ends[k] = now
	}
	if j.match < 0 || a.joints[j.match].op != wasm.OpLoop {
		return now
	}
	f := &a.frames[len(a.frames)-1]
	if a.dispatching(j.match) {
		f.to = a.beyond() // a jump that leads nobody knows where
		return now
	}
	f.to = rest{kind: turns}
	r := region{frame: len(a.frames) - 1, after: now}
	now = rest{kind: leaves}
	if !j.fall {
		now, r.after = rest{}, a.afterwards(j.match)
	}
	a.regions = append(a.regions, r)
	return now
}

// afterwards is what is to be paid where branches leave a loop for.
func (a *assessor) afterwards(loop int32) rest {
	to, ok := a.exits[loop]
	if !ok {
		return rest{}
	}
	for k := len(a.frames) - 2; k >= 0; k-- { // the last is the loop's own
		if f := &a.frames[k]; f.opener == to {
			if n := len(a.regions); n > 0 && k <= a.regions[n-1].frame {
				return rest{kind: leaves} // for beyond the loop around it, or for its next turn
			}
			return f.to
		}
	}
	return a.beyond()
}

// loop ends, seen from behind, a loop: what a turn costs is known.
func (a *assessor) loop(k int32, turn rest) rest {
	if a.dispatching(k) {
		a.frames = a.frames[:len(a.frames)-1]
		return turn
	}
	r := a.regions[len(a.regions)-1]
	a.regions, a.frames = a.regions[:len(a.regions)-1], a.frames[:r.frame]
	after := r.after
	if after.kind == never {
		after.kind = leaves
	}
	a.own[k] = max(1, min(turn.mid(beginCost)+beginCost, maxCost))
	if a.charging(k) {
		return after
	}
	return rest{after.kind, min(after.lo+turn.lo, maxCost), min(after.hi+turn.hi, maxCost)}
}

func (a *assessor) iff(k int32, then rest) rest {
	f := a.frames[len(a.frames)-1]
	a.frames = a.frames[:len(a.frames)-1]
	j := &a.joints[k]
	other := arm{rest: f.els, site: j.els}
	if j.els < 0 {
		other = arm{f.to, f.end, true}
	}
	a.arms = append(a.arms[:0], arm{rest: then, site: k}, other)
	return a.part(j)
}

// target is the way that a branch of a depth takes. One that leaves loops was paid for when these were entered; what it
// leads to may cost more than that.
func (a *assessor) target(depth uint32) arm {
	t := len(a.frames) - 1 - int(depth)
	if t < 0 {
		return arm{rest: a.beyond()}
	}
	f := &a.frames[t]
	to := arm{rest: f.to, site: f.end, label: true}
	k := sort.Search(len(a.regions), func(k int) bool { return a.regions[k].frame > t })
	if k == len(a.regions) || to.kind == never {
		return to
	}
	left := &a.regions[k]
	if paid := left.after.hi; to.lo > paid+leastLeaving && f.opener >= 0 && a.joints[f.opener].op != wasm.OpLoop {
		a.cut(to, left.after)
	}
	return arm{rest: rest{kind: leaves}}
}

// cut has an arm charged down to what is paid without it.
func (a *assessor) cut(w arm, base rest) {
	if !w.label {
		if c := w.mid(beginCost) - min(w.mid(beginCost), base.mid(beginCost)); c >= leastCharge {
			a.after[w.site] += c
		}
		return
	}
	have, ok := a.cuts[w.site]
	if !ok || base.hi < have.hi {
		a.cuts[w.site] = base
		a.more = true
	}
}

// part joins the ways that part at a joint into one rest; those that cost far more than the cheapest are cut.
func (a *assessor) part(j *joint) rest {
	kind := never
	for _, w := range a.arms {
		kind = max(kind, w.kind)
	}
	if kind == never {
		return rest{}
	}
	base := rest{never, math.MaxUint64, 0}
	for _, w := range a.arms {
		if w.kind == kind && (w.lo < base.lo || w.lo == base.lo && w.hi < base.hi) {
			base = w.rest
		}
	}
	before := beginCost + j.cost
	if j.least != unreached {
		before = max(before, j.least)
	}
	all := base
	for _, w := range a.arms {
		switch {
		case w.kind == never:
		case w.kind < kind: // it leaves the loop: the turn was paid, so what it does beyond that counts
			if w.lo > base.hi+leastLeaving {
				a.cut(w, base)
			}
		case w.hi+before <= spread*(base.lo+before) || w.mid(before) < base.mid(before)+leastCharge:
			all.lo, all.hi = min(all.lo, w.lo), max(all.hi, w.hi)
		default:
			a.cut(w, base)
		}
	}
	return all
}
