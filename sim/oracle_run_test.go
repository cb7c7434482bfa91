package sim

import (
	"testing"
	"time"

	"godwit/scheduler/place"
)

// With one class of equal tasks that always wait, giving each to whoever will
// complete it is the best that there is: no policy completes more, and nothing
// is lost.
func TestOracleIsABound(t *testing.T) {
	for seed := range uint64(5) {
		set := unsettled(t, 20, 4, seed)
		run := func(policy string) *Report {
			t.Helper()
			r, err := Run(&Scenario{
				Trace: set, Placement: policy, Paper: true, Seed: seed,
				Workload: Workload{Classes: []Class{{Name: "equal", Work: 40 * time.Minute}}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		best := run(Oracle)
		if best.Failed != 0 || best.Succeeded == 0 || best.WastedS != 0 {
			t.Errorf("seed %d: the oracle lost %d of %d tasks and wasted %v s", seed, best.Failed, best.Allocated, best.WastedS)
		}
		for _, name := range place.Names() {
			if r := run(name); r.Succeeded > best.Succeeded || r.UsefulS > best.UsefulS+1e-6 {
				t.Errorf("seed %d: %s completed %d tasks in %v useful seconds, the oracle %d in %v", seed, name, r.Succeeded,
					r.UsefulS, best.Succeeded, best.UsefulS)
			}
		}
	}
}
