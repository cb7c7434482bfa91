package sim_test

import (
	"fmt"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// A host is there for nine hours of its first day and for 12 of the second. Jobs of six
// hours always wait. FCFS places them whenever the host is idle; FCFSPP does so where
// the host stayed for as long at that time of the day before (docs/spec/zhang.md
// section 11.2).
func ExampleRun() {
	start := time.Unix(0, 0).UTC()
	h := &trace.History{Host: "r1"}
	for _, spell := range []struct {
		hour  time.Duration
		state trace.State
	}{{0, trace.Available}, {9, trace.Unavailable}, {24, trace.Available}, {36, trace.Unavailable}} {
		if err := h.Append(start.Add(spell.hour*time.Hour), spell.state, 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	end := start.Add(48 * time.Hour)
	h.Extend(end)
	hosts := &trace.Trace{Name: "one host", Start: start, End: end, Hosts: []trace.Host{{History: h}}}

	for _, policy := range []string{"fcfs:order=turn", "fcfspp"} {
		r, err := sim.Run(&sim.Scenario{
			Trace: hosts, Placement: policy, Paper: true,
			Workload: sim.Workload{
				Requeue: true,
				Classes: []sim.Class{{Name: "job", Arrival: sim.Saturated, Work: 6 * time.Hour}},
			},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		day := r.PerDay[1]
		fmt.Printf("%s: day 2: %d placed, %d completed, %d lost\n", policy, day.Allocated, day.Succeeded, day.Failed)
	}
	// Output:
	// fcfs:order=turn: day 2: 3 placed, 2 completed, 1 lost
	// fcfspp: day 2: 1 placed, 1 completed, 0 lost
}
