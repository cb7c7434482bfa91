package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"godwit/sim"
)

// made is a report of a run that nobody ran.
func made(policy, migration string, seed uint64, succeeded, failed uint64) *sim.Report {
	success := 100 * float64(succeeded) / float64(succeeded+failed)
	return &sim.Report{
		Setup: sim.Setup{Policy: policy, Migration: migration, Trace: "by hand", Depth: "policies",
			Hosts: 4, Days: 2, Seed: seed},
		Counts: sim.Counts{Arrived: succeeded + failed + 1, Allocated: succeeded + failed, Succeeded: succeeded,
			Failed:     failed,
			Unfinished: 1,
			SuccessPct: &success},
		HostTime: sim.HostTime{UsefulS: 3600 * float64(succeeded), WastedS: 1800 * float64(failed), IdleS: 7200},
		Response: sim.Spread{N: succeeded, Mean: 700, P50: 600, P95: 1200.04, P99: 5000, Max: 5000},
		Makespan: sim.Spread{N: succeeded, Mean: 42.3}, BytesMoved: 3 << 20,
	}
}

func TestEstimate(t *testing.T) {
	// Table 1 of any textbook: t of 4 degrees of freedom at 97.5 % is 2.776.
	e := NewEstimate([]float64{1, 2, math.NaN(), 3, 4, 5})
	std := math.Sqrt(2.5)
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"mean", e.Mean, 3}, {"std", e.Std, std}, {"half", e.Half(), 2.776445 * std / math.Sqrt(5)},
		{"margin", e.Margin(), 1.96 * std / math.Sqrt(5)},
	} {
		if math.Abs(tt.got-tt.want) > 1e-5 {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if e.N != 5 {
		t.Errorf("N is %d", e.N)
	}
	if one := NewEstimate([]float64{7}); one.Mean != 7 || !math.IsNaN(one.Half()) {
		t.Errorf("one value: %+v, ± %v", one, one.Half())
	}
	if none := NewEstimate(nil); !math.IsNaN(none.Mean) || none.N != 0 {
		t.Errorf("no value: %+v", none)
	}
}

// Rows of several depths say theirs.
func TestDepths(t *testing.T) {
	live := made("fcfs", "none", 1, 10, 10)
	live.Depth = "live"
	var b bytes.Buffer
	if err := Table(&b, []*sim.Report{live, made("fcfs", "none", 1, 14, 10)}, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"by hand: 4 hosts, 2 days\n", "POLICY  MIGRATION  DEPTH     ARRIVED",
		"fcfs    none       live      21 ", "fcfs    none       policies  25 "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in\n%s", want, b.String())
		}
	}
}

func TestTable(t *testing.T) {
	d := 75.0
	moving := made("fcfs", "pspp", 1, 30, 10)
	moving.Prediction = &sim.Prediction{CP1: 3, CP2: 5, FA: 1, MD: 1, Exits: 4, Missed: 1, Detection: &d}
	moving.Differences = []string{"transfers take no time"}
	again := *moving
	again.Seed = 2
	var b bytes.Buffer
	reports := []*sim.Report{made("fcfs", "", 1, 10, 10), made("fcfs", "", 2, 14, 10), moving, &again}
	if err := Table(&b, reports, Options{Notes: []string{"mind this"}}); err != nil {
		t.Fatal(err)
	}
	want := `by hand: 4 hosts, 2 days, depth: policies
means of 2 runs, seeds 1 2; ± is the 95 % interval by Student's t

POLICY  MIGRATION  ARRIVED     A           S           F      RETURNED  UNFINISHED  IMPOSSIBLE  SUCCESS-%   PROCESS-%
fcfs    none       23.0 ±25.4  22.0 ±25.4  12.0 ±25.4  10 ±0  0 ±0      1 ±0        0 ±0        54.2 ±52.9  -
fcfs    pspp       41 ±0       40 ±0       30 ±0       10 ±0  0 ±0      1 ±0        0 ±0        75.0 ±0     -

POLICY  MIGRATION  USEFUL-H    WASTED-H  IDLE-H  PENDING-H  UTILISATION-%
fcfs    none       12.0 ±25.4  5.0 ±0    2.0 ±0  0.0 ±0     -
fcfs    pspp       30.0 ±0     5.0 ±0    2.0 ±0  0.0 ±0     -

POLICY  MIGRATION  RESPONSE   P50       P95       P99          MAX          MAKESPAN
fcfs    none       11m40s ±0  10m0s ±0  20m0s ±0  1h23m20s ±0  1h23m20s ±0  42.3s ±0
`
	got := strings.Split(b.String(), "\n")
	for i, line := range strings.Split(strings.TrimSpace(want), "\n") {
		if strings.TrimRight(got[i], " ") != line {
			t.Errorf("line %d:\n%s\n%s", i, got[i], line)
		}
	}
	for _, part := range []string{"CP1", "3 ±0  5 ±0",
		"\nmind this\nDifferences from the live rules:\n  transfers take no time\n", "3MiB ±0"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("%s is not in\n%s", part, b.String())
		}
	}
	b.Reset()
	if err := Table(&b, reports, Options{Margin: true}); err != nil || !strings.Contains(b.String(), "12.0 ±3.9") ||
		!strings.Contains(b.String(), "Eq 7.5") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestFindSweep(t *testing.T) {
	for _, tt := range []struct{ policies, migrations, want string }{
		{"fcfs", "none", "bars"},
		{"fcfspp:n=1 fcfspp:n=2", "none", "bars"},
		{"fcfspp:n=6 fcfs fcfspp:n=1 fcfspp:n=2", "none", "n: fcfspp[1 2 6] and fcfs"},
		{"fcfspp:n=1,t=0.5 fcfspp:n=2,t=0.5 fcfspp:t=0.5,n=10", "none pspp",
			"n: fcfspp:t=0.5[1 2 10] fcfspp:t=0.5 + pspp[1 2 10] and"},
		{"flp:interval=10m flp:interval=30m flp:interval=1h", "none", "interval (hours): flp[0.16666666666666666 0.5 1] and"},
		{"fcfs", "pspp:n=1 pspp:n=2 pspp:n=3", "n: fcfs + pspp[1 2 3] and"},
		{"fcfspp:n=1,t=1 fcfspp:n=2,t=2 fcfspp:n=3,t=3", "none", "bars"},
		{"fcfspp:reading=prefix fcfspp:reading=fraction fcfspp:reading=transitional", "none", "bars"},
	} {
		var groups []Group
		for _, p := range strings.Fields(tt.policies) {
			for _, m := range strings.Fields(tt.migrations) {
				groups = append(groups, Group{Policy: p, Migration: m})
			}
		}
		got := "bars"
		if s := findSweep(groups); s != nil {
			got = s.param
			if s.hours {
				got += " (hours)"
			}
			got += ":"
			for _, l := range s.series {
				got += fmt.Sprint(" ", l.name, l.x)
			}
			got += " and"
			for _, g := range s.fixed {
				got += " " + g.name()
			}
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.policies, got, tt.want)
		}
	}
}
