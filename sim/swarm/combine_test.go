package swarm

import (
	"fmt"
	"testing"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// Two policies of each of the four kinds run in all combinations: every task of two
// sweeps and of jobs that come by the hour ends, each once, though hosts leave.
func TestPoliciesCombine(t *testing.T) {
	leaves := []spell{{0, trace.Available}, {50 * time.Minute, trace.Leaving}, {51 * time.Minute, trace.Unavailable},
		{80 * time.Minute, trace.Available}}
	tr := hosts(t, 4*time.Hour, append(repeat(5, always), leaves)...)
	for _, placement := range []string{"expected", "gcmu"} {
		for _, migration := range []string{"none", "cost"} {
			for _, fairness := range []string{"weighted", "sep"} {
				for _, chunking := range []string{"one", "factoring"} {
					t.Run(fmt.Sprint(placement, "+", migration, "+", fairness, "+", chunking), func(t *testing.T) {
						s := scenario(tr,
							sim.Class{Name: "sweep", Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: 10 * time.Minute,
								Tasks: 30, State: 1 << 20},
							sim.Class{Name: "other", Arrival: sim.AtTimes, Times: []time.Duration{2 * time.Minute}, Work: 10 * time.Minute,
								Tasks: 30, Weight: 3, State: 1 << 20},
							sim.Class{Name: "single", Arrival: sim.Every, Interval: 30 * time.Minute, To: 2 * time.Hour,
								Work: 5 * time.Minute})
						s.Placement, s.Migration, s.Fairness, s.Chunking = placement, migration, fairness, chunking
						s.Hosts.Slots, s.Hosts.Sites = 2, []string{"delft", "leiden"}
						r, _ := mustRun(t, s, Options{Submitters: 1, Found: true, Speedup: 10})
						if r.Arrived != 64 || r.Succeeded != r.Arrived || r.Unfinished != 0 {
							t.Errorf("of %d tasks %d ended, %d did not", r.Arrived, r.Succeeded, r.Unfinished)
						}
						if r.Fairness != fairness || r.Chunking != chunking {
							t.Errorf("the report is of %q and %q", r.Fairness, r.Chunking)
						}
					})
				}
			}
		}
	}
}

// A job with a limit of slots leaves the others to a job without one, which ends first.
func TestJobsTakeNoMoreSlotsThanTheyWant(t *testing.T) {
	once := func(name string, slots int) sim.Class {
		return sim.Class{Name: name, Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: 10 * time.Minute,
			Tasks: 12, Slots: slots}
	}
	for _, chunking := range []string{"", "gss"} {
		s := scenario(hosts(t, 4*time.Hour, repeat(6, always)...), once("small", 2), once("large", 0))
		s.Placement, s.Migration, s.Chunking = "fcfs", "none", chunking
		r, _ := mustRun(t, s, Options{Submitters: 1, Found: true, Speedup: 10})
		if r.Succeeded != 24 {
			t.Errorf("%d of 24 tasks succeeded", r.Succeeded)
		}
		// Twelve tasks, two at a time, take an hour. Without the limit all 24 take 40 minutes on six members.
		if last := time.Duration(r.Response.Max * float64(time.Second)); last < time.Hour || last > 80*time.Minute {
			t.Errorf("chunking %q: the last task ended after %v, want an hour to 80 minutes", chunking, last)
		}
	}
}
