package simulation

import (
	"context"
	"io"
	"strings"
	"testing"

	"godwit/lab/progress"
	"godwit/sim"
	"godwit/sim/scenario"
)

// smallGrid is of runs that take no time.
func smallGrid(t *testing.T) []*sim.Scenario {
	t.Helper()
	e, err := scenario.Decode("x.yaml",
		[]byte("synth: {kind: office, hosts: 3, days: 1}\nseeds: 4\nplacement: [fcfs, oracle]\nworkload: {classes: "+
			"[{work: 1h}]}"), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := e.Grid()
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

func TestSimInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := Options{Workers: 2}
	results, err := f.runAll(ctx, progress.New(io.Discard, true), smallGrid(t))
	if results != nil || err == nil || !strings.Contains(err.Error(), "interrupted after ") {
		t.Errorf("got %d results and %v", len(results), err)
	}
}

// Runs of the oracle that are asked for anyway are not run again.
func TestWithOracles(t *testing.T) {
	grid := smallGrid(t) // fcfs with four seeds, then the oracle
	all, oracleOf := withOracles(grid)
	if len(all) != 8 {
		t.Errorf("%d runs for 8", len(all))
	}
	all, oracleOf = withOracles(grid[:4])
	if len(all) != 8 || len(oracleOf) != 4 {
		t.Fatalf("%d runs, oracles of %d, want 8 and 4", len(all), len(oracleOf))
	}
	for i, o := range oracleOf {
		if s := all[o]; s.Placement != sim.Oracle || s.Seed != grid[i].Seed || s.Trace != grid[i].Trace {
			t.Errorf("run %d is compared with %s, seed %d", i, s.Placement, s.Seed)
		}
	}
}
