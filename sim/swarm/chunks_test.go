package swarm

import (
	"testing"
	"time"

	"godwit/sim"
)

// unequal are the speeds of eight machines; they do 8 s of work in a second.
var unequal = []float64{2, 1.5, 1.25, 1, .75, .75, .5, .25}

// sweepEfficiency has them do a sweep by a policy of chunks. It returns the divisible-load
// bound, all work over all speed, over the time from the first placement to the last
// result, and the messages that a task took.
func sweepEfficiency(t *testing.T, chunking string, tasks int, work, delay time.Duration) (efficiency,
	messages float64) {
	t.Helper()
	tr := hosts(t, at(1), repeat(len(unequal), always)...)
	for i := range tr.Hosts {
		tr.Hosts[i].GHz = unequal[i]
	}
	s := scenario(tr, sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: work, Tasks: tasks})
	s.Hosts.Speeds, s.Network.Delay, s.Chunking = sim.Traced, delay, chunking
	var from, to time.Time
	opt := Options{Submitters: 1, Found: true, Watch: func(d Decision) {
		switch {
		case d.Action == "placed" && from.IsZero():
			from = d.At
		case d.Action == "done":
			to = d.At
		}
	}}
	r, stats := mustRun(t, s, opt)
	if r.Succeeded != uint64(tasks) {
		t.Fatalf("%d of %d tasks are done", r.Succeeded, tasks)
	}
	power := 0.0
	for _, v := range unequal {
		power += v
	}
	bound := float64(tasks) * work.Seconds() / power
	return bound / to.Sub(from).Seconds(), float64(stats.Messages) / float64(tasks)
}

// TestSweepOnUnequal: a sweep of short tasks on machines of unequal speed takes little more
// than the least that it could, though a message takes as long as several tasks; one task
// at a time takes far longer. Measured: .97 with the usual policy, and .99 where the
// sweep is three times as long.
func TestSweepOnUnequal(t *testing.T) {
	for _, tt := range []struct {
		chunking    string
		least, most float64 // efficiency
		messages    float64 // of a task, at most
	}{
		{"", .95, 1, 2},
		{"one", 0, .5, 20},
	} {
		t.Run(tt.chunking, func(t *testing.T) {
			e, messages := sweepEfficiency(t, tt.chunking, 6000, 5*time.Millisecond, 20*time.Millisecond)
			t.Logf("efficiency %.4f, %.2f messages a task", e, messages)
			if e < tt.least || e > tt.most || messages > tt.messages {
				t.Errorf("efficiency %.4f with %.2f messages a task, want %v to %v with at most %v", e, messages, tt.least,
					tt.most, tt.messages)
			}
		})
	}
}
