package node

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// smallCells divide and join among a dozen nodes.
var smallCells = overlay.CellRule{Most: 9, Least: 3, Join: 6, Ready: 7}

// celled starts n nodes that divide into cells soon, and waits until there are two of them.
func celled(t *testing.T, n int, change func(p *peer)) *swarm {
	t.Helper()
	s := newSwarm(t, n)
	for i, p := range s.peers {
		p.cfg.Cells = smallCells
		change(p)
		if i > 0 {
			p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
		}
		p.start()
	}
	s.gather(s.peers...)
	s.within(20*time.Minute, "two cells, each with a leader", func() bool { return len(s.cells()) == 2 && s.settled() })
	<-time.After(overlay.CellGap) // in which all say in their cells that they are there
	return s
}

// within looks each second, for so long of the bubble's time.
func (s *swarm) within(d time.Duration, what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(d); !ok(); time.Sleep(time.Second) {
		if time.Now().After(end) {
			for _, p := range s.peers {
				if !p.up.Load() {
					continue
				}
				o := p.status().Overlays[0]
				s.t.Logf("%s: cell %q, %d members, leader %s, %s, cells %v", shortPeer(p.ID()), o.Cell, o.Members,
					shortPeer(o.Leader), o.Role, o.Cells)
			}
			s.t.Fatalf("never: %s", what)
		}
	}
}

// cells are the nodes that run, by their cells.
func (s *swarm) cells() map[string][]*peer {
	out := map[string][]*peer{}
	for _, p := range s.peers {
		if p.up.Load() {
			c := p.status().Overlays[0].Cell
			out[c] = append(out[c], p)
		}
	}
	return out
}

// settled says whether each node is in a cell that its number belongs to, and has the members of that, and
// follows the one leader of it.
func (s *swarm) settled() bool {
	for _, of := range s.cells() {
		for _, p := range of {
			o, first := p.status().Overlays[0], of[0].status().Overlays[0]
			if o.Members != len(of) || o.Leader == "" || o.Leader != first.Leader {
				return false
			}
		}
	}
	return true
}

// An overlay that has grown divides, a job of a member of either cell runs in both, and its results come
// back. A newcomer finds its cell. When many have gone, there is one cell again.
func TestCellsOnLiveNodes(t *testing.T) {
	if raceEnabled {
		t.Skip("too slow under the race detector: run without it")
	}
	synctest.Test(t, func(t *testing.T) {
		s := celled(t, 12, func(*peer) {})
		for _, of := range s.cells() {
			p := of[len(of)-1]
			begun := time.Now()
			id := p.submit(96, 20*time.Second)
			s.toldOfLoans(id, 96, p)
			p.finish(id, 96)
			if took := time.Since(begun); took > 150*time.Second {
				t.Errorf("96 tasks of 20 s on 24 cores of two cells took %v", took)
			}
			s.theirs(id, 8)
		}
		s.newcomer(t)
		s.shrink()
	})
}

// theirs checks that of a job each cell ran so many tasks at least.
func (s *swarm) theirs(id task.JobID, least int) {
	s.t.Helper()
	for cell, of := range s.cells() {
		ran := 0
		for x := range starts(of...) {
			if x.Job == id {
				ran++
			}
		}
		if ran < least {
			s.t.Errorf("cell %s ran %d tasks, want %d at least", cell, ran, least)
		}
	}
}

// newcomer has a node that was away come again: it finds its cell by whoever it is connected to.
func (s *swarm) newcomer(t *testing.T) {
	for cell, of := range s.cells() {
		p := of[0]
		if p == s.peers[0] || p.status().Overlays[0].Role != RoleMember {
			p = of[len(of)-2]
		}
		p.crash()
		<-time.After(time.Minute)
		p.start()
		begun := time.Now()
		s.within(time.Minute, "a newcomer is in its cell", func() bool {
			return p.status().Overlays[0].Cell == cell && s.settled()
		})
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("a newcomer of cell %s took %v to find it", cell, took)
		}
	}
}

// shrink has most members of each cell go: the two become one again. One that somebody has lost may be told of
// once more by who has not, and then counts until its advert is over.
func (s *swarm) shrink() {
	for _, of := range s.cells() {
		for _, p := range of[3:] {
			if p != s.peers[0] {
				p.stop()
			}
		}
	}
	s.within(overlay.MaxAdvertLife+30*time.Minute, "one cell again", func() bool {
		return len(s.cells()) == 1 && len(s.cells()[""]) > 0 && s.settled()
	})
}
