package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

// drain takes all timed arrivals.
func drain(t *testing.T, w *Workload, span time.Duration, seed uint64) []arrival {
	t.Helper()
	var out []arrival
	for s := newSource(w, span, seed); ; {
		a, ok := s.next()
		if !ok {
			return out
		}
		out = append(out, a)
		if len(out) > 1e6 {
			t.Fatal("no end of arrivals")
		}
	}
}

// told writes arrivals as "time:class".
func told(as []arrival) string {
	var b strings.Builder
	for i, a := range as {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%v:%d", a.at, a.class)
	}
	return b.String()
}

func TestTimedArrivals(t *testing.T) {
	h := time.Hour
	for _, c := range []struct {
		name    string
		classes []Class
		want    string
	}{
		{"every, from 0 to before the end", []Class{{Arrival: Every, Interval: 16 * h, Work: h}}, "0s:0 16h0m0s:0 32h0m0s:0"},
		{"every, nothing at its end", []Class{{Arrival: Every, Interval: 8 * h, From: 24 * h, To: 40 * h, Work: h}},
			"24h0m0s:0 32h0m0s:0"},
		{"at times, nothing at the run's end",
			[]Class{{Arrival: AtTimes, Times: []time.Duration{24 * h, 24 * h, 36 * h, 48 * h}, Work: h}},
			"24h0m0s:0 24h0m0s:0 36h0m0s:0"},
		{"a job's tasks together, classes in order", []Class{
			{Arrival: Every, Interval: 24 * h, Tasks: 2, Work: h},
			{Arrival: AtTimes, Times: []time.Duration{0, 24 * h}, Work: h},
			{Arrival: Every, Interval: 48 * h, Work: h},
		}, "0s:0 0s:0 0s:1 0s:2 24h0m0s:0 24h0m0s:0 24h0m0s:1"},
		{"begins after the end", []Class{{Arrival: Every, Interval: h, From: 48 * h, Work: h}}, ""},
		{"saturated has no times", []Class{{Work: h}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := told(drain(t, &Workload{Classes: c.classes}, 48*h, 1)); got != c.want {
				t.Errorf("arrivals %s, want %s", got, c.want)
			}
		})
	}
}

func TestSaturatedClassesTakeTurns(t *testing.T) {
	h := time.Hour
	s := newSource(&Workload{Classes: []Class{
		{Work: h, Tasks: 2},
		{Work: h, From: 2 * h, To: 4 * h},
		{Work: h, From: 10 * h, To: 12 * h, Memory: 7, State: 3},
	}}, 24*h, 1)
	ask := func(at time.Duration, n int) string {
		var got []arrival
		for range n {
			a, ok := s.refill(at)
			if !ok {
				t.Fatalf("nothing at %v", at)
			}
			if a.at != at {
				t.Fatalf("asked at %v, it came at %v", at, a.at)
			}
			got = append(got, arrival{class: a.class})
		}
		return strings.ReplaceAll(told(got), "0s:", "")
	}
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{0, "0 0 0"}, {2 * h, "0 1 0 0 1"}, {4 * h, "0 0 0"}, {11 * h, "0 2 0 0 2"}} {
		if got := ask(c.at, len(strings.Fields(c.want))); got != c.want {
			t.Errorf("at %v: classes %s, want %s", c.at, got, c.want)
		}
	}
	if a, ok := s.refill(24 * h); ok {
		t.Errorf("something came at the end: %+v", a)
	}
	for _, c := range []struct{ at, want time.Duration }{{0, 2 * h}, {2 * h, 10 * h}} {
		if got, ok := s.opens(c.at); !ok || got != c.want {
			t.Errorf("after %v a class opens at %v, %v; want %v", c.at, got, ok, c.want)
		}
	}
	if got, ok := s.opens(10 * h); ok {
		t.Errorf("a class opens at %v", got)
	}
}

// A class alone and the same class behind another give the same jobs.
func TestClassesDoNotDisturbEachOther(t *testing.T) {
	day := 24 * time.Hour
	mine := Class{Name: "mine", Arrival: Poisson, Interval: time.Hour, Work: time.Minute, WorkLaw: Exponential}
	other := Class{Name: "other", Arrival: Poisson, Interval: time.Minute, Work: time.Minute, WorkLaw: UniformWork}
	alone := drain(t, &Workload{Classes: []Class{mine}}, 30*day, 7)
	var among []arrival
	for _, a := range drain(t, &Workload{Classes: []Class{other, mine}}, 30*day, 7) {
		if a.class == 1 {
			a.class = 0
			among = append(among, a)
		}
	}
	if len(alone) < 500 || told(alone) != told(among) {
		t.Errorf("%d jobs alone, %d beside another class, or others", len(alone), len(among))
	}
	for i := range alone {
		if alone[i] != among[i] {
			t.Fatalf("job %d: %+v alone, %+v beside another class", i, alone[i], among[i])
		}
	}
	if again := drain(t, &Workload{Classes: []Class{mine}}, 30*day, 8); told(again) == told(alone) {
		t.Error("another seed gives the same jobs")
	}
}

// The laws have their means and variances: within five standard errors.
func TestLaws(t *testing.T) {
	const n = 200_000
	for _, c := range []struct {
		law      Law
		variance float64 // over the squared mean
	}{{Fixed, 0}, {Exponential, 1}, {UniformWork, 1.0 / 3}, {"weibull:shape=2", 4/math.Pi - 1}, {"weibull:shape=1", 1},
		{"lognormal:sigma=0.5", math.Exp(.25) - 1}, {"pareto:tail=12", 1.0 / 120}} {
		w := Workload{Classes: []Class{{Arrival: Poisson, Interval: time.Second, Work: time.Hour, WorkLaw: c.law}}}
		as := drain(t, &w, n*time.Second, 1)
		var sum, squares float64
		for _, a := range as {
			x := a.work.Hours()
			sum += x
			squares += x * x
		}
		k := float64(len(as))
		if math.Abs(k-n) > 5*math.Sqrt(n) {
			t.Errorf("%v jobs came, %v +- %v expected", k, n, 5*math.Sqrt(n))
		}
		mean := sum / k
		variance := squares/k - mean*mean
		if math.Abs(mean-1) > 5*math.Sqrt(c.variance/k)+
			1e-12 || math.Abs(variance-c.variance) > 5*math.Sqrt(8/k)*c.variance+1e-9 {
			t.Errorf("law %s: mean %v and variance %v of works, want 1 and %v", c.law, mean, variance, c.variance)
		}
	}
}

// Times that would run over what a time.Duration holds end the stream.
func TestLongIntervalsEnd(t *testing.T) {
	for _, kind := range []Arrival{Every, Poisson} {
		w := Workload{Classes: []Class{{Arrival: kind, Interval: longest, Work: longest, WorkLaw: Exponential}}}
		if n := len(drain(t, &w, longest-1, 1)); n > 20 {
			t.Errorf("arrival %d: %d jobs a century apart within a century", kind, n)
		}
	}
}

func TestLogReplay(t *testing.T) {
	log := &trace.Workload{Name: "log", Jobs: []trace.Job{
		{Number: 1, Submit: 5, RunTime: 60, Procs: 1, Status: 1},               // before the replay begins
		{Number: 2, Submit: 10, RunTime: 60, Procs: 2, MemoryKB: 4, Status: 1}, // two tasks
		// cancelled before it started
		{Number: 3, Submit: 10, RunTime: -1, Procs: -1, ReqProcs: 4, Status: 5},
		{Number: 4, Submit: 11, RunTime: 30, Procs: -1, ReqProcs: 1, ReqMemoryKB: 2, Status: 0}, // failed after 30 s
		{Number: 5, Submit: 12, RunTime: 30, Procs: 1, Status: 2},                               // a part of job 6
		{Number: 6, Submit: 13, RunTime: 90, Procs: -1, ReqProcs: -1, MemoryKB: -1, Status: 1},  // nothing known of size
		{Number: 7, Submit: 14.5, RunTime: 0.25, Procs: 1, MemoryKB: 1e30, Status: 1},           // bounded
		{Number: 8, Submit: 110, RunTime: 60, Procs: 1, Status: 1},                              // at the end of the run
	}}
	w := &Workload{Log: log, LogFrom: 10, Classes: []Class{{Arrival: AtTimes, Times: []time.Duration{0},
		Work: time.Second}}}
	s := time.Second
	want := []arrival{
		{at: 0, class: 0, work: s},
		{at: 0, class: logClass, work: 60 * s, memory: 4096, state: 4096},
		{at: 0, class: logClass, work: 60 * s, memory: 4096, state: 4096},
		{at: 1 * s, class: logClass, work: 30 * s, memory: 2048, state: 2048},
		{at: 3 * s, class: logClass, work: 90 * s},
		{at: 4500 * time.Millisecond, class: logClass, work: 250 * time.Millisecond, memory: maxBytes, state: maxBytes},
	}
	got := drain(t, w, 100*s, 1)
	if len(got) != len(want) {
		t.Fatalf("%d tasks, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("task %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}
