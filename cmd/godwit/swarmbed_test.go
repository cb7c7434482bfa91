package main

import (
	"bytes"
	"crypto/ed25519"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/sim"
	machines "godwit/sim/swarm"
	"godwit/task"
)

// testBed is one of two classes on three machines, of which the last has half of
// its processor; the second class cannot run on the first.
func testBed() *bed {
	return newBed(&sim.Scenario{
		Workload: sim.Workload{Classes: []sim.Class{
			{Name: "a", Work: 10 * time.Minute, WorkLaw: sim.CubedWork, Arrival: sim.Poisson, Interval: 5 * time.Minute},
			{Name: "b", Work: 5 * time.Minute, Arrival: sim.AtTimes, Times: []time.Duration{0, time.Minute, time.Hour}, Tasks: 2},
		}},
		Rates: &sim.Rates{Unit: 10 * time.Minute, Of: [][]float64{{2, 4, 8}, {0, 1, 6}}, Availability: []float64{1, 1, 0.5}},
	})
}

// A task of a class's mean work takes a machine 1/(mu a) of the unit: so divided are
// its works, and so the coordinator is told at the nodes' pace.
func TestBedRates(t *testing.T) {
	b := testBed()
	for i, want := range []string{"a=2,*=1", "a=4,b=0.5,*=2.25", "a=4,b=1.5,*=2.75"} {
		got := b.imposed(i)
		if got != want {
			t.Errorf("machine %d: imposed %s, want %s", i, got, want)
		}
		if _, err := readImposed(got); err != nil {
			t.Errorf("machine %d: no node reads %s: %v", i, got, err)
		}
	}
	var peers []task.PeerID
	for i := range 3 {
		peers = append(peers, peerOfKey(i))
	}
	k, err := parseRates(bytes.NewReader(b.known(peers, 30*time.Minute, 600)))
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string][]float64{"a": {2, 4, 4}, "b": {0, 1, 3}} { // a unit is a second of the nodes
		for j, rate := range want {
			if got := k.Of[class][peers[j]]; math.Abs(got-rate) > 1e-9 {
				t.Errorf("class %s at machine %d: told %v a second, want %v", class, j, got, rate)
			}
		}
	}
	// a: one in 5 minutes; b: two jobs of two tasks in 30.
	if a, b := k.Arrivals["a"], k.Arrivals["b"]; math.Abs(a-2) > 1e-9 || math.Abs(b-4./3) > 1e-9 {
		t.Errorf("arrivals told: %v and %v a second", a, b)
	}
}

func peerOfKey(i int) task.PeerID {
	return task.PeerIDOf(machines.Key(1, i).Public().(ed25519.PublicKey))
}

func TestBedCheck(t *testing.T) {
	for _, tt := range []struct {
		placement string
		change    func(*bed)
		want      string
	}{
		{"gcmu", func(*bed) {}, ""},
		{"fcfs:order=idle", func(*bed) {}, ""},
		{"expected", func(*bed) {}, `class "b" cannot run on machine 1, and policy expected does not go by rates`},
		{"expected", func(b *bed) { b.rates.Of[1][0] = 1 }, ""},
		{"gcmu", func(b *bed) { b.classes[1].Name = "a" }, `class "a" is there twice`},
		{"gcmu", func(b *bed) { b.classes[1].Name = "b=2" }, "without = , *"},
		{"gcmu", func(b *bed) { b.classes[1].Name = "" }, "a name of 1 to"},
		{"gcmu", func(b *bed) { b.classes[1].WorkLaw = sim.Exponential }, "give jobs of one task"},
		{"gcmu", func(b *bed) { b.rates.Of[0][0] = 1e9 }, "at most 1e+06"},
		{"best", func(*bed) {}, `there is no policy "best"`},
	} {
		b := testBed()
		tt.change(b)
		if err := b.check(tt.placement); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.placement, err, tt.want)
		}
	}
}

// The shipped scenarios are plans: every policy has the same jobs, as often as the
// thesis says, and the machines of the file are the nodes.
func TestBedPlans(t *testing.T) {
	f := planOptions{classes: true, scenario: filepath.Join("..", "..", "examples", "scenarios", "mgst2.yaml"), speedup: 600, minutes: 4, ends: endAsTraced}
	plans, err := f.planned(0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) != 3 || plans[0].placement != "lpas" || plans[0].published == nil || plans[2].published != nil {
		t.Fatalf("%d plans, the first of %s", len(plans), plans[0].placement)
	}
	perClass := map[string]int{}
	for _, p := range plans {
		if len(p.scenario.Trace.Hosts) != 6 || !slices.Equal(p.jobs, plans[0].jobs) || p.scenario.End.Sub(p.scenario.Start) != 6*time.Hour {
			t.Errorf("%s: %d hosts and %d jobs in %v", p.placement, len(p.scenario.Trace.Hosts), len(p.jobs), p.scenario.End.Sub(p.scenario.Start))
		}
	}
	for _, j := range plans[0].jobs {
		perClass[j.class]++
		if j.work < 9*time.Minute || j.work > 11*time.Minute {
			t.Errorf("a job of %v", j.work)
		}
	}
	for class, alpha := range map[string]float64{"1": 2.25, "2": 4.5, "3": 7.2, "4": 12.6} {
		if n, mean := float64(perClass[class]), 36*alpha; math.Abs(n-mean) > 4*math.Sqrt(mean) {
			t.Errorf("class %s: %v jobs, %v are to come", class, n, mean)
		}
	}
	// Half of machine 4.
	if got, want := plans[0].bed.speed(3, 3), 5.9/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("class 4 goes at %v of its work on machine 4, want %v", got, want)
	}
	if other, err := f.planned(0, 1, 2); err != nil || slices.Equal(other[0].jobs, plans[0].jobs) {
		t.Errorf("another seed draws the same jobs (%v)", err)
	}
	f.classes = false
	if _, err := f.planned(5, 1, 1); err == nil || !strings.Contains(err.Error(), "the scenario has rates of classes") {
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
		tasks += j.tasks
	}
	if n := len(jobs); tasks != n+2*9 { // c at 0, 7, ... 56 minutes
		t.Errorf("%d tasks of %d jobs", tasks, n)
	}
	file := filepath.Join(t.TempDir(), arrivalsFile)
	var text bytes.Buffer
	if err := writeArrivals(&text, jobs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := (&planOptions{jobsFile: file}).arriving(s, true)
	if err != nil || !slices.Equal(got, jobs) {
		t.Errorf("%d jobs became %d others (%v)", len(jobs), len(got), err)
	}
	half, err := readArrivals(bytes.NewReader(text.Bytes()), s.Workload.Classes, 30*time.Minute)
	if n := slices.IndexFunc(jobs, func(j plannedJob) bool { return j.at >= 30*time.Minute }); err != nil || len(half) != n {
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
		if _, err := readArrivals(strings.NewReader(bad), s.Workload.Classes, time.Hour); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", bad, err, want)
		}
	}
}

// What a task takes beside its work is what its machine does not account for.
func TestBedOverhead(t *testing.T) {
	b := testBed()
	at := func(s float64) time.Time { return day0.Add(time.Duration(s * float64(time.Second))) }
	m := &measuredRun{Scale: 600, Servers: []measuredServer{{Peer: "p"}, {Peer: "q"}, {Peer: "r"}}}
	tasks := []taskTimes{ // a takes p half a unit, 0.5 s, and b takes r 1/3 of one
		{Class: "a", Server: "p", State: taskDone, Work: 10 * time.Minute, Sent: at(1), Done: at(1.51)},
		{Class: "b", Server: "r", State: taskDone, Work: 5 * time.Minute, Sent: at(2), Done: at(2 + 1./3 + 0.02)},
		{Class: "b", Server: "r", State: taskRunning, Work: 5 * time.Minute, Sent: at(2)},
	}
	if got := b.overheadOf(m, tasks).Seconds(); math.Abs(got-9) > 1e-3 { // 15 ms
		t.Errorf("%v s of the trace, want 9", got)
	}
	if got := b.overheadOf(m, nil); got != 0 {
		t.Errorf("%v of no tasks", got)
	}
}
