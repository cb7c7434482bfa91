package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

// spans has hosts of speeds that are there from and to some hours.
func spans(t *testing.T, hosts ...[3]float64) *trace.Trace {
	t.Helper()
	tr := &trace.Trace{Name: "spans", Start: day0, End: day0.Add(24 * time.Hour)}
	for i, x := range hosts {
		h := &trace.History{Host: fmt.Sprint("h", i)}
		at := func(hours float64) time.Time { return day0.Add(time.Duration(hours * float64(time.Hour))) }
		for _, s := range []struct {
			at float64
			is trace.State
		}{{x[1], trace.Available}, {x[2], trace.Unavailable}} {
			if err := h.Append(at(s.at), s.is, 1); err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(tr.End)
		tr.Hosts = append(tr.Hosts, trace.Host{History: h, GHz: x[0]})
	}
	return tr
}

// TestCopies: the last task is copied to a host that comes later and is much faster; who
// ends first is the result, and the other run, or what is lost of it, does no harm.
func TestCopies(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hosts [][3]float64
		want  string
	}{
		{"the copy ends first", [][3]float64{{1, 0, 24}, {4, 1, 24}}, "placed 0, copied 1, lost 0, completed 1 at 2h0m"},
		{"not twice as fast", [][3]float64{{1, 0, 24}, {1.5, 1, 24}}, "placed 0, completed 0 at 4h0m"},
		{"the copy is lost", [][3]float64{{1, 0, 24}, {4, 1, 1.5}}, "placed 0, copied 1, lost 1, completed 0 at 4h0m"},
		{"the first is lost", [][3]float64{{1, 0, 1.5}, {4, 1, 24}}, "placed 0, copied 1, lost 0, completed 1 at 2h0m"},
		{"both are", [][3]float64{{1, 0, 1.5}, {4, 1, 1.7}, {4, 2, 24}},
			"placed 0, copied 1, lost 0, lost 1, placed 2, completed 2 at 3h0m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Scenario{Trace: spans(t, tt.hosts...), Placement: "fcfs", Copies: "slow",
				Hosts:   HostRules{Owner: Kill, Speeds: Traced},
				Network: Network{Delay: time.Second, Detect: 10 * time.Second},
				Workload: Workload{Requeue: true, Classes: []Class{{Arrival: AtTimes, Times: []time.Duration{0},
					Work: 4 * time.Hour, State: 64 << 20}}}}
			var got []string
			s.Watch = func(d Decision) {
				if d.Action == "arrived" {
					return
				}
				line := fmt.Sprintf("%s %d", d.Action, d.Host)
				if d.Action == "completed" {
					line += " at " + strings.TrimSuffix(d.At.Sub(day0).Truncate(time.Minute).String(), "0s")
				}
				got = append(got, line)
			}
			r := mustRun(t, s)
			if line := strings.Join(got, ", "); line != tt.want {
				t.Errorf("got  %s\nwant %s", line, tt.want)
			}
			if r.Succeeded != 1 || r.Arrived != 1 || r.Unfinished != 0 {
				t.Errorf("%d of %d tasks, %d left", r.Succeeded, r.Arrived, r.Unfinished)
			}
		})
	}
}

// TestCopiesRefused: a rule that nobody knows, and copies by the published rules.
func TestCopiesRefused(t *testing.T) {
	s := &Scenario{Trace: daily(t, []float64{24}), Copies: "all"}
	if _, err := Run(s); err == nil || !strings.Contains(err.Error(), `no rule of copies "all"`) {
		t.Errorf("got %v", err)
	}
	s.Copies, s.Paper = "slow", true
	if _, err := Run(s); err == nil || !strings.Contains(err.Error(), "published rules") {
		t.Errorf("got %v", err)
	}
}
