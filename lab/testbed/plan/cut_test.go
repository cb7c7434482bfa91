package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"godwit/lab/testbed/clock"
	"godwit/sim"
	"godwit/trace"
)

// Hosts are drawn by the seed, only such as are available in the window, and
// those of one draw stand in the trace's order.
func TestCutTraceDraws(t *testing.T) {
	all := &trace.Trace{Start: day0, End: day0.Add(time.Hour)}
	for i := range 40 {
		h := &trace.History{Host: string(rune('A' + i))}
		clock.Note(h, day0, trace.UserPresent, 0)
		if i%2 == 0 {
			clock.Note(h, day0.Add(10*time.Minute), trace.Available, 1)
		}
		h.Extend(all.End)
		all.Hosts = append(all.Hosts, trace.Host{History: h})
	}
	names := func(seed uint64) (out []string) {
		cut, err := cutTrace(all, 8, day0.Add(5*time.Minute), 20*time.Minute, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range cut.Hosts {
			if clock.TimeIn(h.History, trace.Available) != 15*time.Minute {
				t.Errorf("host %s is available for %v", h.History.Host, clock.TimeIn(h.History, trace.Available))
			}
			out = append(out, h.History.Host)
		}
		return out
	}
	if a := names(1); !slices.Equal(a, names(1)) || slices.Equal(a, names(2)) || !slices.IsSorted(a) {
		t.Errorf("seed 1 drew %v and %v, seed 2 %v", a, names(1), names(2))
	}
	for _, bad := range []struct {
		n            int
		from, length time.Duration
	}{{21, 0, time.Hour}, {1, 0, 5 * time.Minute}, {1, -time.Second, time.Minute},
		{1, 50 * time.Minute, 11 * time.Minute}} {
		if _, err := cutTrace(all, bad.n, day0.Add(bad.from), bad.length, 1); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

// Arrivals written as times bring the same jobs.
func TestArrivalsAsTimes(t *testing.T) {
	s := &sim.Scenario{Start: day0, End: day0.Add(100 * time.Hour), Workload: sim.Workload{Classes: []sim.Class{
		{Arrival: sim.Poisson, Interval: 10 * time.Minute, Work: time.Hour, WorkLaw: sim.Exponential},
		{Arrival: sim.Every, Interval: time.Hour, From: time.Hour, To: 3 * time.Hour, Work: time.Minute, Tasks: 4},
	}}}
	jobs, err := arrivals(s, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(jobs); n < 530 || n > 680 { // 602, with a standard deviation of 25
		t.Errorf("%d jobs in 100 hours", n)
	}
	s.Workload.Classes = asTimes(jobs, 0)
	again, err := arrivals(s, rand.New(rand.NewPCG(2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again, jobs) {
		t.Errorf("%d jobs became %d others", len(jobs), len(again))
	}
	for _, c := range []sim.Class{{Arrival: sim.Saturated}, {Arrival: sim.Every},
		{Arrival: sim.Poisson, Interval: time.Nanosecond}} {
		s.Workload.Classes = []sim.Class{c}
		if _, err := arrivals(s, rand.New(rand.NewPCG(1, 1))); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

var day0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
