package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/scheduler/message"
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
	if i := slices.IndexFunc(s.peers, func(p *peer) bool { return p.up.Load() && p.ID() == leader }); i >= 0 {
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
		p.exec.EachRunning(func(of exec.Client) { out[of.Overlay()]++ })
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

// Of a closed overlay every member, not its leader alone, hears members only;
// who is not admitted any more loses its membership at once, and what it ran goes
// on elsewhere.
func TestClosedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 4)
		founder, guest, second, stranger := s.peers[0], s.peers[1], s.peers[2], s.peers[3]
		lab := founder.found(OverlayRules{Name: "lab", Admission: AdmitInvited})
		guest.join(founder.invite(lab))
		second.join(founder.invite(lab))
		members := []*peer{founder, guest, second}
		s.gatherIn(lab, members...)
		if _, err := stranger.JoinOverlay(t.Context(), string(lab), 0); !errors.Is(err, ErrNotAdmitted) {
			t.Errorf("a stranger joins: %v", err)
		}
		id := founder.submitTo(lab, 12, 20*time.Second)
		time.Sleep(5 * time.Second)

		if err := stranger.net.Join(p2p.Overlay{ID: lab}); err != nil { // though nobody admits it
			t.Fatal(err)
		}
		own := stranger.host.AdvertIn(lab, 1000)
		if err := stranger.net.SetAdvert(own); err != nil {
			t.Fatal(err)
		}
		forged := message.Message{Ack: &message.Ack{Epoch: 1 << 40}}
		for i := range uint64(12) {
			forged.Ack.Drop = append(forged.Ack.Drop, message.AttemptName{Task: task.TaskID{Job: id, Index: i}})
		}
		frame, err := message.EncodeFrame([]message.Message{forged})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range members {
			for method, body := range map[string]string{
				methodJobs:  fmt.Sprintf(`{"overlay":%q}`, lab),
				methodJob:   fmt.Sprintf(`{"overlay":%q,"job":%q}`, lab, id),
				methodWhy:   fmt.Sprintf(`{"overlay":%q,"job":%q}`, lab, id),
				methodLease: fmt.Sprintf(`{"overlay":%q,"kind":"renewal","epoch":1099511627776,"group":[%q]}`, lab, stranger.ID()),
			} {
				if b, err := stranger.net.Request(t.Context(), m.ID(), method, []byte(body)); err == nil {
					t.Errorf("a stranger asks %q and hears %s", method, b)
				}
			}
			if err := stranger.host.Send(m.ID(), address(lab, frame)); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(5 * time.Second)
		for _, m := range members {
			if o := m.in(lab); o.Members != 3 || o.Leader == stranger.ID() || o.Epoch >= 1<<40 {
				t.Errorf("after the stranger spoke a member sees %+v", o.OverlayStatus)
			}
			if m.runningIn()[lab] == 0 {
				t.Error("a task was dropped at a stranger's word")
			}
		}

		rules := founder.in(lab).Rules
		rules.RevokeInvitations = true
		if _, err := founder.ChangeOverlay(t.Context(), string(lab), rules); err != nil {
			t.Fatal(err)
		}
		s.until("those whose invitations are void are members no more", func() bool { return founder.in(lab).Members == 1 })
		second.join(founder.invite(lab))
		s.gatherIn(lab, founder, second)
		for _, r := range founder.finish(id, 12) {
			if w := r.Results[0].Worker; w == stranger.ID() {
				t.Errorf("the result of task %d is of a stranger", r.Index)
			}
		}
		if n := guest.status().Notices; !slices.ContainsFunc(n,
			func(s string) bool { return strings.Contains(s, "not admitted") }) {
			t.Errorf("who is out is told %q", n)
		}
	})
}

// New rules reach every member, one that was away too.
func TestNewRulesReachAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		founder, there, away := s.peers[0], s.peers[1], s.peers[2]
		lab := founder.found(OverlayRules{Name: "lab"})
		there.join(string(lab))
		away.join(string(lab))
		s.gatherIn(lab, s.peers...)
		away.crash()
		rules := founder.in(lab).Rules
		rules.Placement, rules.Coordinators = "flp", 2
		if _, err := founder.ChangeOverlay(t.Context(), string(lab), rules); err != nil {
			t.Fatal(err)
		}
		if _, err := there.ChangeOverlay(t.Context(), string(lab), rules); !errors.Is(err, ErrNotFounder) {
			t.Errorf("a member changes the rules: %v", err)
		}
		follows := func(p *peer) bool {
			o := p.in(lab)
			return o.Version == 1 && o.Rules.Placement == "flp" && o.Rules.Coordinators == 2
		}
		s.until("the member that is there follows", func() bool { return follows(there) })
		away.start()
		s.until("the member that was away follows", func() bool { return follows(away) })
	})
}
