package node

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/task"
)

// Rounds says whether they are sent ahead, while the task runs.
func (c *counter) Rounds() bool { return c.rounds }

// Saves says whether the runner saves the state of its sleeping tasks.
func (c *counter) Saves() bool { return c.saves }

// stays is a forecast by name.
type stays map[task.PeerID]float64

func (f stays) By(string) place.Forecast { return f }

func (f stays) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	return f[peer], true
}

// A task that runs leaves its member as the overlay's policy says, and goes on
// elsewhere where it stopped: when it is not foreseen to stay, when its node says
// goodbye, when its owner is back. Without a policy what it has done since its last
// checkpoint is lost.
func TestTaskMoves(t *testing.T) {
	const work = 2 * time.Minute
	unforeseen := func(s *swarm, leader, worker *peer) {
		f := stays{}
		for _, p := range s.peers {
			f[p.ID()] = 0.9
		}
		f[worker.ID()] = 0.1
		leader.onLoop(s.t, func() {
			for _, m := range leader.members {
				if m.Coordinator() != nil {
					m.Coordinator().Foresee(f)
				}
			}
		})
	}
	goodbye := func(_ *swarm, _, worker *peer) { worker.stop() }
	back := func(s *swarm, _, worker *peer) {
		if err := worker.Pause(context.Background(), 0); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, policy string
		happens      func(s *swarm, leader, worker *peer)
		moved        bool
		kept         time.Duration // of 45 s, by the move
		within       time.Duration
	}{
		{"forecast", "pspp:p=10m,t=0.5,interval=10s", unforeseen, true, 45 * time.Second, work + 10*time.Second},
		{"goodbye", "", goodbye, true, 45 * time.Second, work + 10*time.Second},
		{"goodbye under a policy that heeds nothing else", "reactive", goodbye, true, 45 * time.Second,
			work + 10*time.Second},
		{"goodbye under another policy", "cbr", goodbye, false, 45 * time.Second, work + 10*time.Second},
		{"goodbye without a policy", "none", goodbye, false, 30 * time.Second, work + 30*time.Second},
		{"owner", "reactive", back, true, 45 * time.Second, work + 10*time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSwarm(t, 3)
				for i, p := range s.peers {
					p.runner.saves, p.cfg.Cores = true, 1
					if i > 0 {
						p.cfg.Bootstrap = []string{s.peers[0].host.Addr}
					}
					p.start()
				}
				s.gather(s.peers...)
				founder := s.peers[0]
				lab := founder.found(OverlayRules{Name: "lab", Migration: tt.policy})
				for _, p := range s.peers[1:] {
					p.join(string(lab))
				}
				s.gatherIn(lab, s.peers...)
				id := founder.submitSaving(lab, 2, work, 30*time.Second) // one is the founder's own core's
				var worker *peer
				s.until("a task runs elsewhere", func() bool {
					i := slices.IndexFunc(s.peers, func(p *peer) bool { return p != founder && p.runningIn()[lab] > 0 })
					if i >= 0 {
						worker = s.peers[i]
					}
					return i >= 0
				})
				begun := time.Now()
				<-time.After(45 * time.Second)
				tt.happens(s, s.leadingIn(lab, founder), worker)
				got := founder.finish(id, 2)
				if took := time.Since(begun); took > tt.within+5*time.Second {
					t.Errorf("it took %v", took)
				}
				i := slices.IndexFunc(got, func(r message.TaskSummary) bool { return r.Attempts[0].Worker == worker.ID() })
				checkMoved(t, founder, id, &got[i], tt.moved, tt.kept)
			})
		})
	}
}

// checkMoved looks at the story of a task of two attempts, of which the second
// went on from what the first kept.
func checkMoved(t *testing.T, p *peer, id task.JobID, got *message.TaskSummary, moved bool, kept time.Duration) {
	t.Helper()
	if len(got.Attempts) != 2 {
		t.Fatalf("the attempts are %+v", got.Attempts)
	}
	a, b := got.Attempts[0], got.Attempts[1]
	if (a.Outcome == ledger.Moved) != moved || (a.MovedTo == b.Worker) != moved || a.Worker == b.Worker {
		t.Errorf("it moved: %+v, then %+v", a, b)
	}
	r := got.Results[0]
	if d := 2*time.Minute - r.CPU - kept; d < -time.Second || d > 10*time.Second {
		t.Errorf("it went on after %v, want about %v", 2*time.Minute-r.CPU, kept)
	}
	if !moved && r.CPU+time.Duration(b.From) != 2*time.Minute {
		t.Errorf("it went on after %v and waited %v more", time.Duration(b.From), r.CPU)
	}
	st, err := p.Job(t.Context(), id, 0, 0)
	if want := map[bool]uint64{true: 1}[moved]; err != nil || st.Migrations != want || moved && st.Reruns != 0 {
		t.Errorf("the job moved %d times and was run again %d times (%v)", st.Migrations, st.Reruns, err)
	}
}
