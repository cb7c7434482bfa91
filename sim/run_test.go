package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"godwit/trace"
)

var day0 = time.Date(2010, 4, 1, 0, 0, 0, 0, time.UTC)

// daily has hosts that are available in each day until so many hours of it.
func daily(t testing.TB, until ...[]float64) *trace.Trace {
	t.Helper()
	tr := &trace.Trace{Name: "vectors", Start: day0}
	for i, days := range until {
		h := &trace.History{Host: fmt.Sprint("r", i+1)}
		add := func(at time.Time, s trace.State) {
			if err := h.Append(at, s, 1); err != nil {
				t.Fatal(err)
			}
		}
		for d, hours := range days {
			from := day0.Add(time.Duration(d) * 24 * time.Hour)
			add(from, trace.Available)
			if hours < 24 {
				add(from.Add(time.Duration(hours*float64(time.Hour))), trace.Unavailable)
			}
		}
		tr.End = day0.Add(time.Duration(len(days)) * 24 * time.Hour)
		h.Extend(tr.End)
		tr.Hosts = append(tr.Hosts, trace.Host{History: h})
	}
	return tr
}

func mustRun(t testing.TB, s *Scenario) *Report {
	t.Helper()
	r, err := Run(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (d Day) String() string { return fmt.Sprintf("%d/%d/%d", d.Allocated, d.Succeeded, d.Failed) }

// TestSystemCases is Appendix B.I-1.
func TestSystemCases(t *testing.T) {
	for i, tt := range []struct {
		until        []float64
		first        string
		fcfs, fcfspp string
		used         float64
	}{
		{[]float64{24, 24}, "1/1/0", "1/1/0", "1/1/0", 1},
		{[]float64{24, 12}, "1/1/0", "1/0/1", "1/0/1", 1},
		{[]float64{12, 10}, "1/0/1", "1/0/1", "0/0/0", 0},
		{[]float64{12, 24}, "1/0/1", "1/1/0", "0/0/0", 0},
		{[]float64{10, 12}, "1/0/1", "1/0/1", "0/0/0", 0},
	} {
		for _, p := range []struct {
			spec, second string
			used         float64
		}{{"fcfs:order=turn", tt.fcfs, 1}, {"fcfspp:t=1,n=1,m=1", tt.fcfspp, tt.used}} {
			r := mustRun(t, &Scenario{Trace: daily(t, tt.until), Placement: p.spec, Paper: true,
				Workload: Workload{Classes: []Class{{Work: 24 * time.Hour}}}})
			d := r.PerDay
			if d[0].String() != tt.first || d[1].String() != p.second || d[1].UsedS/d[1].AvailableS != p.used {
				t.Errorf("scenario %d, %s: got %v and %v; want %s and %s, %v", i+1, p.spec, d[0], d[1], tt.first, p.second, p.used)
			}
		}
	}
}

func saturated(work time.Duration) Workload { return Workload{Classes: []Class{{Work: work}}} }

// TestInfluenceOfDifference is Appendix B.I-2.
func TestInfluenceOfDifference(t *testing.T) {
	for i, want := range []string{"0/0/0", "1/1/0", "1/1/0", "2/2/0", "2/2/0", "3/2/1", "3/2/1"} {
		tr := daily(t, []float64{float64(3 * (i + 1)), 12})
		for spec, want := range map[string]string{"fcfs:order=turn": "3/2/1", "fcfs": "3/2/1", "fcfspp": want,
			"fcfspp:reading=prefix": want} {
			if got := mustRun(t, &Scenario{Trace: tr, Placement: spec, Paper: true,
				Workload: saturated(6 * time.Hour)}).PerDay[1].String(); got != want {
				t.Errorf("scenario %d, %s: got %s, want %s", i+1, spec, got, want)
			}
		}
	}
}

// TestFLP is Appendix B.II with its negative controls.
func TestFLP(t *testing.T) {
	const flp = "flp:lambda=1,interval=1h,reading="
	for i, tt := range []struct {
		until                              []float64
		fcfs, fcfspp, flp, start, fraction string
	}{
		{[]float64{20, 23}, "2/1/1", "1/1/0", "1/1/0", "2/1/1", "2/1/1"},
		{[]float64{20, 24}, "2/2/0", "1/1/0", "1/1/0", "2/2/0", "2/1/0"},
		{[]float64{23, 23}, "2/1/1", "1/1/0", "2/1/1", "2/1/1", "2/1/1"},
		{[]float64{23, 24}, "2/2/0", "1/1/0", "2/2/0", "2/2/0", "2/2/0"},
	} {
		for _, p := range []struct{ spec, want string }{
			{"fcfs:order=turn", tt.fcfs}, {"fcfspp:reading=prefix", tt.fcfspp}, {flp + "prefix", tt.flp},
			{flp + "transitional", tt.fcfspp}, {flp + "prefix,from=start", tt.start}, {flp + "fraction", tt.fraction},
		} {
			if got := mustRun(t, &Scenario{Trace: daily(t, tt.until), Placement: p.spec, Paper: true,
				Workload: saturated(12 * time.Hour)}).PerDay[1].String(); got != p.want {
				t.Errorf("scenario %d, %s: got %s, want %s", i+1, p.spec, got, p.want)
			}
		}
	}
}

func at(hours ...int) []time.Duration {
	var out []time.Duration
	for _, h := range hours {
		out = append(out, time.Duration(h)*time.Hour)
	}
	return out
}

// TestPSOPP is section 7.4.1 (arrivals) and 7.4.2 (speeds, which change after
// the placement at that instant).
func TestPSOPP(t *testing.T) {
	for i, tt := range []struct {
		arrivals    []time.Duration
		fcfs, psopp string
		a, b        float64 // hours
	}{{at(32), "1/1/0", "1/1/0", 12, 12}, {at(24, 36), "2/2/0", "2/2/0", 12, 12},
		{at(24, 32, 40), "2/2/0", "3/1/0", 12, 16}} {
		for spec, want := range map[string]string{"fcfs:order=turn": tt.fcfs, "fcfspp": tt.fcfs, "flp:interval=1h": tt.fcfs,
			"psopp": tt.psopp} {
			r := mustRun(t, &Scenario{
				Trace: daily(t, []float64{24, 24}), Placement: spec, Paper: true, Hosts: HostRules{Sharing: Share},
				Workload: Workload{Classes: []Class{{Arrival: AtTimes, Times: tt.arrivals, Work: 12 * time.Hour}}},
			})
			span := tt.a
			if spec == "psopp" {
				span = tt.b
			}
			if got := r.PerDay[1].String(); got != want || r.Makespan.Max != span*3600 {
				t.Errorf("scenario %d, %s: got %s, makespan %v; want %s, %v h", i+1, spec, got, r.Makespan.Max, want, span)
			}
		}
	}
	for _, tt := range []struct {
		spec  string
		swaps bool
		where string
		want  string
	}{
		{"fcfs:order=turn", false, "[0 1]", "2/1/0"}, {"fcfspp", false, "[0 1]", "2/1/0"},
		{"flp:interval=1h", false, "[0 1]", "2/1/0"}, {"psopp", false, "[0 0]", "2/2/0"},
		{"fcfs:order=turn", true, "[0 1]", "2/2/0"}, {"fcfspp", true, "[0 1]", "2/2/0"},
		{"flp:interval=1h", true, "[0 1]", "2/2/0"}, {"psopp", true, "[0 0]", "2/1/0"},
	} {
		tr := daily(t, []float64{24, 24}, []float64{24, 24})
		tr.Hosts[0].GHz, tr.Hosts[1].GHz = 2, 2
		for i, h := range []float64{1, 0.5} {
			x := &trace.History{Host: tr.Hosts[i].History.Host}
			_ = x.Append(day0, trace.Available, h)
			if tt.swaps {
				_ = x.Append(day0.Add(36*time.Hour), trace.Available, 1.5-h)
			}
			x.Extend(tr.End)
			tr.Hosts[i].History = x
		}
		var where []int
		r := mustRun(t, &Scenario{
			Trace: tr, Placement: tt.spec, Paper: true, Hosts: HostRules{Sharing: Share, Speeds: Traced},
			Workload: Workload{Classes: []Class{{Arrival: AtTimes, Times: at(24, 36), Work: 24 * time.Hour}}},
			Watch: func(d Decision) {
				if d.Action == "placed" {
					where = append(where, d.Host)
				}
			},
		})
		if got := r.PerDay[1].String(); got != tt.want || fmt.Sprint(where) != tt.where {
			t.Errorf("%s, swapped %v: got %s on %v, want %s on %s", tt.spec, tt.swaps, got, where, tt.want, tt.where)
		}
	}
}

// TestPSPP is Appendix B.III: one prediction, at the start of day 2.
func TestPSPP(t *testing.T) {
	for i, tt := range []struct {
		until []float64
		want  [4]int // CP1, CP2, FA, MD
	}{
		{[]float64{1, 1}, [4]int{0, 1, 0, 0}}, {[]float64{0.5, 1}, [4]int{0, 0, 1, 0}},
		{[]float64{0.5, 0.7}, [4]int{1, 0, 0, 0}},
		{[]float64{1, 0.7}, [4]int{0, 0, 0, 1}}, {[]float64{0.7, 0.5}, [4]int{1, 0, 0, 0}},
	} {
		p := mustRun(t, &Scenario{Trace: daily(t, tt.until), Migration: "pspp:p=1h", Paper: true, ScanAll: true,
			Workload: Workload{Classes: []Class{{Arrival: AtTimes, Times: at(47), Work: time.Hour}}}}).Prediction
		// The scan at the end of the first hour finds the host before it goes, if it
		// is there that long; it is of the second hour, where it left the day before.
		got := [4]int{p.CP1, p.CP2, p.FA, p.MD}
		if tt.until[1] == 1 {
			got[0]--
		}
		if got != tt.want {
			t.Errorf("scenario %d: got %v, want %v", i+1, got, tt.want)
		}
	}
}

// TestRunStops stops a run: it ends soon after, with an error.
func TestRunStops(t *testing.T) {
	s := imposing(t, "gcmu")
	calls := 0
	s.Stopped = func() bool { calls++; return calls == 2 }
	if r, err := Run(s); !errors.Is(err, ErrStopped) || r != nil || calls != 2 {
		t.Errorf("after %d calls: %v, %v", calls, r, err)
	}
	s.Stopped = func() bool { return false }
	if _, err := Run(s); err != nil {
		t.Errorf("a run that is not stopped: %v", err)
	}
}
