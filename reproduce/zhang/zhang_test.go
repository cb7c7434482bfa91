package zhang

import (
	"strings"
	"sync"
	"testing"

	"godwit/reproduce"
)

// obtain runs an experiment of Experiments and returns what it obtained by cell; every
// cell must be equal, and there must be so many.
func obtain(t *testing.T, name string, cells int) map[string]string {
	t.Helper()
	es, err := reproduce.Select(Experiments(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	r, err := es[0].Run(reproduce.Options{Seed: 1, Each: atOnce})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, c := range r.Cells {
		if c.Verdict != reproduce.Equal {
			t.Errorf("%s: published %s, got %s: %s", c.Cell, c.Published, c.Obtained, c.Verdict)
		}
		if _, twice := out[c.Cell]; twice {
			t.Errorf("%s: two cells have this name", c.Cell)
		}
		out[c.Cell] = c.Obtained
	}
	if len(out) != cells {
		t.Errorf("got %d cells, want %d", len(out), cells)
	}
	return out
}

// atOnce runs everything side by side.
func atOnce(n int, run func(int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { run(i) })
	}
	all.Wait()
}

// want compares some cells with the thesis, or with what docs/spec/zhang.md
// section 11 has where the thesis contradicts itself. A control must also show another
// outcome than the cell that it controls.
func want(t *testing.T, got map[string]string, cells ...string) {
	t.Helper()
	for i := 0; i+1 < len(cells); i += 2 {
		if got[cells[i]] != cells[i+1] {
			t.Errorf("%s: got %q, want %q", cells[i], got[cells[i]], cells[i+1])
		}
	}
}

func TestTableB1(t *testing.T) {
	got := obtain(t, "B.I-1", 50)
	want(t, got,
		"scenario 1, FCFS, day 1, A/S/F", "1/1/0", "scenario 3, FCFSPP, day 1, A/S/F", "1/0/1",
		"scenario 2, FCFS, day 2, A/S/F", "1/0/1", "scenario 2, FCFSPP, day 2, A/S/F", "1/0/1",
		"scenario 4, FCFS, day 2, A/S/F", "1/1/0", "scenario 4, FCFSPP, day 2, A/S/F", "0/0/0",
		"scenario 5, FCFS, day 2, success", "0 %", "scenario 5, FCFSPP, day 2, success", "N/A",
		"scenario 2, FCFSPP, day 2, utilisation", "100 %", "scenario 3, FCFSPP, day 2, utilisation", "0 %",
	)
}

func TestTableB2B3(t *testing.T) {
	got := obtain(t, "B.I-2", 49)
	for i, c := range []struct{ dt, rho, fcfspp string }{
		{"-9", "0.378", "0/0/0"}, {"-6", "0.577", "1/1/0"}, {"-3", "0.775", "1/1/0"}, {"0", "1.000", "2/2/0"},
		{"3", "0.775", "2/2/0"}, {"6", "0.577", "3/2/1"}, {"9", "0.378", "3/2/1"},
	} {
		at := "scenario " + string(rune('1'+i)) + " (dt = " + c.dt + " h), "
		want(t, got, at+"rho", c.rho, at+"FCFS, A/S/F", "3/2/1", at+"FCFSPP, A/S/F", c.fcfspp,
			at+"FCFSPP read as prefix, A/S/F", c.fcfspp)
	}
}

func TestTableB4(t *testing.T) {
	got := obtain(t, "B.II", 52)
	want(t, got,
		"scenario 1, FLP, A/S/F", "1/1/0", "scenario 2, FLP, A/S/F", "1/1/0", "scenario 3, FLP, A/S/F", "2/1/1",
		"scenario 4, FLP, A/S/F", "2/2/0",
		"scenario 1, RAP at 36 h", "66.7 %", "scenario 4, RAP at 36 h", "91.7 %", "scenario 4, FLP, T at 36 h", "88 %",
		"scenario 1, control FLP, T adjusted from t = 0, T at 36 h", "66 %", "scenario 3, FLP has the highest success", "no",
	)
	for _, c := range []struct{ scenario, control string }{
		{"3", "days read by Eq 4.1"}, {"4", "days read by Eq 4.1"},
		{"1", "days read as Fraction, not cut at midnight"}, {"2", "days read as Fraction, not cut at midnight"},
		{"1", "T adjusted from t = 0"}, {"2", "T adjusted from t = 0"},
	} {
		at := "scenario " + c.scenario + ", "
		if a, b := got[at+"FLP, A/S/F"], got[at+"control FLP, "+c.control+", A/S/F"]; a == b {
			t.Errorf("scenario %s, %s: both are %s", c.scenario, c.control, a)
		}
	}
}

func TestTableB5(t *testing.T) {
	got := obtain(t, "B.III", 10)
	for i, c := range []string{"0/1/0/0", "0/0/0/1", "1/0/0/0", "0/0/1/0", "1/0/0/0"} {
		want(t, got, "scenario "+string(rune('1'+i))+", CP1/CP2/MD/FA", c)
	}
	want(t, got, "scenario 2, control with the days swapped, CP1/CP2/MD/FA", "0/0/1/0",
		"scenario 4, control with the days swapped, CP1/CP2/MD/FA", "0/0/0/1")
}

func TestFigureB20(t *testing.T) {
	got := obtain(t, "B.IV", 6)
	for i, c := range []string{"0/2/0/0", "0/0/1/0", "1/0/0/0", "0/1/0/1", "0/0/1/0"} {
		want(t, got, "scenario "+string(rune('1'+i))+", CP1/CP2/MD/FA", c)
	}
	want(t, got, "scenario 5, control with scans each 30 min, CP1/CP2/MD/FA", "1/1/0/0")
}

func TestSection741(t *testing.T) {
	got := obtain(t, "E6", 37)
	want(t, got,
		"scenario 3 (a job each 8 h), FLP, A/S/F", "2/2/0", "scenario 3 (a job each 8 h), FLP, makespan", "12 h",
		"scenario 3 (a job each 8 h), PSOPP, A/S/F", "3/1/0", "scenario 3 (a job each 8 h), PSOPP, makespan", "16 h",
		"scenario 3 (a job each 8 h), PSOPP, job process percentage", "33.3 %",
		"scenario 1 (a job each 16 h), FCFS, A/S/F", "1/1/0", "scenario 1, control with arrivals counted from 24 h, FCFS, "+
			"A/S/F", "2/1/0",
	)
}

func TestSection742(t *testing.T) {
	got := obtain(t, "E7", 24)
	at := []string{"scenario 1 (2 and 1 GHz throughout), ", "scenario 2 (2 and 1 GHz until 36 h, then 1 and 2), "}
	want(t, got, at[0]+"FCFS, jobs go to", "r1 r2", at[0]+"FCFS, A/S/F", "2/1/0", at[0]+"PSOPP, A/S/F", "2/2/0",
		at[0]+"PSOPP, jobs go to", "r1 r1",
		at[1]+"FCFSPP, A/S/F", "2/2/0", at[1]+"PSOPP, A/S/F", "2/1/0", at[1]+"PSOPP, jobs go to", "r1 r1",
		at[1]+"PSOPP, job process percentage", "50 %")
}

func TestWorkedExamples(t *testing.T) {
	got := obtain(t, "worked", 25)
	want(t, got, "section 4.2.5: RAP 0.7, 1.5 GHz, third job there", "1.2", "section 4.2.3: RAP 80 %, T 70 %", "qualified",
		"section 4.2.3: control, RAP 80 %, T 90 %", "not qualified",
		"section 7.3: FLP at 10 min, T = 30 %, A/S/F", "1/0/1", "Eq 4.1: window 180, job 60: gap at 70-80", "0.667")
}

// TestNames: experiments are selected by names of their own, and figures have
// names for files.
func TestNames(t *testing.T) {
	all := Experiments()
	seen := map[string]bool{}
	for _, e := range all {
		if e.Title == "" || e.Where == "" || e.Do == nil || seen[strings.ToLower(e.Name)] {
			t.Errorf("%+v", e)
		}
		seen[strings.ToLower(e.Name)] = true
	}
	if es, err := reproduce.Select(all, []string{"e2", "b.ii"}); err != nil || len(es) != 2 || es[0].Name != "B.II" ||
		es[1].Name != "E2" {
		t.Errorf("got %v, %v: in the order of all", es, err)
	}
	if _, err := reproduce.Select(all, []string{"E99"}); err == nil || !strings.Contains(err.Error(), "B.I-1") {
		t.Errorf("got %v", err)
	}
}
