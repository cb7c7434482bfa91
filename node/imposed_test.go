package node

import (
	"context"
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
			r := &sleepRunner{imposed: map[string]float64{"a": 2, AnyClass: 0.5}}
			begun := time.Now()
			rep, err := r.Run(context.Background(), &preparedJob{job: &task.Job{Work: time.Minute, Class: class}}, task.TaskID{}, task.Invocation{}, &saving{taken: func([]byte, uint64, time.Duration) {}})
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

func TestImposedChecked(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  Config
		want string
	}{
		"on real work": {Config{Imposed: map[string]float64{"a": 2}, Sandbox: []string{"true"}}, `use runner "sleep"`},
		"zero":         {Config{Imposed: map[string]float64{"a": 0}, Runner: RunSleep}, "more than 0"},
		"site":         {Config{Site: strings.Repeat("s", overlay.MaxSite+1), Runner: RunSleep}, "at most 64"},
	} {
		tt.cfg.DataDir = t.TempDir()
		if _, err := tt.cfg.withDefaults(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
