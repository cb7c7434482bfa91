package node

import (
	"cmp"
	"slices"
	"time"

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/owner"
	"godwit/scheduler/message"
)

const (
	// demandFor is how long an overlay counts as having work for this node after
	// it last had some: a pause between two jobs, or between two batches of short
	// tasks, does not give its share away and take it back.
	demandFor = 5 * time.Second
	// turnTime is how long the overlay with the smallest share has a core before
	// it is the next one's turn, where there are more overlays with work than
	// cores. That slots have moved is heard within advertGap and a report of the
	// worker's: ten times as long leaves most of a turn for work.
	turnTime = 30 * time.Second
)

// A claim is what one overlay has a right to.
type claim struct {
	share float64 // 0 or less: to nothing
	busy  bool    // has work for this node
	turns int64   // it has had, where slots are too few for all
}

// allot says how many slots each overlay gets, in the order given. Those with
// work divide the slots by their shares and leave none over. One without work
// gets what it would get if it had some, so that its first task finds a slot:
// what nobody uses is meanwhile with those who have work.
func allot(slots int, claims []claim) []int {
	out := divide(slots, claims)
	for i, c := range claims {
		if !c.busy {
			all := slices.Clone(claims)
			all[i].busy = true
			out[i] = divide(slots, all)[i]
		}
	}
	return out
}

// divide gives all slots to the overlays with work. With fewer slots than such
// overlays, each of the first in turn gets one. Else each gets one at least;
// those whose shares are worth more divide the rest, to the nearest whole slot:
// the largest remainders get what is left over.
func divide(slots int, claims []claim) []int {
	out := make([]int, len(claims))
	var rest []int // who is still to get slots
	for i, c := range claims {
		if c.busy && c.share > 0 {
			rest = append(rest, i)
		}
	}
	left := max(0, slots)
	if left < len(rest) {
		slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(claims[a].turns, claims[b].turns) })
		for _, i := range rest[:left] {
			out[i] = 1
		}
		return out
	}
	worth := func(i int) float64 {
		var sum float64
		for _, k := range rest {
			sum += claims[k].share
		}
		return float64(left) * (claims[i].share / sum)
	}
	for {
		var small []int
		for _, i := range rest {
			if worth(i) < 1 {
				small = append(small, i)
			}
		}
		if len(small) == 0 || len(small) == len(rest) { // all: by rounding, of equals
			break
		}
		for _, i := range small {
			out[i] = 1
		}
		left -= len(small)
		rest = slices.DeleteFunc(rest, func(i int) bool { return out[i] > 0 })
	}
	over := left
	remainder := map[int]float64{}
	for _, i := range rest {
		w := worth(i)
		out[i] = min(int(w), over)
		remainder[i] = w - float64(out[i])
		over -= out[i]
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(remainder[b], remainder[a]) })
	for k := 0; over > 0 && len(rest) > 0; k = (k + 1) % len(rest) {
		out[rest[k]]++
		over--
	}
	return out
}

// weight is the overlay's share: the owner's rules win over what was said when
// it was joined.
func (m *membership) weight() float64 {
	of := func(name string) int {
		return slices.IndexFunc(m.n.weights, func(s owner.Share) bool { return s.Overlay == name })
	}
	i := of(string(m.id))
	if i < 0 {
		i = of(m.manifest.Name)
	}
	if i < 0 {
		return m.share
	}
	return float64(m.n.weights[i].Weight)
}

// reweigh takes over the shares of the owner's rules, on the loop.
func (n *Node) reweigh(shares []owner.Share) {
	n.weights = shares
	n.exec.Drop(func(of exec.Client) bool { return of.(client).m.weight() == 0 })
	n.shareOut()
}

// countTurns adds what tasks have had since it was last called, and returns the
// overlays' claims. Time is counted by share, so that equal counts are just. Who
// comes back to work has the next turn, and no more for its absence.
func (n *Node) countTurns(all []*membership, now time.Time) []claim {
	passed := now.Sub(n.servedAt).Seconds()
	n.servedAt = now
	n.exec.EachRunning(func(of exec.Client) {
		m := of.(client).m
		if w := m.weight(); w > 0 {
			m.served += passed / w
		}
	})
	claims := make([]claim, len(all))
	least, first := 0.0, 0.0 // the smallest share, and who of those with work was served least
	working := false
	for i, m := range all {
		c := claim{share: m.weight(), busy: m.busy.After(now)}
		claims[i] = c
		if c.share > 0 && (least == 0 || c.share < least) {
			least = c.share
		}
		if c.share > 0 && c.busy && (!working || m.served < first) {
			first, working = m.served, true
		}
	}
	if least == 0 {
		return claims
	}
	turn := turnTime.Seconds() / least
	for i, m := range all {
		if working && !claims[i].busy {
			m.served = max(m.served, first-turn)
		}
		claims[i].turns = int64(m.served / turn)
	}
	return claims
}

// shareOut tells each overlay's worker what it may use now, of what the owner
// lends.
func (n *Node) shareOut() {
	all := n.ordered()
	now := n.now()
	for _, m := range all {
		running, queued, _ := m.worker.Load()
		if running+queued > 0 {
			m.busy = now.Add(demandFor)
		} else if !m.busy.After(now) {
			m.busy = time.Time{}
		}
	}
	claims := n.countTurns(all, now)
	withheld := n.withheld(now)
	why, goes := n.goes(now)
	for i, slots := range allot(n.owner.Slots, claims) {
		m := all[i]
		word := n.owner
		word.Slots, word.Withheld = slots, withheld
		switch {
		case n.full:
			word = n.fullState()
		case m.leaving:
			word = message.OwnerState{State: overlay.Leaving, Reason: "the member is leaving"}
		case goes:
			word = message.OwnerState{State: overlay.Leaving, Reason: why, Until: n.owner.Until, Withheld: withheld}
		case n.owner.Slots == 0 || slots > 0:
		case claims[i].share == 0:
			word.Reason = "the owner's rules give this overlay no share of the machine"
		default:
			word.Reason = "it is another overlay's turn: more have work for this machine than it has cores"
		}
		if word == m.told {
			continue
		}
		before := m.told
		before.Withheld = word.Withheld // of which only the leader is told
		m.told = word
		m.step(m.worker, word)
		if word != before {
			m.advertiseSoon()
		}
	}
}
