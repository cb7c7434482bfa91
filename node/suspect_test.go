package node

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/member"
	"godwit/overlay"
)

// belief is what one peer holds of another.
func (p *peer) belief(of *peer) string {
	p.s.t.Helper()
	ms, err := p.Members(p.s.t.Context(), "")
	if err != nil {
		p.s.t.Fatal(err)
	}
	for _, m := range ms {
		if m.Peer == of.ID() {
			return m.Belief
		}
	}
	return ""
}

// A member that is slow to answer is not declared lost, and keeps its work; one
// that stops is, within seconds.
func TestSlowIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		time.Sleep(10 * time.Second)
		leader := s.leading(s.peers[1])
		others := s.others(leader)
		submitter, slow := others[0], others[1]
		id := submitter.submit(10, 30*time.Second)
		s.until("the slow one works", func() bool { return slow.status().Tasks == 2 })
		// Its loop gets no processor for a while: it takes in nothing, renews
		// nothing and reports nothing.
		starved := make(chan struct{})
		go slow.do(t.Context(), func() { <-starved })
		for _, p := range s.others(slow) { // and somebody has reason to doubt it
			p.onLoop(t, func() {
				p.tell(member.Disconnected{Peer: slow.ID()})
				for _, b := range p.peer.Suspicion().Beliefs() {
					if b.Peer == slow.ID() && b.State != overlay.Suspected {
						t.Errorf("who is doubted is believed %v", b.State)
					}
				}
			})
		}
		seen := map[string]int{}
		for range 30 {
			time.Sleep(100 * time.Millisecond)
			for _, p := range s.others(slow) {
				seen[p.belief(slow)]++
			}
		}
		close(starved)
		if seen[BeliefLost]+seen[""] > 0 {
			t.Errorf("a member without processor for three seconds is believed %v", seen)
		}
		submitter.finish(id, 10)
		for id, n := range starts(s.peers...) {
			if n != 1 {
				t.Errorf("%v was started %d times", id, n)
			}
		}
		begun := time.Now()
		slow.crash()
		s.until("a host that stopped is lost to all", func() bool {
			for _, p := range s.others() {
				if p.belief(slow) != BeliefLost {
					return false
				}
			}
			return true
		})
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("a host that stopped is believed lost after %v", took)
		}
	})
}

// mostSilent is the most that the death of a coordinator may cost the tasks that
// it ran: a renewal that goes out within a second and is waited for one more, the
// probe, the question to others, the coordinator's grace, and half a second of
// what all these take on the network.
const mostSilent = 2*overlay.RenewEvery + overlay.ProbeWait + overlay.IndirectWait + 1500*time.Millisecond

// leaderAndFollower returns who leads, and one of those it renews its lease with.
func (s *swarm) leaderAndFollower() (leader, follower *peer) {
	leader = s.leading(s.peers[1])
	leader.onLoop(s.t, func() {
		group := leader.members[commons].Group()
		for _, p := range s.others(leader) {
			if slices.Contains(group, p.ID()) {
				follower = p
			}
		}
	})
	return leader, follower
}

// A member that dies without closing its connections, as a machine without power
// does, is lost to who leads before its tasks' leases run out, though the network
// takes its connection for open much longer: that it was there before says nothing.
func TestSilentDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		time.Sleep(10 * time.Second)
		leader, dead := s.leaderAndFollower()
		id := s.others(leader, dead)[0].submit(10, time.Minute)
		s.until("the one that is to die works", func() bool { return dead.status().Tasks == 2 })
		time.Sleep(3 * time.Second)
		begun := time.Now()
		dead.host.Mute()
		dead.crash()
		s.until("its tasks are taken from it", func() bool {
			st, err := leader.Job(t.Context(), id, 0, 10)
			taken := 0
			for _, k := range st.TasksList {
				for _, a := range k.Attempts {
					if a.Worker == dead.ID() && a.Outcome != "" {
						taken++
					}
				}
			}
			return err == nil && taken == 2
		})
		if took := time.Since(begun); took > mostSilent {
			t.Errorf("the tasks of a member that died silently wait for %v, want at most %v", took, mostSilent)
		}
		s.others(leader, dead)[0].finish(id, 10)
	})
}

// A member of which nothing arrives is lost once, however long that lasts, and is
// back with all soon after something does.
func TestUnheardReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 5)
		time.Sleep(10 * time.Second)
		leader, unheard := s.leaderAndFollower()
		id := s.others(leader, unheard)[0].submit(10, 2*time.Minute)
		s.until("it works", func() bool { return unheard.status().Tasks == 2 })
		unheard.host.Mute()
		var held []string
		for range 500 {
			time.Sleep(20 * time.Millisecond)
			if b := leader.belief(unheard); len(held) == 0 || held[len(held)-1] != b {
				held = append(held, b)
			}
		}
		if want := []string{BeliefThere, BeliefSuspected, BeliefLost}; !slices.Equal(held, want) {
			t.Errorf("a member that nobody hears is believed %v, want %v", held, want)
		}
		unheard.host.Unmute()
		s.until("it is there for all again", func() bool {
			for _, p := range s.others(unheard) {
				if p.belief(unheard) != BeliefThere {
					return false
				}
			}
			return true
		})
		s.others(leader, unheard)[0].finish(id, 10)
	})
}
