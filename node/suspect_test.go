package node

import (
	"testing"
	"testing/synctest"
	"time"

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
				p.doubt(slow.ID(), "the test says so")
				for _, b := range p.suspicion.Beliefs() {
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
