package sandbox

import (
	"testing"

	"godwit/task"
)

// TestShare: a task that is let run a share of the time, before it begins, waits for
// the rest, and comes to the same.
func TestShare(t *testing.T) {
	p := newTestPool(t)
	tk := forever.task(t, "a")
	tk.Pages, tk.FreezeAtFuel = &MemoryStore{}, 100_000_000
	alone := run(t, p, tk)
	shares := make(chan float64, 1)
	shares <- .1
	tk.Share = shares
	rep := run(t, p, tk)
	if rep.Outcome != task.Interrupted || rep.Fuel != alone.Fuel || rep.StateHash != alone.StateHash {
		t.Fatalf("%v %s, fuel %d, alone %d", rep.Outcome, rep.Message, rep.Fuel, alone.Fuel)
	}
	// It waits 9 times what the program runs, which is nearly all that it took alone.
	if waited := rep.Wall - rep.CPU; waited < 2*alone.CPU {
		t.Errorf("it waited %v, and took %v, alone %v", waited, rep.CPU, alone.CPU)
	}
}
