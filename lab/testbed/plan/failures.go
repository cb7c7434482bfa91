package plan

import (
	"time"

	"godwit/internal/failure"
	"godwit/lab/testbed/clock"
	"godwit/sim"
	"godwit/trace"
)

// Failures describes how to draw the up and down times of a scenario's machines. Zero values mean those of the
// scenario.
type Failures struct {
	Scenario       string // file name
	Up, Down       time.Duration
	UpLaw, DownLaw sim.Law
	Seed           uint64
	SeedGiven      bool // false ignores Seed
}

// Draw draws the up and down times until the scenario's end. Without options they are those of a run.
func (f *Failures) Draw() (*trace.Trace, error) {
	e, err := Scenario(f.Scenario)
	if err != nil {
		return nil, err
	}
	m := e.Source.Machines
	if m == nil {
		return nil, failure.Usage("write `machines: {count: 6}` in place of its hosts",
			"%s: the scenario has no machines whose times are drawn", f.Scenario)
	}
	if f.Up != 0 {
		m.Up = f.Up
	}
	if f.Down != 0 {
		m.Down = f.Down
	}
	if f.UpLaw != "" {
		m.UpLaw = f.UpLaw
	}
	if f.DownLaw != "" {
		m.DownLaw = f.DownLaw
	}
	if f.SeedGiven {
		e.Source.Config.Seed = f.Seed
	}
	if (m.Up == 0) != (m.Down == 0) || m.Up == 0 && (f.UpLaw != "" || f.DownLaw != "") {
		return nil, failure.Usage("give both --up and --down, above 0",
			"machines that fail have a mean time up and a mean time down: these are %v and %v", m.Up, m.Down)
	}
	if err := e.Synthesize(); err != nil {
		return nil, failure.Usage("", "%w", err)
	}
	return until(e.Base.Trace, e.Base.End), nil
}

// until cuts a trace at end. It returns the whole trace if end is zero or after its end.
func until(t *trace.Trace, end time.Time) *trace.Trace {
	if end.IsZero() || !end.Before(t.End) {
		return t
	}
	out := *t
	out.End, out.Hosts = end, nil
	for _, h := range t.Hosts {
		out.Hosts = append(out.Hosts, trace.Host{History: clock.Cut(h.History, t.Start, end), GHz: h.GHz})
	}
	return &out
}

// CountFailures counts how often hosts of a trace go down after they were up.
func CountFailures(t *trace.Trace) (n int) {
	for _, h := range t.Hosts {
		for i := 1; i < h.History.Len(); i++ {
			if h.History.Spell(i).State == trace.Unavailable {
				n++
			}
		}
	}
	return n
}
