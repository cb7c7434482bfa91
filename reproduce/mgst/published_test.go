package mgst

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/spectable"
)

const root = "../.."

// specified are the tables of a section of docs/spec/mgst.md.
func specified(t *testing.T, section string) [][][]string {
	t.Helper()
	return spectable.Read(t, root, "mgst.md", section)
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestSystems: the rates are those of Tables 7.1, 7.12 and 7.17, and of the stand-in for
// 7.22; machines of 21 repeat the seven groups.
func TestSystems(t *testing.T) {
	tables := specified(t, "7.1 Systems")
	for i, s := range []*system{hiHi, loHi, hiLo, loLo} {
		rows := tables[i][1:]
		if len(rows) != len(s.mu) || len(rows) != len(s.alpha) {
			t.Fatalf("%s has %d classes, specified are %d", s.name, len(s.mu), len(rows))
		}
		for class, row := range rows {
			groups := len(row) - 1
			for j, got := range s.mu[class] {
				if want := number(t, row[1+j%groups]); got != want {
					t.Errorf("%s, class %d, machine %d: %v, specified is %v", s.name, class+1, j+1, got, want)
				}
			}
		}
	}
	for _, tt := range []struct {
		system   *system
		machines int
		alpha    []float64
	}{
		{hiHi, 6, []float64{2.25, 4.5, 7.2, 12.6}}, {loHi, 21, []float64{22.5, 22.5, 18, 18}},
		{hiLo, 21, []float64{10.5, 21, 26.25, 26.25}}, {loLo, 21, []float64{18, 20.25, 15.75, 22.5}},
	} {
		if len(tt.system.mu[0]) != tt.machines || !slices.Equal(tt.system.alpha, tt.alpha) {
			t.Errorf("%s: %d machines, arrivals %v", tt.system.name, len(tt.system.mu[0]), tt.system.alpha)
		}
	}
	part := map[int]float64{2: .5, 11: .5, 19: .5, 3: .75, 12: .75, 20: .75}
	for j, a := range partOfSix {
		if want, there := part[j+1]; there && a != want || !there && a != 1 {
			t.Errorf("machine %d: availability %v", j+1, a)
		}
	}
}

// fcfsLoad is FCFS's load: a machine takes classes as they arrive.
func fcfsLoad(s *system, available []float64) float64 {
	all, capacity := 0., 0.
	for _, a := range s.alpha {
		all += a
	}
	for j := range s.mu[0] {
		mean := 0. // execution time of a job of any class
		for i, a := range s.alpha {
			mean += a / all / s.mu[i][j]
		}
		part := 1.
		if available != nil {
			part = available[j]
		}
		capacity += part / mean
	}
	return all / capacity
}

// TestLoads: the ideal loads of each system and FCFS's, of which the text prints .673 and
// 86.4 %, and which say where N/A is to be expected.
func TestLoads(t *testing.T) {
	rows := specified(t, "7.1 Systems")[4][1:]
	at := 0
	for _, s := range []struct {
		system *system
		part   []float64
	}{{hiHi, halfOfThree}, {loHi, partOfSix}, {hiLo, partOfSix}, {loLo, partOfSix}} {
		for _, available := range [][]float64{nil, s.part} {
			row := rows[at]
			at++
			got, err := solve(s.system.alpha, s.system.mu, available)
			if err != nil {
				t.Fatal(err)
			}
			if row[0] != s.system.name || math.Abs(got.Lambda-number(t, row[2])) > 1e-6 ||
				math.Abs(got.load()-number(t, row[3])) > 1e-6 {
				t.Errorf("%s, %v: lambda %.6f, load %.6f; specified are %v", s.system.name, available, got.Lambda,
					got.load(), row)
			}
			if f, _, _ := strings.Cut(row[4], ","); f != "" && math.Abs(fcfsLoad(s.system, available)-number(t, f)) > 1e-4 {
				t.Errorf("%s, %v: FCFS has %.4f, specified is %s", s.system.name, available,
					fcfsLoad(s.system, available), f)
			}
		}
	}
	for up, want := range map[float64]float64{50: .969, 20: 1.025} {
		if got := fcfsLoad(hiHi, nil) * (up + meanDown) / up; math.Abs(got-want) > 5e-4 {
			t.Errorf("FCFS with a mean of %v up has %.4f, want %v", up, got, want)
		}
	}
}

// printedEnds reads an interval as the specification writes it: .56-.57, or .18 where
// both ends print alike.
func printedEnds(t *testing.T, s string) ends {
	low, high, two := strings.Cut(s, "-")
	if !two {
		high = low
	}
	return ends{number(t, "0"+strings.TrimPrefix(low, "0")), number(t, "0"+strings.TrimPrefix(high, "0"))}
}

// TestResults: the published means of all experiments, policies and classes, 180
// intervals and 160 figures of the testbed, are those of Tables 7.2 to 7.30.
func TestResults(t *testing.T) {
	specifiedTables := specified(t, "7.2 Experiments")
	simulated, testbed := specifiedTables[0][1:], specifiedTables[1][1:]
	if len(simulated) != len(tables) || len(testbed) != len(tables) {
		t.Fatalf("%d and %d experiments are specified, %d are here", len(simulated), len(testbed), len(tables))
	}
	for i := range tables {
		e := &tables[i]
		if "exp"+simulated[i][0] != e.name || "exp"+testbed[i][0] != e.name {
			t.Errorf("row %d is experiments %s and %s, not %s", i, simulated[i][0], testbed[i][0], e.name)
		}
		for k := range policies {
			want := none5
			if cell := simulated[i][1+k]; cell != "N/A" {
				for class, s := range strings.Fields(cell) {
					want[class] = printedEnds(t, s)
				}
			}
			if e.simulated[k] != want {
				t.Errorf("%s, %s: %v, specified is %v", e.name, policies[k].name, e.simulated[k], want)
			}
			measured := [5]float64{}
			if cell := testbed[i][1+k]; cell != "N/A" {
				for class, s := range strings.Fields(cell) {
					measured[class] = number(t, "0"+s)
				}
			}
			if e.testbed[k] != measured {
				t.Errorf("%s, %s: %v on the testbed, specified is %v", e.name, policies[k].name, e.testbed[k], measured)
			}
		}
	}
}

// TestExperiments: which system, parts and failures an experiment has, and which of its
// systems are not stable.
func TestExperiments(t *testing.T) {
	for i, e := range tables {
		n := i + 1
		wantSystem := []*system{hiHi, hiHi, hiHi, hiHi, loHi, loHi, hiLo, hiLo, loLo, loLo, loLo, loLo}[i]
		fails := slices.Contains([]int{3, 4, 11, 12}, n)
		if e.system != wantSystem || (e.available != nil) != (n%2 == 0) || e.fails != fails {
			t.Errorf("experiment %d: %s, parts %v, fails %v", n, e.system.name, e.available, e.fails)
		}
		r := &rerun{table: &e}
		for k := range policies {
			if want := k == 2 && (n == 2 || n == 4); r.unstable(k) != want {
				t.Errorf("experiment %d, %s: unstable %v", n, policies[k].name, r.unstable(k))
			}
			// What is not stable is printed as N/A; experiment 3 is, and is stable.
			if na := e.simulated[k] == none5; na != (k == 2 && n >= 2 && n <= 4) {
				t.Errorf("experiment %d, %s: N/A %v", n, policies[k].name, na)
			}
		}
		for k, want := range []float64{longUnits, longUnits, slowUnits} {
			if e.system != hiHi {
				want = manyUnits
			}
			if got := r.units(k); got != want {
				t.Errorf("experiment %d, %s: %v time units, want %v", n, policies[k].name, got, want)
			}
		}
	}
	minutes := []string{"[2 2 5]", "[3 2.9 2.1]", "[3 4 4]", "[2.8 3 3]"}
	for i, e := range tables {
		want := "[2 2 2]"
		if i < len(minutes) {
			want = minutes[i]
		}
		if got := fmt.Sprint(e.minutes); got != want {
			t.Errorf("%s: a time unit took %s minutes, want %s", e.name, got, want)
		}
	}
}

// TestTestbedLengths: the testbed's runs are as long as printed, wherever a figure is
// published, and nowhere else.
func TestTestbedLengths(t *testing.T) {
	rows := specified(t, "7.2 Experiments")[2][1:]
	if len(rows) != len(tables) {
		t.Fatalf("%d experiments are specified, %d are here", len(rows), len(tables))
	}
	for i, row := range rows {
		e := &tables[i]
		for k := range policies {
			want := 0.
			if e.testbed[k][4] > 0 {
				want = number(t, row[1+k])
			}
			if "exp"+row[0] != e.name || e.ran[k] != want {
				t.Errorf("%s, %s: %v time units, specified are %v", e.name, policies[k].name, e.ran[k], row)
			}
		}
	}
}
