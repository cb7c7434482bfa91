package sim

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"godwit/trace"
	"pgregory.net/rapid"
)

// drawTrace makes a few hosts with any states for a few days.
func drawTrace(t *rapid.T) *trace.Trace {
	tr := &trace.Trace{Name: "drawn", Start: day0.Add(-5 * time.Hour), End: day0.Add(3 * 24 * time.Hour)}
	for i := range rapid.IntRange(1, 4).Draw(t, "hosts") {
		h := &trace.History{Host: fmt.Sprint("h", i)}
		at := day0.Add(time.Duration(rapid.IntRange(-5, 20).Draw(t, "since")) * time.Hour)
		for range rapid.IntRange(1, 20).Draw(t, "spells") {
			if !at.Before(tr.End) {
				break
			}
			state := rapid.SampledFrom([]trace.State{trace.Available, trace.Available, trace.Available, trace.UserPresent,
				trace.CPUBusy, trace.Leaving, trace.Unavailable, trace.Unobserved}).Draw(t, "state")
			var err error
			if state == trace.Unobserved {
				err = h.Gap(at)
			} else {
				err = h.Append(at, state, rapid.SampledFrom([]float64{0, 0.25, 0.5, 1, 1}).Draw(t, "cpu"))
			}
			if err != nil {
				t.Fatal(err)
			}
			at = at.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "length")) * 15 * time.Minute)
		}
		if at.After(tr.End) {
			at = tr.End
		}
		h.Extend(at)
		if h.Len() == 0 {
			_ = h.Append(day0, trace.Unavailable, 0)
		}
		tr.Hosts = append(tr.Hosts, trace.Host{History: h, GHz: rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(t, "ghz")})
	}
	return tr
}

func drawScenario(t *rapid.T) *Scenario {
	minutes := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Minute
	}
	s := &Scenario{
		Trace: drawTrace(t),
		Placement: rapid.SampledFrom([]string{"", "fcfs:order=turn", "fcfs:order=turn,ahead=yes", "fcfspp",
			"fcfspp:t=0.5,blocked=pass", "flp:interval=1h", "psopp", "random", "uptime", "fastest:ahead=yes", "expected",
			"expected", Oracle, OracleSoonest}).Draw(t, "placement"),
		Migration: rapid.SampledFrom([]string{"", "reactive", "pspp:p=1h", "cbr:threshold=60", "cost:period=7m",
			"cost:period=7m,rest=1"}).Draw(t, "migration"),
		Warmup:  minutes("warm-up", 2000),
		ScanAll: rapid.Bool().Draw(t, "all"),
		Paper:   rapid.IntRange(0, 3).Draw(t, "paper") == 0,
		Seed:    rapid.Uint64().Draw(t, "seed"),
		Hosts: HostRules{
			Slots: rapid.IntRange(0, 3).Draw(t, "slots"), Memory: rapid.SampledFrom([]int64{0, 100, 250}).Draw(t, "memory"),
			Ahead: rapid.IntRange(0, 2).Draw(t, "ahead"), Sharing: Sharing(rapid.IntRange(0, 1).Draw(t, "sharing")),
			Speeds: Speeds(rapid.IntRange(0, 1).Draw(t, "speeds")), Owner: OwnerRule(rapid.IntRange(0, 1).Draw(t, "owner")),
			Grace: minutes("grace", 90),
		},
	}
	if rapid.Bool().Draw(t, "network") {
		s.Network = Network{Delay: minutes("delay", 20), Detect: minutes("detect", 90),
			Upload:   rapid.SampledFrom([]float64{0, 1e5}).Draw(t, "up"),
			Download: rapid.SampledFrom([]float64{0, 1e6}).Draw(t, "down")}
	}
	if rapid.Bool().Draw(t, "saves") {
		s.Checkpoints = Checkpoints{Every: 1 + minutes("every", 100), Pause: minutes("pause", 5),
			Away: rapid.Bool().Draw(t, "away")}
	}
	if rapid.Bool().Draw(t, "auto") {
		s.Checkpoints.Auto, s.Checkpoints.Every = true, 0
	}
	moves := rapid.Bool().Draw(t, "owners' tasks move")
	if moves { // too much has to be so for it to be drawn often
		s.Paper, s.Hosts.Owner, s.Migration = false, Suspend,
			rapid.SampledFrom([]string{"reactive", "cbr:interval=7m", "cost:period=7m,rest=1"}).Draw(t, "mover")
		s.Checkpoints = Checkpoints{Every: time.Minute + minutes("often", 30), Pause: minutes("short pause", 2), Away: true}
		spare := &trace.History{Host: "spare"}
		if err := spare.Append(day0, trace.Available, 1); err != nil {
			t.Fatal(err)
		}
		spare.Extend(s.Trace.End)
		s.Trace.Hosts = append(s.Trace.Hosts, trace.Host{History: spare})
	}
	if !s.Paper && rapid.Bool().Draw(t, "tails are copied") {
		s.Copies = "slow"
	}
	if rapid.Bool().Draw(t, "from the middle") {
		s.Start = day0.Add(3 * time.Hour)
	}
	s.Workload.Requeue = rapid.Bool().Draw(t, "requeue")
	for range rapid.IntRange(1, 3).Draw(t, "classes") {
		c := Class{
			Arrival: Arrival(rapid.IntRange(0, 2).Draw(t, "arrival")), Work: 1 + minutes("work", 600),
			WorkLaw: drawLaw(t, "law"),
			Tasks:   rapid.IntRange(0, 3).Draw(t, "tasks"), Memory: rapid.Int64Range(0, 120).Draw(t, "needs"),
			State: rapid.SampledFrom([]int64{0, 64 << 20}).Draw(t, "state"),
			From:  minutes("from", 500),
		}
		if c.Arrival != Saturated {
			c.Interval = time.Minute + minutes("interval", 300)
		}
		if c.Arrival == Saturated {
			c.Work += time.Minute
		}
		if moves && c.Arrival != Saturated {
			c.Work += 2 * time.Hour
			c.Interval += 4 * time.Hour
		}
		s.Workload.Classes = append(s.Workload.Classes, c)
	}
	return s
}

// TestRunsAddUp: whatever the scenario, host time is used or idle, what is used
// is useful, wasted or pending, no placement gets lost, Little's law holds (or
// Run fails), and the same scenario gives the same report.
func TestRunsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		r, err := Run(s)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, a, b float64) {
			if math.Abs(a-b) > 1e-6*max(1, math.Abs(a), math.Abs(b)) {
				t.Errorf("%s: %v and %v", what, a, b)
			}
		}
		var day Day
		for _, d := range r.PerDay {
			day.UsedS += d.UsedS
			day.AvailableS += d.AvailableS
			day.Allocated += d.Allocated
			day.Succeeded += d.Succeeded
			day.Failed += d.Failed
		}
		if s.Warmup == 0 {
			near("host time by day", day.AvailableS, r.UsefulS+r.WastedS+r.IdleS+r.PendingS)
			near("used", day.UsedS, r.UsefulS+r.WastedS+r.PendingS)
			if day.Allocated != r.Allocated || day.Succeeded != r.Succeeded || day.Failed != r.Failed {
				t.Errorf("by day %v, in all %d/%d/%d", day, r.Allocated, r.Succeeded, r.Failed)
			}
		}
		if r.Utilisation != nil {
			available := r.UsefulS + r.WastedS + r.IdleS + r.PendingS
			near("use", *r.Utilisation, 100*(r.UsefulS+r.WastedS+r.PendingS)/available)
		}
		for what, v := range map[string]float64{"useful": r.UsefulS, "wasted": r.WastedS, "idle": r.IdleS,
			"pending": r.PendingS} {
			if v < -1e-3 {
				t.Errorf("%s is %v", what, v)
			}
		}
		if ends := r.Succeeded + r.Failed + r.Returned; ends > r.Allocated || r.Allocated-ends > r.Unfinished {
			t.Errorf("%d placed, %d succeeded, %d failed, %d returned, %d left", r.Allocated, r.Succeeded, r.Failed,
				r.Returned, r.Unfinished)
		}
		if r.Response.N != r.Succeeded || r.Makespan.N != r.Succeeded {
			t.Errorf("%d responses and %d makespans of %d", r.Response.N, r.Makespan.N, r.Succeeded)
		}
		again, err := Run(s)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(r)
		b, _ := json.Marshal(again)
		if string(a) != string(b) {
			t.Errorf("twice:\n%s\n%s", a, b)
		}
	})
}
