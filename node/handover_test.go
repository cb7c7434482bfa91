package node

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"godwit/node/exec"
	"godwit/overlay"
	"godwit/task"
)

// A trap stops a node dead at a step of a hand-over.
type trap struct {
	step   string
	caught chan struct{}
}

// trapped returns the peer's fault, which springs what set holds.
func trapped(p *peer, set *atomic.Pointer[trap]) func(string) {
	return func(step string) {
		if tr := set.Load(); tr != nil && tr.step == step && set.CompareAndSwap(tr, nil) {
			p.host.Mute()
			p.halt()
			close(tr.caught)
		}
	}
}

// handOverSteps are where a node is killed, by side.
var handOverSteps = []string{
	"source: asked", "source: opened", "source: round sent", "source: frozen", "source: final sent", "source: settled",
	"destination: expected", "destination: compiled", "destination: welcomed", "destination: round placed",
	"destination: round taken",
	"destination: final received", "destination: thawed", "destination: resumed sent",
}

// staysAfter are those after which the task runs on where it was: the other side
// has died before the guest was frozen.
var staysAfter = []string{"destination: expected", "destination: compiled", "destination: welcomed"}

// Whichever side of a hand-over dies at whichever step, the task ends well, and it
// has gone on from what there was: at most the work since its last checkpoint is done
// again.
func TestHandOverSurvivesDeath(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector tasks move in TestTaskMoves, where nobody dies")
	}
	const (
		work  = 30 * time.Second
		every = 5 * time.Second
		ran   = 12 * time.Second
	)
	synctest.Test(t, func(t *testing.T) {
		s, lab, traps := handOverSwarm(t)
		founder := s.peers[0]
		for _, step := range handOverSteps {
			id := founder.submitSaving(lab, 1, work, every)
			from, to := s.runsAt(id), (*peer)(nil)
			for _, p := range s.peers[1:] {
				if p != from {
					to = p
				}
			}
			<-time.After(ran)
			dies := map[byte]*peer{'s': from, 'd': to}[step[0]]
			tr := &trap{step, make(chan struct{})}
			traps[dies].Store(tr)
			if err := from.Drain(context.Background()); err != nil {
				t.Fatal(err)
			}
			select {
			case <-tr.caught:
			case <-time.After(time.Minute):
				t.Fatalf("nobody has come to %q", step)
			}
			dies.crash()
			<-time.After(time.Second)
			dies.start()
			s.gatherIn(lab, s.peers...)
			if err := from.Resume(context.Background()); err != nil {
				t.Fatal(err)
			}
			got := founder.finish(id, 1)
			log, r := got[0].Attempts, got[0].Results[0]
			if stays := slices.Contains(staysAfter, step); stays != (len(log) == 1) || !stays && r.CPU > work-ran+every {
				t.Errorf("%s: it waited %v more after %v: %+v", step, r.CPU, ran, log)
			}
			s.idle()
		}
	})
}

// handOverSwarm is three nodes of one core, whose tasks leave on notice. The
// first leads, and has a task of its own for as long as the test runs.
func handOverSwarm(t *testing.T) (*swarm, overlay.ID, map[*peer]*atomic.Pointer[trap]) {
	s := newSwarm(t, 3)
	traps := map[*peer]*atomic.Pointer[trap]{}
	for _, p := range s.peers {
		traps[p] = &atomic.Pointer[trap]{}
		p.runner.saves, p.runner.rounds, p.cfg.Cores, p.runner.fault = true, true, 1, trapped(p, traps[p])
	}
	_, lab := s.founderAtWork()
	return s, lab, traps
}

// submitSaving hands in a job whose tasks are saved every so often, sealed as in a closed
// overlay. Those of open ones are handed over in package exec.
func (p *peer) submitSaving(lab overlay.ID, tasks int, work, every time.Duration) task.JobID {
	p.s.t.Helper()
	sub := sleepJob(p.s.t, p.Node, tasks, work)
	sub.File.Checkpoint.Every = every
	sub.Overlay, sub.Key = string(lab), newKey()
	id, err := p.Submit(context.Background(), sub)
	if err != nil {
		p.s.t.Fatal(err)
	}
	return id
}

// runsAt waits for a job's one task to run somewhere, and returns where.
func (s *swarm) runsAt(id task.JobID) (at *peer) {
	s.t.Helper()
	s.until("the task runs", func() bool {
		for _, p := range s.peers {
			if !p.up.Load() {
				continue
			}
			p.onLoop(s.t, func() {
				for _, t := range p.exec.Tasks() {
					if t.ID.Job == id && t.State != exec.Awaited {
						at = p
					}
				}
			})
		}
		return at != nil
	})
	return at
}

// idle waits until nothing runs but the founder's task.
func (s *swarm) idle() {
	s.t.Helper()
	s.until("nothing runs any more", func() bool {
		busy := 0
		for _, p := range s.peers[1:] {
			p.onLoop(s.t, func() { busy += len(p.exec.Tasks()) })
		}
		return busy == 0
	})
}
