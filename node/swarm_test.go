package node

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/trace"
)

// until looks every 20 ms, for two minutes of the bubble's time.
func (s *swarm) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			for _, p := range s.peers {
				if st, err := p.Status(context.Background()); err == nil {
					var who []string
					ms, _ := p.Members(context.Background(), "")
					for _, m := range ms {
						who = append(who, shortPeer(m.Peer))
					}
					s.t.Logf("%s: members %v, leader %s epoch %d, %d peers, dropped %v", shortPeer(p.ID()), who,
						shortPeer(st.Overlays[0].Leader), st.Overlays[0].Epoch, st.Peers, p.net.Stats().DroppedAdverts)
				}
			}
			s.t.Fatalf("never: %s", what)
		}
	}
}

// A job handed to any node runs on all of them, each task once, and its results
// come back to where it was handed in.
func TestSweepThroughSwarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		begun := time.Now()
		id := s.peers[3].submit(60, time.Second)
		s.peers[3].finish(id, 60)
		if took := time.Since(begun); took < 6*time.Second || took > 9*time.Second {
			t.Errorf("60 tasks of 1 s on 10 cores took %v", took)
		}
		for _, p := range s.peers {
			if n := len(p.runner.started()); n < 10 || n > 14 {
				t.Errorf("%s ran %d of 60 tasks", shortPeer(p.ID()), n)
			}
		}
		for id, n := range starts(s.peers...) {
			if n != 1 {
				t.Errorf("%v was started %d times", id, n)
			}
		}
	})
}

// The tasks of a worker that goes are run elsewhere, and the job's story says so.
func TestWorkerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		submitter, gone := s.peers[1], s.peers[3]
		id := submitter.submit(24, 3*time.Second)
		s.until("the worker runs tasks", func() bool { return gone.status().Tasks == 2 })
		gone.host.Stop() // its network; the node itself goes on
		moved := 0
		for _, r := range submitter.finish(id, 24) {
			for _, a := range r.Attempts {
				if a.Worker == gone.ID() && a.Outcome == "lost" && strings.Contains(a.Reason, "did not answer") {
					moved++
				}
			}
			if r.Results[0].Worker == gone.ID() && len(r.Attempts) != 1 {
				t.Errorf("task %d was delivered by the worker that went, after %d attempts", r.Index, len(r.Attempts))
			}
		}
		if moved < 2 {
			t.Errorf("%d tasks say that their worker was lost, want at least the 2 that ran", moved)
		}
	})
}

// What Submit has returned for cannot be lost by stopping the submitter's node.
func TestSubmitterRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		p := s.peers[2]
		id := p.submit(20, time.Second)
		p.crash()
		time.Sleep(8 * time.Second)
		p.start()
		p.finish(id, 20)
	})
}

// The leader restarts at once while its members run tasks: it or another leads a
// later term, and what runs elsewhere is taken up, not run again.
func TestLeaderRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		leader, submitter := s.peers[0], s.peers[2]
		epoch := submitter.status().Overlays[0].Epoch
		id := submitter.submit(24, 20*time.Second)
		s.until("all cores are busy", func() bool { return submitter.running(id) >= 8 && leader.status().Tasks == 2 })
		leader.crash()
		lost := leader.runner.started()
		leader.start()
		s.until("a later term is led", func() bool { return submitter.status().Overlays[0].Epoch > epoch })
		s.gather(s.peers...)
		if now := submitter.status().Overlays[0]; now.Epoch <= epoch {
			t.Errorf("after the restart %s leads in epoch %d, before it was %d", shortPeer(now.Leader), now.Epoch, epoch)
		}
		submitter.finish(id, 24)
		for id, n := range starts(s.peers...) {
			if n != 1+lost[id] {
				t.Errorf("%v was started %d times, %d of them lost with the leader", id, n, lost[id])
			}
		}
	})
}

// Two parts of an overlay that lead themselves become one when they meet: one
// leader remains, all coordinators' copies of the ledger become equal, and what
// either had accepted ends.
func TestPartsMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSwarm(t, 6)
		parts := [][]*peer{s.peers[0:3], s.peers[3:6]}
		for _, part := range parts {
			for i, p := range part {
				if i > 0 {
					p.cfg.Bootstrap = []string{part[0].host.Addr}
				}
				p.start()
			}
			s.gather(part...)
			time.Sleep(time.Second)
		}
		first := parts[0][1].submit(12, 2*time.Second)
		second := parts[1][1].submit(12, 2*time.Second)
		time.Sleep(time.Second)
		if a, b := parts[0][0].status().Overlays[0], parts[1][0].status().Overlays[0]; a.Leader == b.Leader || a.ID != b.ID {
			t.Fatalf("want two leaders of one overlay: %+v, %+v", a, b)
		}
		parts[0][1].meet(parts[1][1])
		s.gather(s.peers...)
		parts[0][1].finish(first, 12)
		parts[1][1].finish(second, 12)
		s.until("all copies of the ledger are equal", func() bool { return s.sameLedger(3) })
	})
}

// meet connects two peers that do not know each other.
func (p *peer) meet(other *peer) {
	p.s.t.Helper()
	p.host.AddAddrs(other.ID(), other.host.AdvertAddrs(4), time.Hour)
	if _, err := p.host.Request(p.s.t.Context(), other.ID(), methodPing, nil); err != nil {
		p.s.t.Fatal(err)
	}
}

// sameLedger says whether so many of the peers that run coordinate, and all of
// them hold equal copies of the ledger.
func (s *swarm) sameLedger(coordinators int) bool {
	digests := map[string]int{}
	for _, p := range s.peers {
		if p.up.Load() {
			if o := p.status().Overlays[0]; o.Role != RoleMember {
				digests[o.Digest]++
			}
		}
	}
	for _, n := range digests {
		return len(digests) == 1 && n == coordinators
	}
	return false
}

// Members learn how fast a node is, what it records of itself, and that the time
// between its end and its return was an absence, of which it tells the truth.
func TestMembersLearnOfEachOther(t *testing.T) {
	if raceEnabled {
		t.Skip("takes half a minute under the race detector; scripts/test runs it without")
	}
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		p, other := s.peers[1], s.peers[2]
		member := func(of *peer) (m Member) {
			all, err := other.Members(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, m = range all {
				if m.Peer == of.ID() {
					break
				}
			}
			return m
		}
		time.Sleep(2 * time.Hour)
		if m := member(p); m.Speed != 1.5 || m.Free != 2 || m.Stay < 0.5 || m.Stay > 0.99 {
			t.Errorf("after two hours a member is known as %+v", m)
		}
		p.crash()
		time.Sleep(time.Hour)
		p.start()
		s.gather(s.peers...)
		h, err := other.History(t.Context(), p.ID(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var states []trace.State
		for i := range h.Len() {
			states = append(states, h.Spell(i).State)
		}
		if want := []trace.State{trace.Available, trace.Unavailable, trace.Available}; !slices.Equal(states, want) {
			t.Fatalf("its history has %v, want %v", states, want)
		}
		if away := h.Spell(1).Length(); away < time.Hour || away > time.Hour+2*noteEvery {
			t.Errorf("it was away for an hour and says %v", away)
		}
		f, err := s.peers[0].Forecast(t.Context(), p.ID(), time.Hour)
		if err != nil || f.Belief != 1 || f.State != overlay.Available {
			t.Errorf("the leader forecasts %+v, %v", f, err)
		}
		p.crash()
		time.Sleep(time.Minute)
		if h, err = other.History(t.Context(), p.ID(), time.Time{}); err != nil || h.Len() != 3 {
			t.Errorf("what was fetched once is not kept: %v", err)
		}
	})
}
