package exec

import (
	"reflect"
	"testing"

	"godwit/internal/noop"
	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// A task stops with the same state, compiled and interpreted, wherever it is told to; and comes to
// its end where it has no more to do.
func TestAuditStops(t *testing.T) {
	h := newFakeHost()
	r, _ := newSandboxed(t)
	x := h.executor(t, r)
	module, err := h.blocks.ImportBytes(t.Context(), noop.Counting)
	if err != nil {
		t.Fatal(err)
	}
	id := task.TaskID{Job: h.submitted(t, x, "module: count.wasm\n", module)}
	h.on(func() { x.Lend(owner.Decision{Cores: 1}) })
	run := func(stopAt uint64, interpreted bool) task.Result {
		done := make(chan task.Result, 1)
		h.on(func() {
			x.Audit(h, message.Audit{Task: id, StopAt: stopAt, Interpreted: interpreted}, nil,
				func(ev message.Audited) { done <- ev.Here })
		})
		return <-done
	}
	whole := run(0, false)
	if whole.Outcome != task.Completed || whole.Trail == nil || whole.Trail.Fuel < 1_000_000 {
		t.Fatalf("the task ends as %+v, %+v", whole, whole.Trail)
	}
	var states []string
	for _, at := range []uint64{1000, whole.Trail.Fuel / 2} {
		a, b := run(at, false), run(at, true)
		a.Trail.Engine = b.Trail.Engine
		if a.Outcome != task.Interrupted || a.Trail == nil || a.Trail.Fuel < at || a.Trail.Fuel > at+1000 ||
			len(a.Trail.Last) != 32 || !reflect.DeepEqual(a.Trail, b.Trail) || b.Verify() != nil {
			t.Fatalf("stopped at %d it is %+v compiled and %+v interpreted", at, a.Trail, b.Trail)
		}
		if again := run(a.Trail.Fuel, true); !reflect.DeepEqual(again.Trail, a.Trail) {
			t.Errorf("stopped where it stood, %d, it is %+v", a.Trail.Fuel, again.Trail)
		}
		states = append(states, string(a.Trail.Last))
	}
	if states[0] == states[1] {
		t.Error("two states have one hash")
	}
	if beyond := run(2*whole.Trail.Fuel, false); beyond.Outcome != task.Completed {
		t.Errorf("beyond its end it is %+v", beyond)
	}
}
