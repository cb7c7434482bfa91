package guests

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"godwit/sandbox"
	"godwit/task"
)

// TestDeepTaskIsNotLost: a machine without a compiler, which cannot hold the
// stack of a task, says that of itself and not of the task, whether the task
// begins there or comes with such a stack; and elsewhere the task goes on.
func TestDeepTaskIsNotLost(t *testing.T) {
	if os.Getenv("GODWIT_GUESTS_ARCH") == "" {
		t.Skip("GODWIT_GUESTS_ARCH=1 runs it; see scripts/test-arch")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("it needs linux/amd64, which runs programs for 386 too")
	}
	if !runs386() {
		t.Skip(no386)
	}
	child, err := crossBuild("386")
	if err != nil {
		t.Fatal(err)
	}
	fast, slow := hostPool(t), newPool(t, "386", child, "sandbox")
	tk := newTask(t, "deep", buildC(t, "deep", []string{"-Wl,-z,stack-size=67108864"}))
	want := undisturbed(t, fast, tk)
	if rep, err := slow.Run(t.Context(), tk); !errors.Is(err, sandbox.ErrTooDeep) || rep.Outcome != task.HostError {
		t.Errorf("from its beginning, without a compiler: %v %s, %v", rep.Outcome, rep.Message, err)
	}
	tk.Pages = &sandbox.MemoryStore{}
	refused := 0
	for i := range uint64(8) {
		tk.FreezeAtFuel = want.Fuel / 9 * (i + 1)
		rep := run(t, fast, tk)
		if rep.Outcome != task.Interrupted {
			t.Fatalf("not frozen: %v %s", rep.Outcome, rep.Message)
		}
		tk.From, tk.FreezeAtFuel = rep.Frozen, 0
		if _, err := slow.Run(t.Context(), tk); errors.Is(err, sandbox.ErrTooDeep) {
			refused++
		}
	}
	if refused == 0 {
		t.Error("no checkpoint was refused")
	}
	got := run(t, fast, tk)
	if got.Outcome != want.Outcome || got.Fuel != want.Fuel || got.StateHash != want.StateHash {
		t.Errorf("in the end: %v %s, fuel %d, state %x; want fuel %d, state %x", got.Outcome, got.Message, got.Fuel,
			got.StateHash[:4], want.Fuel, want.StateHash[:4])
	}
}
