package owner

import (
	"fmt"
	"math"
	"time"

	"godwit/owner/sensor"
)

// A user is what is known of somebody at the machine.
type user struct {
	active bool
	sensor string
	reason string
	until  time.Time // when active ends unless there is input; zero if not known
}

// user finds out whether somebody uses the machine. Any sensor's word that
// somebody does is enough. A coarse one counts only where no sensor sees all
// input. Where none sees anything, somebody is assumed: the owner comes first.
func (s *situation) user() user {
	saw := s.inputSeen()
	u := user{reason: fmt.Sprintf("somebody uses this machine; work goes on after %s without input",
		formatDuration(s.rules.IdleTimeToRun))}
	switch {
	case !saw.any && saw.blind:
		return user{active: true, reason: "no sensor can tell whether somebody uses this machine: `godwit doctor` says why"}
	case !saw.any:
		return user{active: true, reason: "the sensors have not reported yet"}
	}
	var touched time.Time
	for _, r := range s.readings {
		if r.Blind != "" || r.Kind != sensor.Input && r.Kind != sensor.Wake {
			continue
		}
		if r.Present && !(r.Coarse && saw.whole) {
			u.active, u.sensor, u.until = true, r.Sensor, time.Time{}
			return u
		}
		at := r.Touched
		if at.After(s.now) { // a clock was set back
			at = s.now
		}
		if at.After(touched) {
			touched, u.sensor = at, r.Sensor
		}
	}
	u.until = touched.Add(s.rules.IdleTimeToRun)
	u.active = !touched.IsZero() && s.now.Before(u.until)
	return u
}

// seen says what the sensors of input see.
type seen struct {
	any   bool // something
	whole bool // every way in, as it happens
	blind bool // a sensor is there that sees nothing
}

func (s *situation) inputSeen() (out seen) {
	for _, r := range s.readings {
		switch {
		case r.Kind != sensor.Input:
		case r.Blind != "":
			out.blind = true
		default:
			out.any = true
			out.whole = out.whole || !r.Coarse && !r.Partial
		}
	}
	return out
}

const (
	// averageOver is the time constant of the averages: BOINC's clients average
	// the use of the CPU over about ten seconds too. A compiler that runs for a
	// second stops nothing, a game does within three.
	averageOver = 10 * time.Second
	// releaseAt is the share of a limit below which the average must fall
	// before work goes on: without a gap, a load at the limit would stop and
	// start the tasks every second.
	releaseAt = 0.75
)

// An average follows a share of the machine, and says with hysteresis whether
// it is over a limit.
type average struct {
	value  float64
	at     time.Time // of the newest sample
	over   bool
	sensor string
}

// take adds a sample; nil where no sensor sees. A limit of 0 is none.
func (a *average) take(r *sensor.Reading, limit float64) {
	if r == nil {
		*a = average{}
		return
	}
	if r.At.After(a.at) {
		dt := averageOver / 10 // of the first sample
		if !a.at.IsZero() {
			dt = r.At.Sub(a.at)
		}
		a.value += (1 - math.Exp(-dt.Seconds()/averageOver.Seconds())) * (r.Value - a.value)
		a.at, a.sensor = r.At, r.Sensor
	}
	switch {
	case limit <= 0:
		a.over = false
	case a.value > limit:
		a.over = true
	case a.value < limit*releaseAt:
		a.over = false
	}
}
