package exec

import (
	"testing"
	"time"

	"godwit/owner"
	"godwit/scheduler/message"
)

// What runs stands still for its way in time before the machine goes.
func TestLastMoment(t *testing.T) {
	x := newFakeHost().executor(t, &Sleeper{})
	if !x.lastMoment().IsZero() {
		t.Error("a machine that stays has a last moment")
	}
	until := time.Now().Add(time.Hour)
	x.lent = owner.Decision{Until: until}
	if d := until.Sub(x.lastMoment()); d != haste {
		t.Errorf("with nothing to send it is %v before the end, want %v", d, haste)
	}
	c := &controls{}
	c.note(30e6)
	x.pace.rate = 1e6
	x.running[message.AttemptName{}] = &attempt{controls: c}
	if d, want := until.Sub(x.lastMoment()), aheadRounds*30*time.Second; d != want {
		t.Errorf("with 30 MB at 1 MB/s it is %v before the end, want %v", d, want)
	}
}
