package owner

import (
	"context"
	"time"

	"godwit/owner/sensor"
	"godwit/trace"
)

// A Replay is a sensor that sees what a history says of now, in place of this
// machine's own sensors: it plays the owner, for experiments. UserPresent and
// CPUBusy are an owner who is there, Leaving a machine that is about to go.
// A machine that is off cannot be played, so through Unavailable and Unobserved
// spells, and outside the history, the owner is there too: nothing runs.
type Replay struct {
	// History's times are the wall clock's. It is only read.
	History *trace.History
}

// Name returns "replay".
func (Replay) Name() string { return "replay" }

// Kinds returns Input and Going.
func (Replay) Kinds() []sensor.Kind { return []sensor.Kind{sensor.Input, sensor.Going} }

// Run plays until ctx ends.
func (r Replay) Run(ctx context.Context, report func(sensor.Reading)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		s, next := r.at(now)
		// Input first: nothing stands between a returning owner and the stop.
		report(sensor.Reading{Sensor: r.Name(), Kind: sensor.Input, At: now, Present: s != trace.Available &&
			s != trace.Leaving, Detail: "played: " + s.String()})
		going := sensor.Reading{Sensor: r.Name(), Kind: sensor.Going, At: now, On: s == trace.Leaving,
			Detail: "played: " + s.String()}
		if going.On { // before its notice nobody knows: a time told then is that of a planned shutdown
			going.Until = next
		}
		report(going)
		if next.IsZero() {
			<-ctx.Done()
			return
		}
		timer.Reset(time.Until(next))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// at returns the state at now, and when it next may change; zero for never.
func (r Replay) at(now time.Time) (s trace.State, next time.Time) {
	h := r.History
	switch i := h.Find(now); {
	case h.Len() > 0 && now.Before(h.Since()):
		return trace.Unobserved, h.Since()
	case i < 0 || !now.Before(h.Until()):
		return trace.Unobserved, time.Time{}
	default:
		spell := h.Spell(i)
		return spell.State, spell.End
	}
}
