package swarm

import (
	"crypto/ed25519"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/sim"
	"godwit/task"
)

// TestSignedRunDelivers: nodes that sign and verify as live ones do deliver every result once.
func TestSignedRunDelivers(t *testing.T) {
	s := scenario(hosts(t, at(1), repeat(6, always)...), sim.Class{Arrival: sim.AtTimes,
		Times: []time.Duration{10 * time.Minute}, Work: time.Minute, Tasks: 12})
	manifest, err := overlay.Named("commons")
	if err != nil {
		t.Fatal(err)
	}
	r, stats := mustRun(t, s, Options{Manifest: manifest, Overlay: string(manifest.ID()), Signed: true, Found: true})
	if r.Succeeded != 12 || stats.Delivered != 12 || stats.Undelivered != 0 {
		t.Errorf("%d of 12 done, %d delivered, %d not", r.Succeeded, stats.Delivered, stats.Undelivered)
	}
}

// TestStrangerIsHeardAndHears: a stranger's advert makes it a member, so that its job is accepted and the leader's
// answer reaches it. Messages to unknown keys are lost, and end nothing.
func TestStrangerIsHeardAndHears(t *testing.T) {
	s := scenario(hosts(t, at(.5), repeat(4, always)...), sim.Class{Arrival: sim.AtTimes,
		Times: []time.Duration{2 * time.Hour}, Work: time.Minute})
	manifest, err := overlay.Named("commons")
	if err != nil {
		t.Fatal(err)
	}
	key := Key(99, 1)
	spec := task.Job{Name: "strange", Overlay: string(manifest.ID()), Module: module, Outputs: []string{task.Stdout},
		Memory: leastMemory, Replicas: 1, Nonce: make([]byte, task.NonceSize), Submitted: task.At(day0)}
	rec, err := task.SignJob(&spec, key)
	if err != nil {
		t.Fatal(err)
	}
	heard, asked := map[string]int{}, 0
	a := &Attack{Keys: []ed25519.PrivateKey{Key(99, 0), key}, Begin: func(s *Stage) {
		s.After(5*time.Minute, func() {
			s.Advertise(1, overlay.Advert{State: overlay.Available})
			s.After(time.Second, func() {
				leader := s.Member(0).Leader().Leader
				s.Send(1, leader, message.Message{Submit: &message.Submit{Record: rec}})
				s.Send(1, task.PeerID("nobody"), message.Message{Cancel: &message.Cancel{}})
			})
		})
	}, Heard: func(_ *Stage, stranger int, _ task.PeerID, m *message.Message) {
		heard[m.Kind()]++
		if stranger != 1 {
			t.Errorf("stranger %d heard %s", stranger, m.Kind())
		}
	}, Cells: func(*Stage, int, task.PeerID) []overlay.Summary { asked++; return nil }}
	if _, err := Run(s, Options{Manifest: manifest, Signed: true, Found: true, Attack: a}); err != nil {
		t.Fatal(err)
	}
	if heard["accepted"] == 0 {
		t.Errorf("the stranger heard %v", heard)
	}
	if asked > 0 {
		t.Errorf("it was asked about cells %d times in a pool without any", asked)
	}
}

// TestAttackNeedsSignatures: an attack on machines that verify nothing is refused.
func TestAttackNeedsSignatures(t *testing.T) {
	s := scenario(hosts(t, at(.1), repeat(3, always)...), sim.Class{Arrival: sim.Every, Interval: time.Minute,
		Work: time.Minute})
	if (Options{Attack: &Attack{}}).Check(s) == nil {
		t.Error("an attack on a run without signatures is accepted")
	}
}
