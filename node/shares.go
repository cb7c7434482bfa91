package node

import (
	"cmp"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler"
)

// demandFor is how long an overlay counts as having work for this node after it
// last had some: a pause between two jobs, or between two batches of short
// tasks, does not give its share away and take it back.
const demandFor = 5 * time.Second

// An allotment says how many slots each overlay gets, in the order of the shares
// given: of overlays with work by their shares, to the nearest whole slot, at
// least one each while slots last, then to those served least. One without work
// is offered what it would get if it had some, so that the first task finds a
// slot; what nobody uses goes to those who have work.
func allot(slots int, shares []float64, busy []bool) []int {
	out := make([]int, len(shares))
	for i := range shares {
		claim := make([]bool, len(shares))
		copy(claim, busy)
		claim[i] = true
		out[i] = portion(slots, shares, claim, i)
	}
	return out
}

// portion is what one of the claimants gets: the largest remainders get the slots
// that whole numbers leave over.
func portion(slots int, shares []float64, claim []bool, mine int) int {
	var sum float64
	n := 0
	for i, s := range shares {
		if claim[i] {
			sum += s
			n++
		}
	}
	if n == 0 || slots <= 0 {
		return 0
	}
	type part struct {
		i    int
		got  int
		rest float64
	}
	var parts []part
	left := slots
	for i, s := range shares {
		if !claim[i] {
			continue
		}
		exact := float64(slots) * s / sum
		p := part{i: i, got: int(exact), rest: exact - float64(int(exact))}
		if p.got == 0 && slots >= n {
			p.got, p.rest = 1, 0
		}
		left -= p.got
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.rest, a.rest) })
	for k := 0; left > 0; k = (k + 1) % len(parts) {
		parts[k].got++
		left--
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.got, a.got) })
	for k := 0; left < 0; k = (k + 1) % len(parts) { // the minimum of one took from the large
		if parts[k].got > 1 {
			parts[k].got--
			left++
		}
	}
	for _, p := range parts {
		if p.i == mine {
			return p.got
		}
	}
	return 0
}

// shareOut tells each overlay's worker what it may use now, of what the owner
// lends.
func (n *Node) shareOut() {
	all := n.ordered()
	now := n.now()
	shares, busy := make([]float64, len(all)), make([]bool, len(all))
	for i, m := range all {
		running, queued, _ := m.worker.Load()
		if running+queued > 0 {
			m.busy = now.Add(demandFor)
		}
		shares[i], busy[i] = m.share, m.busy.After(now)
		if !busy[i] {
			m.busy = time.Time{}
		}
	}
	for i, slots := range allot(n.owner.Slots, shares, busy) {
		m := all[i]
		word := n.owner
		word.Slots = slots
		switch {
		case n.full:
			word = n.fullState()
		case m.leaving:
			word = scheduler.OwnerState{State: overlay.Leaving, Reason: "the member is leaving"}
		}
		if word == m.told {
			continue
		}
		m.told = word
		m.step(m.worker, word)
		m.advertiseSoon()
	}
}

// A waitingStart is an attempt that its worker has begun and that waits here for
// a core: another overlay's tasks still run on what is now this one's share.
type waitingStart struct {
	of    *membership
	from  machine
	start scheduler.Start
}

// startWaiting begins what waits, in order, as cores come free.
func (n *Node) startWaiting() {
	for len(n.waiting) > 0 && len(n.running) < n.owner.Slots {
		w := n.waiting[0]
		n.waiting = n.waiting[1:]
		n.startNow(w)
	}
}
