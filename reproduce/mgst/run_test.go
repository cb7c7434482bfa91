package mgst

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// TestFailures: machines are up for 50 time units and down for 2 in the mean, each by
// itself, and the same with equal seeds.
func TestFailures(t *testing.T) {
	e := &rerun{table: &table{system: loHi, fails: true}}
	const units = 20_000
	set, err := e.machines(units, 1)
	if err != nil {
		t.Fatal(err)
	}
	up, down, failures := time.Duration(0), time.Duration(0), 0
	for _, h := range set.Hosts {
		for i := range h.History.Len() {
			s := h.History.Spell(i)
			if s.State == trace.Available {
				up += s.Length()
			} else {
				down += s.Length()
				failures++
			}
		}
	}
	if got := up.Hours() / float64(failures); math.Abs(got/meanUp-1) > .03 {
		t.Errorf("up for %v in the mean, want %v", got, meanUp)
	}
	if got := down.Hours() / float64(failures); math.Abs(got/meanDown-1) > .03 {
		t.Errorf("down for %v in the mean, want %v", got, meanDown)
	}
	again, _ := e.machines(units, 1)
	other, _ := e.machines(units, 2)
	first := func(set *trace.Trace, machine int) time.Time { return set.Hosts[machine].History.Spell(0).End }
	if first(again, 3) != first(set, 3) || first(other, 3) == first(set, 3) || first(set, 2) == first(set, 3) {
		t.Errorf("failures do not follow from seed and machine alone: %v, %v, %v, %v", first(set, 3), first(again, 3),
			first(other, 3), first(set, 2))
	}
}

// TestScenario: arrivals, rates and parts of a run are the experiment's; the first tenth
// is not counted.
func TestScenario(t *testing.T) {
	for i := range tables {
		e := &rerun{table: &tables[i]}
		s, err := e.scenario("lpas", simulated, 1000, 3)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		if s.Warmup != 100*timeUnit || s.Seed != 3 || s.Trace.End.Sub(s.Trace.Start) != 1000*timeUnit ||
			len(s.Trace.Hosts) != len(e.system.mu[0]) || len(s.Workload.Classes) != 4 ||
			!slices.Equal(s.Rates.Availability, e.available) {
			t.Errorf("%s: %+v", e.name, s)
		}
		for k, c := range s.Workload.Classes {
			perUnit := float64(timeUnit) / float64(c.Interval)
			if math.Abs(perUnit/e.system.alpha[k]-1) > 1e-6 || c.Arrival != sim.Poisson || c.Work != timeUnit {
				t.Errorf("%s, class %s: %v jobs a time unit, want %v", e.name, c.Name, perUnit, e.system.alpha[k])
			}
		}
	}
}

// TestOverhead: on the testbed a job occupies its machine for the policy's seconds more,
// whatever a time unit is, and nothing of a run is left out.
func TestOverhead(t *testing.T) {
	for _, tt := range []struct {
		minutes float64
		want    [3]float64 // time units
	}{{2, [3]float64{4. / 120, .025, .0125}}, {3, [3]float64{4. / 180, 1. / 60, 1. / 120}}} {
		e := &rerun{table: &table{minutes: [3]float64{tt.minutes, tt.minutes, tt.minutes}}}
		for policy, want := range tt.want {
			w := e.emulated(policy)
			if got := w.overhead.Hours() / timeUnit.Hours(); math.Abs(got-want) > 1e-9 || w.warmup != 0 {
				t.Errorf("%v minutes, %s: %v time units, want %v; %v of a run is left out", tt.minutes, policies[policy].name, got,
					want, w.warmup)
			}
		}
	}
	if simulated.overhead != 0 || simulated.warmup == 0 {
		t.Errorf("simulated jobs have an overhead of %v, and %v of a run is left out", simulated.overhead, simulated.warmup)
	}
}

// TestShortRuns: a fortieth of the runs of experiments of all systems comes within a few
// parts in twenty of the printed mean of all jobs.
func TestShortRuns(t *testing.T) {
	for _, tt := range []struct {
		experiment, policy int
		off                float64
	}{{1, 2, .35}, {3, 0, .2}, {3, 1, .2}, {5, 0, .1}, {5, 1, .1}, {5, 2, .1}, {7, 1, .1}, {9, 0, .1}, {9, 1, .1},
		{11, 2, .1}} {
		e := &rerun{table: &tables[tt.experiment-1]}
		batch := (&bench{&reproduce.Bench{}}).Batch()
		var got response
		if err := e.repeat(batch, policies[tt.policy].spec, simulated, 2, 250, 1, &got); err != nil {
			t.Fatal(err)
		}
		if err := batch.Run(); err != nil {
			t.Fatal(err)
		}
		printed := e.simulated[tt.policy][4].high
		if mean, _ := reproduce.Interval(got[4]); math.Abs(mean/printed-1) > tt.off {
			t.Errorf("%s, %s: the mean is %.3f, printed %.2f", e.name, policies[tt.policy].name, mean, printed)
		}
	}
}

// column is what a policy has that takes so long for each class and all jobs, in every run.
func column(runs int, means ...float64) policyColumn {
	var c policyColumn
	for i, m := range means {
		c.simulated[i] = slices.Repeat([]float64{m}, runs)
	}
	return c
}

func TestJudgeColumns(t *testing.T) {
	with := func(c policyColumn, testbed ...float64) policyColumn {
		c.testbed[4] = testbed
		return c
	}
	asPrinted := column(3, .565, .335, .18, .11, .205)
	late := column(3, .565, .335, .18, .11, .25)
	far := column(3, 1.31, 1, 1, 1, 1.03)
	unstable := func(longer, testbed, testbedLonger float64) policyColumn {
		c := with(column(2, 0, 0, 0, 0, 10), testbed)
		c.longer[4], c.testbedLonger[4] = []float64{longer, longer}, []float64{testbedLonger}
		return c
	}
	loLoAsPrinted := column(3, .25, .23, .23, .215, .23)
	loLoAsPrinted.simulated[0] = []float64{.22, .22, .22}
	for _, tt := range []struct {
		name               string
		experiment, policy int
		column             policyColumn
		want               string // verdicts in the order of cells
		unexplained        bool   // of the last cell
	}{
		{"as printed", 1, 0, with(asPrinted, .24, .24), "equal equal equal equal equal within", false},
		{"all jobs are late", 1, 0, with(late, .24, .24), "equal equal equal equal differs within", false},
		{"a testbed a fifth slower", 1, 2, with(far, 1.19), "equal equal equal equal equal within", false},
		{"a testbed more than a fifth slower", 1, 2, with(far, 1.21), "equal equal equal equal equal differs", true},
		{"a mean beyond a fifth, with the published figure between runs", 1, 2, with(far, .9, 1.8),
			"equal equal equal equal equal differs", false},
		{"a testbed figure beyond a fifth, for a known reason", 12, 2, with(column(3, .26, .26, .27, .26, .26), .28),
			"equal equal equal equal equal differs", false},
		{"the figure that Gc-mu's overhead is fitted to", 8, 1, with(column(3, .645, .35, .24, .145, .29), .456),
			"equal equal equal equal equal fitted", false},
		{"the figure that FCFS's overhead is fitted to, far off", 8, 2, with(column(3, .62, .37, .28, .205, .32), .2),
			"equal equal equal equal equal differs", true},
		{"LPAS_DG of the same experiment", 8, 0, with(column(3, .795, .42, .27, .19, .35), .717),
			"equal equal equal equal equal within", false},
		{"the column that rates are fitted to", 9, 0, with(loLoAsPrinted, .27),
			"differs fitted fitted fitted fitted within", false},
		{"not stable, and grows", 2, 2, unstable(20, 4, 8), "direction direction", false},
		{"not stable, and grows on the testbed alone", 2, 2, unstable(11, 4, 8), "differs direction", false},
		{"not stable, and does not grow on the testbed", 2, 2, unstable(20, 4, 5), "direction differs", true},
		{"stable, where the text prints N/A", 3, 2, unstable(0, 4, 8), "differs direction", false},
	} {
		b := &bench{&reproduce.Bench{}}
		e := &rerun{table: &tables[tt.experiment-1]}
		e.introduce(b)
		e.judge(b, tt.policy, &tt.column)
		var got []string
		for _, c := range b.Cells {
			got = append(got, string(c.Verdict))
			if !strings.HasPrefix(c.Cell, policies[tt.policy].name+", ") {
				t.Errorf("%s: cell %s", tt.name, c.Cell)
			}
		}
		if strings.Join(got, " ") != tt.want || b.Cells[len(b.Cells)-1].Unexplained() != tt.unexplained {
			t.Errorf("%s: %v, want %s; %+v", tt.name, got, tt.want, b.Cells[len(b.Cells)-1])
		}
	}
}

// TestCompare: LPAS_DG is published as best in experiments 1 to 4, with machines and jobs
// that differ much, and nowhere else.
func TestCompare(t *testing.T) {
	for i := range tables {
		for _, lpasFirst := range []bool{true, false} {
			columns := []policyColumn{column(2, 0, 0, 0, 0, 1), column(2, 0, 0, 0, 0, 2), column(2, 0, 0, 0, 0, 3)}
			if !lpasFirst {
				columns[0], columns[1] = columns[1], columns[0]
			}
			b := &bench{&reproduce.Bench{}}
			(&rerun{table: &tables[i]}).compare(b, columns)
			published := "no"
			if i < 4 {
				published = "yes"
			}
			holds := (published == "yes") == lpasFirst
			c := b.Cells[0]
			if c.Published != published || (c.Verdict == reproduce.Direction) != holds {
				t.Errorf("experiment %d, LPAS_DG best %v: %+v", i+1, lpasFirst, c)
			}
		}
	}
}

// TestIntroduce: what is judged by another value than the text's is said beside each of
// its figures.
func TestIntroduce(t *testing.T) {
	for i := range tables {
		b := &bench{&reproduce.Bench{Options: reproduce.Options{Seed: 9}}}
		e := &rerun{table: &tables[i]}
		e.introduce(b)
		want := ""
		switch n := i + 1; {
		case n == 3 || n == 4:
			want = "mean time to failure of 50"
		case n >= 9:
			want = "Table 7.22 prints the rates of Table 7.17 again"
		}
		if !strings.Contains(e.note, want) || (e.note == "") != (want == "") {
			t.Errorf("experiment %d: %q, want %q", i+1, e.note, want)
		}
		machines := fmt.Sprintf("%d machines", len(e.system.mu[0]))
		if len(b.Setup) != 3 || !strings.Contains(b.Setup[0], machines) || !strings.Contains(b.Setup[0], "seeds from 9") {
			t.Errorf("experiment %d: %q", i+1, b.Setup)
		}
	}
}
