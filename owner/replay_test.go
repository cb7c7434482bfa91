package owner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"godwit/owner/sensor"
	"godwit/trace"
)

// A played owner comes and goes when the history says, and stops and frees the
// machine as one at the keyboard does.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		h := &trace.History{Host: "a"}
		states := []trace.State{trace.Available, trace.UserPresent, trace.Available, trace.CPUBusy, trace.Leaving,
			trace.Unavailable}
		for i, s := range states {
			if err := h.Append(begun.Add(time.Duration(i+1)*time.Second), s, 1); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(begun.Add(time.Duration(len(states)+1) * time.Second))
		rules := Everything()
		rules.RunIfUserActive = false
		m, err := NewMonitor(Config{Rules: rules, Machine: Machine{Cores: 1, Memory: 1 << 30},
			Sensors: []sensor.Sensor{Replay{h}},
			Stop:    func() {}, Continue: func() {}, Changed: func(Decision) {}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		go m.Run(ctx)
		<-time.After(500 * time.Millisecond) // between the changes
		for i, want := range []struct {
			state trace.State
			stop  bool
			cores int
		}{
			{trace.UserPresent, true, 0}, // before the history
			{trace.Available, false, 1},
			{trace.UserPresent, true, 0},
			{trace.Available, false, 1},
			{trace.UserPresent, true, 0},
			{trace.Leaving, false, 0},
			{trace.UserPresent, true, 0},
			{trace.UserPresent, true, 0}, // after it
		} {
			if d := m.Decision(); d.State != want.state || d.Stop != want.stop || d.Cores != want.cores {
				t.Errorf("after %d s: got %v, stop %v, %d cores (%s), want %+v", i, d.State, d.Stop, d.Cores, d.Reason, want)
			}
			if d := m.Decision(); d.State == trace.Available && !d.Until.IsZero() {
				t.Errorf("after %d s: it is known that this ends at %v", i, d.Until)
			}
			<-time.After(time.Second)
		}
		stop()
		synctest.Wait()
	})
}

// A played machine that gives guests a part of its CPU reports that others use the rest.
func TestReplayReportsCPUOfOthers(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	h := &trace.History{Host: "a"}
	for i, share := range []float64{1, .25} {
		if err := h.Append(now.Add(time.Duration(i)*time.Hour), trace.Available, share); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Append(now.Add(2*time.Hour), trace.UserPresent, 0); err != nil {
		t.Fatal(err)
	}
	h.Extend(now.Add(3 * time.Hour))
	for i, want := range []float64{1, .25, 1, 1} {
		if _, got, _ := (Replay{h}).at(now.Add(time.Duration(i)*time.Hour + time.Minute)); got != want {
			t.Errorf("in hour %d guests get %v, want %v", i, got, want)
		}
	}
}
