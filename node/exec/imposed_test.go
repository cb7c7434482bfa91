package exec

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// TestImposedSpeeds: a task waits its work divided by the speed that is imposed on
// its class, and says so.
func TestImposedSpeeds(t *testing.T) {
	for class, want := range map[string]time.Duration{"a": 30 * time.Second, "b": 2 * time.Minute, "": 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			r := &Sleeper{Imposed: Speeds{"a": 2, AnyClass: 0.5}}
			begun := time.Now()
			job := &Job{spec: &task.Job{Work: time.Minute, Class: class}}
			rep, err := r.Run(context.Background(), Run{Job: job, State: &State{}})
			if took := time.Since(begun); err != nil || took != want || rep.Wall != want {
				t.Errorf("class %q took %v and said %v (%v), want %v", class, took, rep.Wall, err, want)
			}
		})
	}
}

// TestImposedState: a state counts work, so that it goes on at another speed.
func TestImposedState(t *testing.T) {
	w := wait{work: 30 * time.Second, speed: 2, here: 10 * time.Second}
	done, err := readWaited(w.state(), time.Minute)
	if err != nil || done != 20*time.Second {
		t.Errorf("10 s at twice the speed are %v of work (%v), want 20 s", done, err)
	}
}

func TestSpeedsChecked(t *testing.T) {
	for _, speed := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if err := (Speeds{"a": speed}).Check(); err == nil || !strings.Contains(err.Error(), "more than 0") {
			t.Errorf("a speed of %v: %v", speed, err)
		}
	}
	if err := (Speeds{"a": overlay.MaxSpeed, AnyClass: 0.1}).Check(); err != nil {
		t.Error(err)
	}
}
