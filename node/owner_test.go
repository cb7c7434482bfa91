package node

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/owner"
	"godwit/trace"
)

// staying has all join an overlay in which running tasks do not move.
func (s *swarm) staying() overlay.ID {
	lab := s.peers[0].found(OverlayRules{Name: "lab", Migration: "none"})
	for _, p := range s.peers[1:] {
		p.join(string(lab))
	}
	s.gatherIn(lab, s.peers...)
	return lab
}

// While its owner has the machine a node's tasks stand still; after the grace
// they go on elsewhere, and none is lost or blamed.
func TestOwnerTakesTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 3)
		submitter, taken := s.peers[1], s.peers[2]
		id := submitter.submitTo(s.staying(), 6, 2*time.Minute)
		s.until("the worker runs tasks", func() bool { return taken.status().Tasks == 2 })
		if err := taken.Pause(context.Background(), 0); err != nil {
			t.Fatal(err)
		}
		st := taken.status()
		if st.State != trace.UserPresent || !st.Stopped || st.Slots != 0 || st.Rule != owner.RulePause ||
			!strings.Contains(st.Reason, "paused by its owner") {
			t.Errorf("got %+v", st)
		}
		<-time.After(5 * time.Minute)
		if n := taken.status().Tasks; n != 2 {
			t.Errorf("%d tasks stand still before the grace has passed, want 2", n)
		}
		<-time.After(owner.Default().Grace)
		if n := taken.status().Tasks; n != 0 {
			t.Errorf("%d tasks are still here after the grace", n)
		}
		for _, r := range submitter.finish(id, 6) {
			if r.Results[0].Worker == taken.ID() {
				t.Errorf("task %d was delivered by the paused node", r.Index)
			}
		}
	})
}

// A pause that ends in time costs the time it took, and nothing else.
func TestOwnerGivesTheMachineBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		begun := time.Now()
		id := s.peers[0].submitTo(s.staying(), 4, 20*time.Second)
		s.until("both run tasks", func() bool { return s.peers[0].status().Tasks == 2 && s.peers[1].status().Tasks == 2 })
		if err := s.peers[1].Pause(context.Background(), time.Minute); err != nil {
			t.Fatal(err)
		}
		for _, r := range s.peers[0].finish(id, 4) {
			if len(r.Attempts) != 1 {
				t.Errorf("task %d took %d attempts", r.Index, len(r.Attempts))
			}
		}
		if took := time.Since(begun); took < 80*time.Second || took > 90*time.Second {
			t.Errorf("20 s of work with a pause of a minute took %v", took)
		}
	})
}

// The owner's word is durable when Pause returns.
func TestPauseOutlivesTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		check := func(n *lone, stopped bool) {
			t.Helper()
			if st, err := n.Status(t.Context()); err != nil || st.Stopped != stopped ||
				(st.State == trace.Available) == stopped {
				t.Errorf("got %+v, %v", st, err)
			}
		}
		n := startLone(t, d, false)
		check(n, false)
		if err := n.Pause(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		_ = n.end()
		d.crash()
		n = startLone(t, d, false)
		check(n, true)
		if err := n.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(n, false)
		if err := n.Pause(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		_ = n.end()
		d.crash()
		n = startLone(t, d, false)
		check(n, true)
		<-time.After(time.Hour + time.Second)
		check(n, false) // it ends by itself
		_ = n.end()
		if n.Pause(context.Background(), 0) == nil {
			t.Error("a stopped node takes the owner's word")
		}
	})
}

// With nobody to take them the tasks of a machine that its owner wants are saved when
// the grace has passed, so that its memory is free, and go on here when he leaves.
func TestOwnerTakesTheOnlyMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const work, ran = time.Hour, 20 * time.Minute
		n := startLone(t, newDisk(), false)
		id, err := n.Submit(t.Context(), sleepJob(t, n.Node, 2, work))
		if err != nil {
			t.Fatal(err)
		}
		here := func() Status {
			t.Helper()
			st, err := n.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return st
		}
		<-time.After(ran)
		if st := here(); st.Tasks != 2 {
			t.Fatalf("%d tasks run, want 2", st.Tasks)
		}
		if err := n.Pause(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		<-time.After(owner.Default().Grace - time.Second)
		if st := here(); st.Tasks != 2 {
			t.Errorf("%d tasks stand still within the grace, want 2", st.Tasks)
		}
		<-time.After(3 * time.Second)
		if st := here(); st.Tasks != 0 {
			t.Errorf("%d tasks are in memory 2 s after the grace", st.Tasks)
		}
		<-time.After(time.Hour)
		if err := n.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(work - ran + 10*time.Second)
		got, err := n.Results(t.Context(), id, 0, 3)
		if err != nil || len(got) != 2 {
			t.Fatalf("%d results %v after the owner left, want 2: %v", len(got), work-ran, err)
		}
		for _, r := range got {
			if len(r.Attempts) != 2 || r.Attempts[1].From == 0 || r.Results[0].CPU > work-ran+time.Second {
				t.Errorf("task %d: %+v", r.Index, r.Attempts)
			}
		}
		_ = n.end()
	})
}
