package virtual

import (
	"time"

	"godwit/overlay"
	"godwit/task"
)

// eclipse is T4: a node comes into the pool and meets a stranger first, which sends it a summary of the smallest
// cell that the newcomer's number belongs to. The attack succeeds if the newcomer is in a cell with no honest
// member, or follows a stranger, some minutes later.
func eclipse(a *attack) {
	a.v.Late = 1 + a.rng.IntN(3)
	newcomer := a.v.Hosts - a.v.Late
	bits := a.v.Bits + 1 + uint8(a.rng.IntN(int(overlay.MaxCellBits-a.v.Bits)))
	number := overlay.CellNumber(a.id, hostID(a.v.Seed, newcomer))
	for range a.v.Keys {
		a.addKey(inCell(overlay.CellOf(number, bits)))
	}
	a.v.Tasks = min(a.v.Tasks, a.v.waves(1))
	summaries := func() (out []overlay.Summary) {
		for i := range a.keys {
			out = append(out, a.s.Summary(i, bits, 1+a.rng.IntN(400), 400))
		}
		return out
	}
	a.cells = func(_ int, by task.PeerID) []overlay.Summary {
		if by != hostID(a.v.Seed, newcomer) {
			return nil // nobody else is to notice
		}
		return summaries()
	}
	lie := func() {
		for i := range a.keys {
			a.s.Advertise(i, overlay.Advert{Bits: bits, State: overlay.Available, Epoch: a.epochOf(i)}, newcomer)
		}
		a.s.Summarize(summaries(), newcomer)
	}
	a.begin = func() {
		a.s.After(max(0, a.v.Job-a.v.First), func() { a.submit(0) })
		a.s.Every(500*time.Millisecond, func() {
			// It is told as soon as it is there, and in turns later.
			if m := a.s.Member(newcomer); m != nil && (a.s.Now().Sub(a.came) < 10*time.Second || a.rng.IntN(20) == 0) {
				if a.came.IsZero() {
					a.came = a.s.Now()
				}
				lie()
			}
		})
	}
	a.late = func() { // some minutes after the newcomer came
		m := a.s.Member(newcomer)
		if m == nil {
			return
		}
		leader, honest := m.Leader().Leader, 0
		for i := range a.s.Nodes() {
			if o := a.s.Member(i); o != nil && i != newcomer && o.Cell() == m.Cell() {
				honest++
			}
		}
		switch {
		case a.isStranger(leader):
			a.succeed("the newcomer follows a stranger in cell %q", m.Cell())
		case honest == 0:
			a.succeed("the newcomer is alone in cell %q", m.Cell())
		}
	}
}

// crowdOut is T5: strangers whose keys fall into an honest cell fill the places for its summaries. Its leader
// crashes. The attack succeeds if leaders of other cells still don't know the next leader ten minutes later.
func crowdOut(a *attack) {
	if a.v.Bits == 0 {
		a.v.Hosts, a.v.Bits = max(a.v.Hosts, 4*perCell), 1+uint8(a.rng.IntN(2))
	}
	target := a.hostCell(a.rng.IntN(a.v.Hosts))
	for range overlay.MaxClaims + a.v.Keys {
		a.addKey(inCell(target))
	}
	a.v.End = 30 * time.Minute
	a.begin = func() {
		a.s.Every(max(a.v.Every, 5*time.Second), func() {
			for i := range a.keys {
				a.s.Summarize([]overlay.Summary{a.s.Summary(i, a.v.Bits, overlay.MaxCellMembers, overlay.MaxCellSlots)})
			}
		})
		a.s.After(max(0, a.v.Job-a.v.First), func() { a.submit(a.memberNotIn(target)) })
		a.s.After(6*time.Minute, func() { // the honest leader's summaries hold for 15 minutes
			if i := a.leaderOf(target); i >= 0 {
				a.s.Crash(i)
				a.s.After(16*time.Minute, func() { a.judgeKnown(target) })
			}
		})
	}
}

// judgeKnown has the attack succeed if a leader of another cell doesn't know who leads a cell.
func (a *attack) judgeKnown(target overlay.Cell) {
	next := a.leaderOf(target)
	if next < 0 {
		return // its members are still electing
	}
	for i := range a.s.Nodes() {
		m := a.s.Member(i)
		if m == nil || m.Coordinator() == nil || m.Cell() == target {
			continue
		}
		known := false
		for _, s := range m.Summaries() {
			known = known || s.Leader == a.s.ID(next)
		}
		if !known {
			a.succeed("16 minutes after a leader's crash, the leader of cell %q doesn't know the next leader of cell %q",
				m.Cell(), target)
			return
		}
	}
}

// leaderOf returns the honest node that leads a cell; below 0 if there is none.
func (a *attack) leaderOf(c overlay.Cell) int {
	for i := range a.s.Nodes() {
		if m := a.s.Member(i); m != nil && m.Coordinator() != nil && m.Cell() == c {
			return i
		}
	}
	return -1
}

// memberNotIn returns an honest node of another cell that doesn't lead.
func (a *attack) memberNotIn(c overlay.Cell) int {
	found := 0
	for i := range a.s.Nodes() {
		if m := a.s.Member(i); m != nil && m.Cell() != c {
			if found = i; m.Coordinator() == nil {
				return i
			}
		}
	}
	return found
}

func (a *attack) isStranger(p task.PeerID) bool {
	for i := range a.keys {
		if a.s.Stranger(i) == p {
			return true
		}
	}
	return false
}

// epochOf returns an epoch in which a stranger may say that it leads.
func (a *attack) epochOf(i int) uint64 { return overlay.NextEpoch(1<<24, a.s.Stranger(i)) }
