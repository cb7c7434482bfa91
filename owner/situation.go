package owner

import (
	"cmp"
	"slices"
	"time"

	"godwit/owner/sensor"
	"godwit/trace"
)

// A situation is what one decision rests on.
type situation struct {
	now      time.Time
	rules    Rules
	readings []sensor.Reading // those that see, by kind and sensor, after the blind ones are counted
	pause    Pause
}

// sorted makes the outcome independent of the order of readings.
func sorted(readings []sensor.Reading) []sensor.Reading {
	out := slices.Clone(readings)
	slices.SortStableFunc(out, func(a, b sensor.Reading) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Sensor, b.Sensor))
	})
	return out
}

// on returns the first reading of a kind that is On.
func (s *situation) on(k sensor.Kind) (sensor.Reading, bool) {
	for _, r := range s.readings {
		if r.Kind == k && r.Blind == "" && r.On {
			return r, true
		}
	}
	return sensor.Reading{}, false
}

// newest returns the newest reading of a kind that sees; nil for none.
func (s *situation) newest(k sensor.Kind) *sensor.Reading {
	var out *sensor.Reading
	for i, r := range s.readings {
		if r.Kind == k && r.Blind == "" && (out == nil || r.At.After(out.At)) {
			out = &s.readings[i]
		}
	}
	return out
}

// A verdict is what one rule says.
type verdict struct {
	holds, stop          bool
	state                trace.State
	rule, sensor, reason string
	until                time.Time
}
