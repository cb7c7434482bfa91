package replay

import (
	"strings"
	"testing"

	"godwit/sim"
)

// ran is the report of a run of 50 tasks.
func ran(name string, done, moves uint64, tookS float64) *report {
	rep := &report{name: name, Swarm: &sim.Report{}}
	rep.Swarm.Arrived, rep.Swarm.Succeeded, rep.Swarm.Migrations = 50, done, moves
	rep.Swarm.Response.Max = tookS
	return rep
}

func TestCheckDefaults(t *testing.T) {
	fcfs := ran("fcfs, none", 50, 0, 100)
	for _, c := range []struct {
		name string
		runs runs
		want string // in the error; "" if there is none
	}{
		{"as fast as FCFS", runs{fcfs, ran("expected, none", 50, 5, 120)}, ""},
		{"too slow", runs{fcfs, ran("expected, none", 50, 0, 121)}, "expected, none: it took 1.21 times as long"},
		{"incomplete", runs{fcfs, ran("mct, none", 49, 0, 400)}, "mct, none: 49 of 50 tasks done"},
		{"restless", runs{fcfs, ran("fcfs, pspp", 50, 6, 100)}, "fcfs, pspp: 0.12 moves for each task"},
		{"nothing to compare with", runs{ran("fcfs, none", 49, 0, 100)}, "the base of the comparison"},
	} {
		err := c.runs.checkDefaults()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
