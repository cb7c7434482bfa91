//go:build oldresume

package freeze_test

import (
	"context"
	"testing"
	"time"
)

// TestOldResumeIsCaught is the negative control: where resume functions import what the guest imports, so that
// hosts see
// another caller after a freeze, the comparison has to find it.
func TestOldResumeIsCaught(t *testing.T) {
	for _, optimises := range []bool{false, true} {
		if optimises && !hasOptimiser() {
			t.Logf("%s is not installed", optimiser)
			continue
		}
		z := &fuzzer{t: t, optimises: optimises}
		z.started = time.Now()
		for seed := uint64(1); ; seed++ {
			if seed > usualSeeds {
				t.Fatalf("optimised %t: not found: %v", optimises, &z.tally)
			}
			d, how, err := z.look(context.Background(), seed)
			if err == nil {
				continue
			}
			t.Logf("found after %v, seed %d, %s: %v", time.Since(z.started), seed, how, err)
			t.Log(describe(context.Background(), d, err, "control"))
			break
		}
	}
}
