package mgst

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"godwit/sim"
	"godwit/sim/scenario"
)

// TestScenarioFiles compares the shipped scenarios of real nodes with the tables: machines, rates, arrivals,
// availability, failures, policies and the testbed's figures.
func TestScenarioFiles(t *testing.T) {
	for i := range tables {
		e := &tables[i]
		t.Run(e.name, func(t *testing.T) {
			file := filepath.Join(root, "examples", "scenarios", fmt.Sprintf("mgst%d.yaml", i+1))
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := scenario.Decode(file, text, nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			checkMachines(t, e, got)
			checkClasses(t, e, got)
			checkPublished(t, e, got)
		})
	}
}

func checkMachines(t *testing.T, e *table, got *scenario.Experiment) {
	unit, machines, rates := got.Base.Rates.Unit, got.Source.Machines, got.Base.Rates
	up, down := time.Duration(0), time.Duration(0)
	if e.fails {
		up, down = meanUp*unit, meanDown*unit
	}
	if len(machines.Names) != len(e.system.mu[0]) || machines.Up != up || machines.Down != down {
		t.Errorf("%d machines, up %v, down %v; want %d, up %v, down %v", len(machines.Names), machines.Up, machines.Down,
			len(e.system.mu[0]), up, down)
	}
	if !slices.EqualFunc(rates.Of, e.system.mu, slices.Equal[[]float64]) {
		t.Errorf("rates %v, want %v", rates.Of, e.system.mu)
	}
	if !slices.Equal(rates.Availability, e.available) {
		t.Errorf("availability %v, want %v", rates.Availability, e.available)
	}
	const leastUnits, mostUnits = 36, 60 // a minute or two a policy
	length := got.Base.End.Sub(got.Base.Day0())
	if units := float64(length) / float64(unit); units != math.Trunc(units) || units < leastUnits || units > mostUnits {
		t.Errorf("%v are %v time units, want a whole number from %d to %d", length, units, leastUnits, mostUnits)
	}
}

func checkClasses(t *testing.T, e *table, got *scenario.Experiment) {
	unit, w := got.Base.Rates.Unit, got.Base.Workload
	if !w.Requeue || !w.InOrder || len(w.Classes) != len(e.system.alpha) {
		t.Fatalf("requeue %v, in order %v, %d classes", w.Requeue, w.InOrder, len(w.Classes))
	}
	for k, c := range w.Classes {
		want := float64(unit) / e.system.alpha[k]
		if c.Name != fmt.Sprint(k+1) || c.Work != unit || c.WorkLaw != sim.CubedWork || c.Arrival != sim.Poisson ||
			math.Abs(float64(c.Interval)-want) > 1e-5*want {
			t.Errorf("class %d is %+v, want an interval of %v", k+1, c, time.Duration(want))
		}
	}
}

func checkPublished(t *testing.T, e *table, got *scenario.Experiment) {
	var want []scenario.Published
	for k, p := range policies {
		if got.Placements[k] != p.spec {
			t.Errorf("policy %d is %s, want %s", k+1, got.Placements[k], p.spec)
		}
		if e.testbed[k][4] > 0 {
			want = append(want, scenario.Published{Placement: p.spec, Response: e.testbed[k][:]})
		}
	}
	equal := slices.EqualFunc(got.Published, want, func(a, b scenario.Published) bool {
		return a.Placement == b.Placement && slices.Equal(a.Response, b.Response)
	})
	if !equal || len(got.Placements) != len(policies) {
		t.Errorf("published of %d policies %v, want %v", len(got.Placements), got.Published, want)
	}
}
