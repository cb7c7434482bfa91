package node

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
)

// A running task moves between two members that can meet only through a third,
// while that relays: its memory goes straight through, and nothing is done twice. Where it
// does not want to, the task moves by way of the leader.
func TestTaskMovesThroughRelay(t *testing.T) {
	const work, ran = 150 * time.Second, 2 * time.Minute // within which they have found a relay
	for _, off := range []bool{false, true} {
		t.Run(map[bool]string{false: "relaying", true: "off"}[off], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSwarmBehind(t, 3, func(i int) testnet.NAT {
					if i == 0 {
						return testnet.NoNAT
					}
					return testnet.Symmetric
				})
				var steps stepLog
				for _, p := range s.peers {
					p.runner.saves, p.runner.rounds, p.cfg.Cores, p.runner.fault, p.cfg.NoRelay = true, true, 1, steps.add, off
				}
				founder, lab := s.founderAtWork()
				id := founder.submitSaving(lab, 1, work, time.Hour)
				from := s.runsAt(id)
				<-time.After(ran)
				if err := from.Drain(context.Background()); err != nil {
					t.Fatal(err)
				}
				got := founder.finish(id, 1)
				log, r := got[0].Attempts, got[0].Results[0]
				if len(log) != 2 || log[0].Worker == log[1].Worker || r.CPU > work-ran+5*time.Second {
					t.Errorf("it waited %v more after %v: %+v", r.CPU, ran, log)
				}
				if steps.has("destination: resumed sent") == off {
					t.Errorf("relaying is off: %v, and it went %v", off, steps.all())
				}
				for _, p := range s.peers {
					relayed := slices.ContainsFunc(p.Addrs(), func(a string) bool { return strings.Contains(a, "/p2p-circuit") })
					if want := p != founder && !off; relayed != want {
						t.Errorf("addresses %v", p.Addrs())
					}
				}
			})
		})
	}
}

// founderAtWork starts all peers in an overlay of the first, which leads it and has a
// task of its own for as long as the test runs.
func (s *swarm) founderAtWork() (*peer, overlay.ID) {
	founder, lab := s.founderAlone()
	for _, p := range s.peers[1:] {
		p.cfg.Bootstrap = []string{founder.host.Addr}
		p.start()
	}
	s.gather(s.peers...)
	for _, p := range s.peers[1:] {
		p.join(string(lab))
	}
	s.gatherIn(lab, s.peers...)
	return founder, lab
}

// A stepLog remembers the steps that hand-overs came to.
type stepLog struct {
	mu    sync.Mutex
	steps []string
}

func (l *stepLog) add(step string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.steps = append(l.steps, step)
}

func (l *stepLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.steps)
}

func (l *stepLog) has(step string) bool { return slices.Contains(l.all(), step) }
