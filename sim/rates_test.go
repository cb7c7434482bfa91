package sim

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

// imposing is a scenario of two classes on three machines, one of which cannot run
// the second class.
func imposing(t testing.TB, placement string) *Scenario {
	t.Helper()
	set, err := (&Machines{Names: []string{"M1", "M2", "M3"}, Up: 50 * time.Hour, Down: 2 * time.Hour,
		Seed: 3}).Trace(time.Unix(0, 0).UTC(), 1000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return &Scenario{
		Trace: set, Placement: placement, Warmup: 100 * time.Hour, Seed: 5,
		Workload: Workload{Requeue: true, InOrder: true, Redraw: true, Classes: []Class{
			{Name: "a", Arrival: Poisson, Interval: 30 * time.Minute, Work: time.Hour, WorkLaw: Exponential},
			{Name: "b", Arrival: Poisson, Interval: time.Hour, Work: 10 * time.Minute, WorkLaw: CubedWork},
		}},
		Network: Network{Delay: time.Second},
		Rates:   &Rates{Unit: time.Hour, Of: [][]float64{{2, 3, 4}, {0, 2, 5}}, Availability: []float64{1, .5, 1}},
	}
}

var ratedPolicies = []string{"lpas", "lpas:server=fastest,resolve=1h,tau=1s,arrivals=0.1,rates=0.1", "gcmu",
	"fcfs:order=idle", "met", "mct", "kpb:k=67", "expected", "fcfs", "random"}

// A task takes a machine work/Work/(mu a), and what the report says of a class
// adds up.
func TestImposedRates(t *testing.T) {
	for _, spec := range ratedPolicies {
		s := imposing(t, spec)
		began := map[uint64]Decision{}
		byHost := map[[2]int][]float64{}
		class := map[uint64]int{}
		s.Watch = func(d Decision) {
			switch d.Action {
			case "placed":
				began[d.Task] = d
			case "completed":
				byHost[[2]int{class[d.Task], d.Host}] = append(byHost[[2]int{class[d.Task], d.Host}],
					d.At.Sub(began[d.Task].At).Hours())
			}
		}
		arrivals := NewArrivals(&s.Workload, s.Trace.End.Sub(s.Trace.Start), s.Seed)
		for id := uint64(0); ; id++ {
			a, ok := arrivals.Next()
			if !ok {
				break
			}
			class[id] = a.Class
		}
		r := mustRun(t, s)
		if len(byHost[[2]int{1, 0}]) > 0 {
			t.Errorf("%s: machine 1 ran class b, which it cannot", spec)
		}
		n := uint64(0)
		for i, c := range r.Classes {
			n += c.Succeeded
			if sum := c.Waiting + c.Communication + c.Execution; math.Abs(sum-c.Response) > 1e-9*c.Response || c.Succeeded == 0 {
				t.Errorf("%s: class %s: waiting, communication and execution are %v, response %v", spec, c.Class, sum, c.Response)
			}
			if c.Class != s.Workload.Classes[i].Name || c.Arrived < c.Succeeded {
				t.Errorf("%s: class %d is %+v", spec, i, c)
			}
		}
		if n != r.Succeeded || n < 2500 {
			t.Errorf("%s: %d tasks of classes succeeded, %d in all", spec, n, r.Succeeded)
		}
		if again := mustRun(t, s); !slices.Equal(again.Classes, r.Classes) {
			t.Errorf("%s: run again, the classes are %v, were %v", spec, again.Classes, r.Classes)
		}
		// Loops of class b vary by less than 8 %: machine 3 takes 1/5 h for one.
		if spec == "gcmu" {
			for _, hours := range byHost[[2]int{1, 2}] {
				if least := .2*math.Pow(.975, 3) + 1./3600; hours < least-1e-9 {
					t.Fatalf("class b took machine 3 %v h: it is %v at the least", hours, least)
				}
			}
		}
	}
}

// Exact times: a job's is 1/(mu a), its overhead on top, and both are in the
// response.
func TestImposedTimes(t *testing.T) {
	s := imposing(t, "fcfs:order=idle")
	set, err := (&Machines{Names: []string{"M1", "M2", "M3"}}).Trace(time.Unix(0, 0).UTC(), 10*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	s.Trace, s.Warmup, s.Rates.Overhead = set, 0, time.Minute
	s.Workload.Classes = []Class{
		{Name: "a", Arrival: AtTimes, Times: []time.Duration{0, 0, 0, 0}, Work: 3 * time.Hour},
		{Name: "b", Arrival: AtTimes, Times: []time.Duration{5 * time.Hour}, Work: time.Hour},
	}
	r := mustRun(t, s)
	// Machines 1, 2, 3 take 30, 40 and 15 minutes, and 1 each; the fourth waits for
	// machine 3, until it is known that it ended. b finds machine 2 idle longest of
	// those that can run it: 1/(2 .5) h.
	a, b := r.Classes[0], r.Classes[1]
	delays := 4 * 1. // of the network, one way, to each
	want := delays + 60*(31+41+16+16+16) + 2
	if got := a.Response * 4; math.Abs(got-want) > 1e-6 || a.Communication != 1 ||
		math.Abs(a.Waiting-(16*60+2)/4.) > 1e-9 {
		t.Errorf("class a: %+v, want responses of %v s in all", a, want)
	}
	if math.Abs(b.Execution-61*60) > 1e-6 && math.Abs(b.Execution-13*60) > 1e-6 {
		t.Errorf("class b: %+v", b)
	}
}

// M/M/1 of rate mu a: the mean response is 1/(mu a - alpha), whatever the policy.
func TestImposedTheory(t *testing.T) {
	set, err := (&Machines{Names: []string{"M1"}}).Trace(time.Unix(0, 0).UTC(), 100_000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"gcmu", "lpas", "fcfs:order=idle", "met"} {
		s := &Scenario{
			Trace: set, Placement: spec, Seed: 1, Warmup: 1000 * time.Hour, Hosts: HostRules{Ahead: 1000},
			Workload: Workload{Classes: []Class{{Name: "one", Arrival: Poisson, Interval: time.Hour, Work: time.Hour,
				WorkLaw: Exponential}}},
			Rates: &Rates{Unit: time.Hour, Of: [][]float64{{4}}, Availability: []float64{.5}},
		}
		if got := mustRun(t, s).Classes[0].Response; math.Abs(got-3600) > 60 { // 1/(2-1) h; five deviations
			t.Errorf("%s: the mean response is %v s, want 3600", spec, got)
		}
	}
}

// A machine that comes or goes is told, and the rest is offered again: a class that
// only one machine had goes on elsewhere.
func TestAllocationFollowsMachines(t *testing.T) {
	trace := hostTrace(t, 20, []float64{0, 10}, []float64{0})
	s := &Scenario{
		Trace: trace, Placement: "lpas", Seed: 1,
		Workload: Workload{Requeue: true, Classes: []Class{
			{Name: "1", Arrival: Every, Interval: time.Hour, Work: time.Hour},
			{Name: "2", Arrival: Every, Interval: time.Hour, Work: time.Hour},
		}},
		Rates: &Rates{Unit: time.Hour, Of: [][]float64{{10, 2}, {2, 10}}},
	}
	where := map[int]string{}
	s.Watch = func(d Decision) {
		if d.Action == "placed" {
			k := d.At.Sub(trace.Start).Hours() > 10
			if k {
				where[1] += string(rune('1' + d.Host))
			} else { // what is placed at the instant of its going is placed, and lost
				where[0] += string(rune('1' + d.Host))
			}
		}
	}
	mustRun(t, s)
	if strings.Trim(where[0], "12") != "" || strings.Count(where[0], "1") != 11 || strings.Contains(where[1], "1") ||
		len(where[1]) < 15 {
		t.Errorf("placed on %q while both are there, on %q after", where[0], where[1])
	}
}

func TestBadRates(t *testing.T) {
	for _, c := range []struct {
		says string
		f    func(s *Scenario)
	}{
		{"of 1 classes, and the workload has 2", func(s *Scenario) { s.Rates.Of = s.Rates.Of[:1] }},
		{"class 1 has rates of 2 hosts", func(s *Scenario) { s.Rates.Of[1] = []float64{1, 2} }},
		{"class 0 on host 2 is NaN", func(s *Scenario) { s.Rates.Of[0] = []float64{1, 2, math.NaN()} }},
		{"class 0 on host 0 is -1", func(s *Scenario) { s.Rates.Of[0] = []float64{-1, 2, 3} }},
		{"availability is of 1 hosts", func(s *Scenario) { s.Rates.Availability = []float64{1} }},
		{"availability of host 1 is 2", func(s *Scenario) { s.Rates.Availability = []float64{1, 2, 3} }},
		{"unit is -1s", func(s *Scenario) { s.Rates.Unit = -time.Second }},
		{"hosts have 2 slots", func(s *Scenario) { s.Hosts.Slots = 2 }},
		{"share their time", func(s *Scenario) { s.Hosts.Sharing = Share }},
	} {
		s := imposing(t, "gcmu")
		c.f(s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want %q", err, c.says)
		}
	}
}

// Machines are there as long as they should in the mean.
func TestMachines(t *testing.T) {
	m := &Machines{Names: make([]string, 50), Up: 50 * time.Minute, Down: 10 * time.Minute, Seed: 1}
	set, err := m.Trace(time.Unix(0, 0).UTC(), 1000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	up, ups := 0., 0.
	for _, h := range set.Hosts {
		for i := range h.History.Len() {
			if s := h.History.Spell(i); s.State.String() == "available" {
				up += s.Length().Hours()
				ups++
			}
		}
	}
	if share := up / 50_000; math.Abs(share-5./6) > .005 || math.Abs(up/ups-5./6) > .02 {
		t.Errorf("machines are up for %v of the time, %v h at once", share, up/ups)
	}
	for _, bad := range []Machines{{}, {Names: []string{"x"}, Up: time.Hour}, {Names: []string{"x"}, Up: 1, Down: 1},
		{Names: []string{"x"}, Up: -1, Down: 1}, {Names: []string{"x"}, UpLaw: "nothing"}} {
		if _, err := bad.Trace(time.Unix(0, 0).UTC(), 1000*time.Hour); err == nil {
			t.Errorf("%+v are made", bad)
		}
	}
}

// TestMachinesByLaw checks each law's means, shape and label: with fixed times all machines fail at once, and with
// exponential ones the trace is that of no law.
func TestMachinesByLaw(t *testing.T) {
	for _, tt := range []struct {
		up, down Law
		says     string
		variance float64 // of a time up, for a mean of 1
	}{
		{"", "", "up 50m0s and down 10m0s in the mean, exponential, seed 1", 1},
		{Exponential, "", "up 50m0s and down 10m0s in the mean, exponential, seed 1", 1},
		{"weibull:shape=0.7", Fixed, "up 50m0s (weibull:shape=0.7) and down 10m0s (fixed) in the mean, seed 1", 2.14},
		{"lognormal:sigma=0.5", "weibull", "up 50m0s (lognormal:sigma=0.5) and down 10m0s (weibull) in the mean, seed 1", .284},
		{UniformWork, UniformWork, "up 50m0s and down 10m0s in the mean, uniform, seed 1", 1. / 3},
		{Fixed, Fixed, "up 50m0s and down 10m0s in the mean, fixed, seed 1", 0},
	} {
		m := &Machines{Names: make([]string, 50), Up: 50 * time.Minute, Down: 10 * time.Minute, Seed: 1,
			UpLaw: tt.up, DownLaw: tt.down}
		set, err := m.Trace(time.Unix(0, 0).UTC(), 1000*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		n, sum, squares := 0., 0., 0.
		for _, h := range set.Hosts {
			for i := range h.History.Len() - 1 { // the last is cut
				if s := h.History.Spell(i); s.State == trace.Available {
					x := s.Length().Minutes() / 50
					n, sum, squares = n+1, sum+x, squares+x*x
				}
			}
		}
		mean := sum / n
		if variance := squares/n - mean*mean; math.Abs(mean-1) > .03 || math.Abs(variance-tt.variance) > .1*tt.variance+1e-9 {
			t.Errorf("%s: a mean of %.3f and a variance of %.3f, want 1 and %.3f", tt.says, mean, variance, tt.variance)
		}
		if set.Synthetic != tt.says {
			t.Errorf("labelled %q, want %q", set.Synthetic, tt.says)
		}
	}
}

// TestMachinesStopAtLimit draws times of which nearly all are 1 ms: a machine's history ends at the limit of spells,
// long before its end.
func TestMachinesStopAtLimit(t *testing.T) {
	m := &Machines{Up: time.Hour, Down: time.Hour, UpLaw: "lognormal:sigma=10", DownLaw: "lognormal:sigma=10"}
	up, down, err := m.draws()
	if err != nil {
		t.Fatal(err)
	}
	h := &trace.History{Host: "x"}
	start := time.Unix(0, 0).UTC()
	if err := errors.Join(h.Append(start, trace.Available, 1), m.fail(h, 0, start.Add(longest), up, down, 100)); err != nil {
		t.Fatal(err)
	}
	if h.Len() != 102 {
		t.Errorf("%d spells, want 102: the first, and one more than the limit", h.Len())
	}
}
