package zhang

import (
	"fmt"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

// A machine is a resource of a synthetic grid.
type machine struct {
	until []float64 // of each day, the hours from its start through which it is available
	ghz   float64   // 0: of no known speed, which is the reference core's
	cpu   []share   // what tasks get; nil is all of it, always
}

// A share of the processor holds from an hour on.
type share struct{ hour, of float64 }

func hours(h float64) time.Duration { return time.Duration(h * float64(time.Hour)) }

// grid makes the trace of machines r1, r2, ... over whole days.
func grid(name string, days int, machines ...machine) (*trace.Trace, error) {
	t := &trace.Trace{Name: name, Synthetic: "made by hand, as the publication says", Start: reproduce.Epoch,
		End: reproduce.Epoch.Add(time.Duration(days) * reproduce.Day)}
	for i, m := range machines {
		h := &trace.History{Host: fmt.Sprint("r", i+1)}
		if err := m.write(h, days); err != nil {
			return nil, fmt.Errorf("%s: making r%d: %w", name, i+1, err)
		}
		h.Extend(t.End)
		t.Hosts = append(t.Hosts, trace.Host{History: h, GHz: m.ghz})
	}
	return t, nil
}

// write notes the machine's days. A change of its share is noted only while it
// is available.
func (m machine) write(h *trace.History, days int) error {
	cpu := m.cpu
	if cpu == nil {
		cpu = []share{{0, 1}}
	}
	for d := range days {
		from, to := 24*float64(d), 24*float64(d)+m.until[d]
		if m.until[d] > 0 {
			holds := cpu[0].of
			for _, c := range cpu {
				if c.hour <= from {
					holds = c.of
				}
			}
			if err := h.Append(reproduce.Epoch.Add(hours(from)), trace.Available, holds); err != nil {
				return err
			}
			for _, c := range cpu {
				if c.hour > from && c.hour < to {
					if err := h.Append(reproduce.Epoch.Add(hours(c.hour)), trace.Available, c.of); err != nil {
						return err
					}
				}
			}
		}
		if m.until[d] < 24 {
			if err := h.Append(reproduce.Epoch.Add(hours(to)), trace.Unavailable, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// saturated is a scenario of the published simulator on a grid, with a job that
// always waits (docs/spec/zhang.md section 11.0).
func saturated(t *trace.Trace, placement string, work time.Duration) *sim.Scenario {
	return &sim.Scenario{
		Trace: t, Placement: placement, Paper: true, Seed: 1,
		Workload: sim.Workload{Requeue: true, Classes: []sim.Class{{Name: "job", Arrival: sim.Saturated, Work: work}}},
	}
}

// arriving is the same with jobs that come at hours after the start.
func arriving(t *trace.Trace, placement string, work time.Duration, at ...float64) *sim.Scenario {
	s := saturated(t, placement, work)
	c := &s.Workload.Classes[0]
	c.Arrival = sim.AtTimes
	for _, h := range at {
		c.Times = append(c.Times, hours(h))
	}
	return s
}

// asf writes a day's placements, successes and failures.
func asf(d sim.Day) string { return fmt.Sprintf("%d/%d/%d", d.Allocated, d.Succeeded, d.Failed) }

// success writes S/(S+F) in percent with a digit; "N/A" where nothing ended.
func success(s, f uint64) string {
	if s+f == 0 {
		return "N/A"
	}
	return reproduce.Percent(float64(s) / float64(s+f))
}
