package exec

import (
	"strings"
	"testing"

	"godwit/owner"
)

// The owner's check of the sandbox also ends while the owner has paused all tasks.
func TestWallsWhilePaused(t *testing.T) {
	r, _ := newSandboxed(t)
	t.Cleanup(func() { r.Close() })
	r.Pause()
	for _, f := range r.Walls(t.Context()) {
		if f.Result == owner.Bad || strings.HasPrefix(f.Text, "not checked") {
			t.Errorf("%s: %s", f.Check, f.Text)
		}
	}
}
