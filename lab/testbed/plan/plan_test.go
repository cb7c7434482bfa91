package plan

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/sim"
	"godwit/trace"
)

// The shipped scenarios are plans: every policy has the same jobs, as often as the
// thesis says, and the machines of the file are the nodes.
func TestBedPlans(t *testing.T) {
	f := Options{Classes: true, Scenario: filepath.Join("..", "..", "..", "examples", "scenarios", "mgst2.yaml"),
		Speedup: 600, Minutes: 4, Ends: EndAsTraced}
	plans, err := f.Plans(0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) != 3 || plans[0].Placement != "lpas" || plans[0].Published == nil || plans[2].Published != nil {
		t.Fatalf("%d plans, the first of %s", len(plans), plans[0].Placement)
	}
	perClass := map[string]int{}
	for _, p := range plans {
		if len(p.Scenario.Trace.Hosts) != 6 || !slices.Equal(p.Jobs, plans[0].Jobs) ||
			p.Scenario.End.Sub(p.Scenario.Start) != 6*time.Hour {
			t.Errorf("%s: %d hosts and %d jobs in %v", p.Placement, len(p.Scenario.Trace.Hosts), len(p.Jobs),
				p.Scenario.End.Sub(p.Scenario.Start))
		}
	}
	for _, j := range plans[0].Jobs {
		perClass[j.Class]++
		if j.Work < 9*time.Minute || j.Work > 11*time.Minute {
			t.Errorf("a job of %v", j.Work)
		}
	}
	for class, alpha := range map[string]float64{"1": 2.25, "2": 4.5, "3": 7.2, "4": 12.6} {
		if n, mean := float64(perClass[class]), 36*alpha; math.Abs(n-mean) > 4*math.Sqrt(mean) {
			t.Errorf("class %s: %v jobs, %v are to come", class, n, mean)
		}
	}
	// Half of machine 4.
	if got, want := plans[0].Bed.Speed(3, 3), 5.9/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("class 4 goes at %v of its work on machine 4, want %v", got, want)
	}
	if other, err := f.Plans(0, 1, 2); err != nil || slices.Equal(other[0].Jobs, plans[0].Jobs) {
		t.Errorf("another seed draws the same jobs (%v)", err)
	}
	f.Classes = false
	if _, err := f.Plans(5, 1, 1); err == nil || !strings.Contains(err.Error(), "the scenario has rates of classes") {
		t.Errorf("replayed as a trace: %v", err)
	}
}

// A set of jobs that is read is the one that was written.
func TestArrivalsFile(t *testing.T) {
	s := &sim.Scenario{Start: day0, End: day0.Add(time.Hour), Seed: 3, Workload: sim.Workload{Classes: []sim.Class{
		{Name: "a, or b", Work: time.Minute, WorkLaw: sim.Exponential, Arrival: sim.Poisson, Interval: time.Minute},
		{Name: "c", Work: time.Second, Arrival: sim.Every, Interval: 7 * time.Minute, Tasks: 3},
	}}}
	jobs, err := drawn(s)
	if err != nil || len(jobs) < 40 {
		t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	tasks := 0
	for _, j := range jobs {
		tasks += j.Tasks
	}
	if n := len(jobs); tasks != n+2*9 { // c at 0, 7, ... 56 minutes
		t.Errorf("%d tasks of %d jobs", tasks, n)
	}
	file := filepath.Join(t.TempDir(), ArrivalsFile)
	var text bytes.Buffer
	if err := WriteArrivals(&text, jobs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := (&Options{JobsFile: file}).arriving(s, true)
	if err != nil || !slices.Equal(got, jobs) {
		t.Errorf("%d jobs became %d others (%v)", len(jobs), len(got), err)
	}
	half, err := readArrivals(bytes.NewReader(text.Bytes()), s.Workload.Classes, 30*time.Minute)
	if n := slices.IndexFunc(jobs, func(j Job) bool { return j.At >= 30*time.Minute }); err != nil || len(half) != n {
		t.Errorf("%d jobs in the first half, want %d (%v)", len(half), n, err)
	}
	const head = "at_ns,class,tasks,work_ns\n"
	for bad, want := range map[string]string{
		"at,class,tasks,work\n":      "line 1: it begins with",
		head + "1,z,1,1\n":           `line 2: the scenario has no class "z"`,
		head + "1,c,0,1\n":           "line 2: a job comes at 0 or later",
		head + "-1,c,1,1\n":          "line 2: a job comes at 0 or later",
		head + "x,c,1,1\n":           "invalid syntax",
		head + "2,c,1,1\n1,c,1,1\n":  "line 3: it comes before",
		head + "2,c,1\n":             "wrong number of fields",
		head + "9e99,c,1,1,1\n":      "wrong number of fields",
		head + "1,c,99999999999,1\n": "line 2: a job comes at 0 or later",
	} {
		if _, err := readArrivals(strings.NewReader(bad), s.Workload.Classes, time.Hour); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", bad, err, want)
		}
	}
}

// TestDrawnFailures draws the times of a shipped scenario, and of one that has none by laws that are given.
func TestDrawnFailures(t *testing.T) {
	file := func(name string) string { return filepath.Join("..", "..", "..", "examples", "scenarios", name) }
	options := Options{Classes: true, Scenario: file("mgst3.yaml"), Speedup: 600, Minutes: 4, Ends: EndAsTraced}
	plans, err := options.Plans(0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := (&Failures{Scenario: file("mgst3.yaml")}).Draw()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := written(t, drawn), written(t, plans[0].Scenario.Trace); got != want {
		t.Errorf("the times drawn are not those of a run:\n%s\nwant\n%s", got, want)
	}
	fixed := &Failures{Scenario: file("mgst1.yaml"), Up: 100 * time.Minute, Down: 20 * time.Minute, UpLaw: sim.Fixed,
		DownLaw: sim.Fixed, Seed: 2, SeedGiven: true}
	if drawn, err = fixed.Draw(); err != nil {
		t.Fatal(err)
	}
	// Each machine is down from minutes 100 to 120, 220 to 240 and 340 to the end at 360.
	if n := CountFailures(drawn); n != 3*6 || drawn.End.Sub(drawn.Start) != 6*time.Hour {
		t.Errorf("%d failures in %v, want 18 in 6h", n, drawn.End.Sub(drawn.Start))
	}
	for _, bad := range []Failures{{Scenario: file("koala-two.yaml")}, {Scenario: file("mgst1.yaml"), Up: time.Hour},
		{Scenario: file("mgst1.yaml"), UpLaw: "weibull"}, {Scenario: file("mgst3.yaml"), UpLaw: "gauss"}} {
		if _, err := bad.Draw(); err == nil {
			t.Errorf("%+v was drawn", bad)
		}
	}
}

// written is a trace's times up.
func written(t *testing.T, tr *trace.Trace) string {
	var b bytes.Buffer
	if err := trace.Write(&b, tr, trace.Sessions); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
