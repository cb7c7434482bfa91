package virtual

import (
	"time"

	"godwit/overlay"
	"godwit/task"
)

// split is T1: strangers advertise that they are in a smaller cell and, when a leader asks about cells, send
// signed summaries of impossible cells. The attack succeeds if an honest node changes its cell.
func split(a *attack) {
	bits := a.v.Bits + 1 + uint8(a.rng.IntN(3))
	members, slots := 1+a.rng.IntN(1000), 1+a.rng.IntN(4096)
	for range a.v.Keys {
		a.addKey(nil)
	}
	summaries := func() (out []overlay.Summary) {
		for i := range a.keys {
			out = append(out, a.s.Summary(i, bits, members, slots))
		}
		return out
	}
	a.cells = func(int, task.PeerID) []overlay.Summary { return summaries() }
	a.begin = func() {
		a.watchCells()
		a.s.After(max(0, a.v.Job-a.v.First), func() { a.submit(a.rng.IntN(a.v.Hosts)) })
		a.s.Every(a.v.Every, func() {
			for i := range a.keys {
				a.s.Advertise(i, overlay.Advert{Bits: bits, State: overlay.Available})
			}
			a.s.Summarize(summaries())
		})
	}
}

// watchCells has the attack succeed if an honest node goes into another cell than at the start.
func (a *attack) watchCells() {
	begun := a.s.Now()
	a.s.Every(time.Second, func() {
		for i := range a.s.Nodes() {
			if m := a.s.Member(i); m != nil && m.Cell() != a.hostCell(i) {
				a.succeed("host %d went from cell %q to %q after %v", i, a.hostCell(i), m.Cell(), a.s.Now().Sub(begun))
			}
		}
	})
}
