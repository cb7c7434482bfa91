package sim

import (
	"strings"
	"testing"
	"time"
)

// The check of Little's law at the end of each run finds faults of the engine: a
// task that is forgotten, counted twice or not at all, or whose stay is wrong by
// a nanosecond.
func TestLittlesLawIsChecked(t *testing.T) {
	always := &Scenario{
		Trace: hostTrace(t, 48, []float64{0, 20, 30}), Paper: true,
		Workload: Workload{Classes: []Class{{Arrival: Every, Interval: time.Hour, Work: 90 * time.Minute}}},
	}
	waiting := func(w *world) *simTask {
		for k := range w.tasks.slots {
			if s := &w.tasks.slots[k]; s.status == taskWaiting {
				return s
			}
		}
		t.Fatal("nobody waits at the end")
		return nil
	}
	for _, c := range []struct {
		name  string
		spoil func(*world)
		wrong bool
	}{
		{"nothing", func(*world) {}, false},
		{"a task is forgotten", func(w *world) { waiting(w).status = taskFree }, true},
		{"a stay begins late", func(w *world) { waiting(w).arrived++ }, true},
		{"a stay begins early", func(w *world) { waiting(w).arrived-- }, true},
		{"an arrival counts twice", func(w *world) { w.tally.inside++; w.tally.changed-- }, true},
		{"a departure does not count", func(w *world) { w.tally.integral.add(1, 1) }, true},
		{"a departure counts twice", func(w *world) { w.tally.leaves(w.now, waiting(w)) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := newWorld(always)
			if err != nil {
				t.Fatal(err)
			}
			w.run()
			c.spoil(w)
			r, err := w.finish()
			switch {
			case !c.wrong && (err != nil || r == nil):
				t.Errorf("error %v", err)
			case c.wrong && (err == nil || r != nil || !strings.Contains(err.Error(), "Little's law does not hold")):
				t.Errorf("report %v and error %v, want one of Little's law", r, err)
			}
		})
	}
}
