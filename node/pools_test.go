package node

import (
	"context"
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// found has a peer found an overlay.
func (p *peer) found(r OverlayRules) overlay.ID {
	p.s.t.Helper()
	d, err := p.CreateOverlay(context.Background(), r)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return d.ID
}

func (p *peer) join(what string) {
	p.s.t.Helper()
	if _, err := p.JoinOverlay(context.Background(), what, 0); err != nil {
		p.s.t.Fatal(err)
	}
}

// invite makes a ticket to an overlay that the peer founded.
func (p *peer) invite(id overlay.ID) string {
	p.s.t.Helper()
	ticket, err := p.Invite(context.Background(), string(id), 0)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return ticket
}

// in returns an overlay as the peer sees it.
func (p *peer) in(id overlay.ID) OverlayDetail {
	p.s.t.Helper()
	d, err := p.OverlayDetail(context.Background(), string(id))
	if err != nil {
		p.s.t.Fatal(err)
	}
	return d
}

// gatherIn waits until the peers are the members of an overlay and agree on its
// leader.
func (s *swarm) gatherIn(id overlay.ID, peers ...*peer) {
	s.t.Helper()
	s.until("the members of the overlay know each other and one leader", func() bool {
		first := peers[0].in(id)
		return first.Leader != "" && !slices.ContainsFunc(peers, func(p *peer) bool {
			o := p.in(id)
			return o.Members != len(peers) || o.Leader != first.Leader || o.Epoch != first.Epoch
		})
	})
}

// leadingIn returns the peer that leads an overlay by the word of another.
func (s *swarm) leadingIn(id overlay.ID, by *peer) *peer {
	leader := by.in(id).Leader
	if i := slices.IndexFunc(s.peers, func(p *peer) bool { return p.up && p.ID() == leader }); i >= 0 {
		return s.peers[i]
	}
	return nil
}

// submitTo hands a job of sleeping tasks in to an overlay.
func (p *peer) submitTo(id overlay.ID, tasks int, work time.Duration) task.JobID {
	p.s.t.Helper()
	sub := sleepJob(p.s.t, p.Node, tasks, work)
	sub.Overlay = string(id)
	job, err := p.Submit(context.Background(), sub)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return job
}

// runningIn counts the tasks that run at the peer, by overlay.
func (p *peer) runningIn() map[overlay.ID]int {
	p.s.t.Helper()
	out := map[overlay.ID]int{}
	if err := p.do(context.Background(), func() {
		for _, a := range p.Node.running {
			out[a.of.id]++
		}
	}); err != nil {
		p.s.t.Fatal(err)
	}
	return out
}

// onLoop calls f with the node's state in hand.
func (p *peer) onLoop(t *testing.T, f func()) {
	t.Helper()
	if err := p.do(context.Background(), f); err != nil {
		t.Fatal(err)
	}
}
