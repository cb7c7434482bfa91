package owner

import (
	"context"
	"time"

	"godwit/owner/sensor"
	"godwit/trace"
)

// A Replay is a sensor that sees what a history says of now, in place of this
// machine's own sensors: it plays the owner, for experiments. UserPresent and
// CPUBusy are an owner who is there, Leaving a machine that is about to go. Of an available machine, other programs use
// the CPU that guests do not get.
// A machine that is off cannot be played, so through Unavailable and Unobserved
// spells, and outside the history, the owner is there too: nothing runs.
type Replay struct {
	// History's times are the wall clock's. It is only read.
	History *trace.History
}

// Name returns "replay".
func (Replay) Name() string { return "replay" }

// Kinds returns Input, Going and Load.
func (Replay) Kinds() []sensor.Kind { return []sensor.Kind{sensor.Input, sensor.Going, sensor.Load} }

// Run plays until ctx ends.
func (r Replay) Run(ctx context.Context, report func(sensor.Reading)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		s, share, next := r.at(now)
		// Input first: nothing stands between a returning owner and the stop.
		report(sensor.Reading{Sensor: r.Name(), Kind: sensor.Input, At: now, Present: s != trace.Available &&
			s != trace.Leaving, Detail: "played: " + s.String()})
		going := sensor.Reading{Sensor: r.Name(), Kind: sensor.Going, At: now, On: s == trace.Leaving,
			Detail: "played: " + s.String()}
		if going.On { // before its notice nobody knows: a time told then is that of a planned shutdown
			going.Until = next
		}
		report(going)
		report(sensor.Reading{Sensor: r.Name(), Kind: sensor.Load, At: now, Value: 1 - share, Detail: "played: " + s.String()})
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

// at returns the state at now, the share of the CPU that guests get in it, and the time of its next change, which is zero
// if there is none. Others use no CPU in states without guests.
func (r Replay) at(now time.Time) (s trace.State, share float64, next time.Time) {
	h := r.History
	switch i := h.Find(now); {
	case h.Len() > 0 && now.Before(h.Since()):
		return trace.Unobserved, 1, h.Since()
	case i < 0 || !now.Before(h.Until()):
		return trace.Unobserved, 1, time.Time{}
	default:
		spell := h.Spell(i)
		share = 1
		if spell.State == trace.Available && spell.CPU > 0 {
			share = spell.CPU
		}
		return spell.State, share, spell.End
	}
}
