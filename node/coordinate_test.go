package node

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks/disk"
	"godwit/task"
)

// leading returns the peer that leads by the word of another.
func (s *swarm) leading(by *peer) *peer {
	leader := by.status().Overlays[0].Leader
	for _, p := range s.peers {
		if p.up.Load() && p.ID() == leader {
			return p
		}
	}
	return nil
}

// others returns the running peers without some.
func (s *swarm) others(without ...*peer) []*peer {
	return slices.DeleteFunc(slices.Clone(s.peers),
		func(p *peer) bool { return !p.up.Load() || slices.Contains(without, p) })
}

// followed waits until the peers follow a leader that is one of them, and returns
// it and how long that took.
func (s *swarm) followed(peers ...*peer) (*peer, time.Duration) {
	s.t.Helper()
	begun := time.Now()
	var leader task.PeerID
	s.until("a new leader is followed", func() bool {
		leader = peers[0].status().Overlays[0].Leader
		return slices.ContainsFunc(peers, func(p *peer) bool { return p.ID() == leader }) &&
			!slices.ContainsFunc(peers, func(p *peer) bool { return p.status().Overlays[0].Leader != leader })
	})
	i := slices.IndexFunc(peers, func(p *peer) bool { return p.ID() == leader })
	return peers[i], time.Since(begun)
}

// A leader that crashes and never returns is replaced within five seconds; what
// runs goes on, and nothing accepted is lost.
func TestLeaderCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		old := s.leading(s.peers[1])
		submitter := s.others(old)[0]
		id := submitter.submit(30, 20*time.Second)
		s.until("all cores are busy", func() bool { return submitter.running(id) >= 10 && old.status().Tasks == 2 })
		time.Sleep(3 * time.Second) // the coordinators know who runs what
		lost := old.runner.started()
		old.crash()
		leader, took := s.followed(s.others()...)
		if took > 5*time.Second {
			t.Errorf("a new leader after %v", took)
		}
		t.Logf("%s leads after %v", shortPeer(leader.ID()), took)
		submitter.finish(id, 30)
		for id, n := range starts(s.peers...) {
			if n > 1+lost[id] {
				t.Errorf("%v was started %d times, %d of them on the leader that crashed", id, n, lost[id])
			}
		}
	})
}

// A leader that is told to stop hands over before it goes, within a second.
func TestLeaderSaysGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		time.Sleep(5 * time.Second)
		old := s.leading(s.peers[1])
		submitter := s.others(old)[0]
		id := submitter.submit(8, 10*time.Second)
		time.Sleep(2 * time.Second)
		begun := time.Now()
		go old.stop()
		leader, took := s.followed(s.others(old)...)
		if took > time.Second {
			t.Errorf("%s leads %v after the goodbye", shortPeer(leader.ID()), took)
		}
		t.Logf("%v", time.Since(begun))
		submitter.finish(id, 8)
	})
}

// All coordinators are killed at once and never come back: those left make a new
// group within fifteen seconds, and every accepted job ends.
func TestAllCoordinatorsDie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 8)
		s.until("there is a group of three", func() bool {
			return len(s.peers[0].status().Overlays[0].Group) == 3 &&
				s.sameLedger(3)
		})
		var dead []*peer
		for _, p := range s.peers {
			if p.status().Overlays[0].Role != RoleMember {
				dead = append(dead, p)
			}
		}
		submitter := s.others(dead...)[0]
		id := submitter.submit(40, 5*time.Second)
		time.Sleep(4 * time.Second)
		for _, p := range dead {
			p.halt()
		}
		for _, p := range dead {
			p.crash()
		}
		_, took := s.followed(s.others()...)
		if took > 15*time.Second {
			t.Errorf("a new group after %v", took)
		}
		t.Logf("a new leader after %v", took)
		submitter.finish(id, 40)
	})
}

// A leader whose disk is full says so, takes nothing in and leaves leading to
// others; what was accepted ends, and it works again once there is room.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		time.Sleep(5 * time.Second)
		full := s.leading(s.peers[1])
		submitter := s.others(full)[0]
		id := submitter.submit(20, 5*time.Second)
		time.Sleep(3 * time.Second)
		full.disk.setHook(func([]string) error { return disk.ErrFull })
		_, took := s.followed(s.others(full)...)
		if took > 5*time.Second {
			t.Errorf("another leader after %v", took)
		}
		if st := full.status(); !strings.Contains(strings.Join(st.Notices, "\n"), "disk is full") {
			t.Errorf("the node says %q", st.Notices)
		}
		submitter.finish(id, 20)
		second := submitter.submit(8, time.Second)
		submitter.finish(second, 8)
		full.disk.setHook(nil)
		s.until("the node has room", func() bool { return len(full.status().Notices) == 0 })
		s.until("it works again", func() bool {
			id := submitter.submit(8, time.Second)
			submitter.finish(id, 8)
			return full.runner.started()[task.TaskID{Job: id, Index: 0}]+len(full.runner.started()) > 0
		})
		s.until("all copies of the ledger are equal", func() bool { return s.sameLedger(3) })
	})
}

// The wall clock jumps by an hour and back: the node says so, no leader changes,
// and nothing is run again.
func TestClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		time.Sleep(5 * time.Second)
		leader := s.leading(s.peers[1])
		term := leader.status().Overlays[0].Term
		submitter := s.others(leader)[0]
		id := submitter.submit(24, 20*time.Second)
		for _, by := range []time.Duration{time.Hour, 0} {
			time.Sleep(5 * time.Second)
			for _, p := range []*peer{leader, s.others(leader)[1]} {
				if err := p.do(t.Context(), func() { p.clock.wall = func() time.Time { return time.Now().Add(by) } }); err != nil {
					t.Fatal(err)
				}
			}
			s.until("the node says that its clock was set", func() bool {
				return strings.Contains(strings.Join(leader.status().Notices, "\n"), "the clock was set by")
			})
		}
		submitter.finish(id, 24)
		if o := submitter.status().Overlays[0]; o.Leader != leader.ID() || o.Term != term {
			t.Errorf("%s leads in term %d, before the jump it was %s in %d", o.Leader, o.Term, leader.ID(), term)
		}
		for id, n := range starts(s.peers...) {
			if n != 1 {
				t.Errorf("%v was started %d times", id, n)
			}
		}
	})
}

// Nodes come and go at random, half the time the leader, without a goodbye or
// with one; every accepted job ends, each result held once.
func TestChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 7)
		rng := rand.New(rand.NewPCG(1, 2))
		submitter := s.peers[3]
		id := submitter.submit(300, time.Second)
		for range 12 {
			time.Sleep(5 * time.Second)
			victim := s.others()[rng.IntN(len(s.others()))]
			if l := s.leading(s.others()[0]); l != nil && rng.IntN(2) == 0 {
				victim = l
			}
			if rng.IntN(3) == 0 {
				victim.stop()
			} else {
				victim.crash()
			}
			time.Sleep(4 * time.Second)
			victim.cfg.Bootstrap = []string{s.others()[0].host.Addr}
			victim.start()
		}
		submitter.finish(id, 300)
		s.until("all copies of the ledger are equal", func() bool { return s.sameLedger(3) })
	})
}
