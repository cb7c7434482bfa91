package sim

import (
	"math"
	"time"

	"godwit/trace"
)

// forever is the work that a host can do which stays until after the run.
const forever = math.MaxFloat64

// speed is how fast a host works through a spell, by the reference core.
func (o *oracle) speed(host int, s *trace.Spell) float64 {
	if s.State != trace.Available {
		return 0
	}
	if o.speeds == Uniform {
		return 1
	}
	ghz := o.hosts[host].GHz
	if ghz <= 0 {
		ghz = 1
	}
	return ghz * s.CPU
}

// at moves a host's cursor on to the spell that holds at now, and returns it: Len
// or more where there is none. Times must not decrease.
func (o *oracle) at(host int, now time.Time) int {
	h := o.hosts[host].History
	k := o.cursor[host]
	if k < h.Len() && h.Spell(k).Start.After(now) {
		return h.Len() // it has not come yet
	}
	for k < h.Len() && !h.Spell(k).End.After(now) {
		k++
	}
	o.cursor[host] = k
	return k
}

// lasts is the work, in nanoseconds of the reference core, that a host can do from
// from, at or after now, until it stops being available; forever when it is
// still there at the end of the run. A host that leaves at now can do none.
func (o *oracle) lasts(host int, now, from time.Time) float64 {
	h := o.hosts[host].History
	sum := 0.0
	for k := o.at(host, now); k < h.Len(); k++ {
		s := h.Spell(k)
		if s.State != trace.Available {
			return sum
		}
		sum += float64(after(&s, from)) * o.speed(host, &s)
		if !s.End.Before(o.end) {
			return forever
		}
	}
	return sum
}

// completes returns when a host would complete work begun at from, standing
// still while its owner is there, and false where the task would be lost before.
// What the run does not see to its end comes after all that it does.
func (o *oracle) completes(host int, from time.Time, work float64) (time.Time, bool) {
	h := o.hosts[host].History
	stood := time.Duration(0) // since its owner came
	for k := o.cursor[host]; k < h.Len(); k++ {
		s := h.Spell(k)
		switch s.State {
		case trace.Available:
			stood = 0
			speed, part := o.speed(host, &s), after(&s, from)
			if can := float64(part) * speed; can >= work && speed > 0 {
				return s.End.Add(time.Duration(work/speed) - part), true
			}
			work -= float64(part) * speed
		case trace.UserPresent, trace.CPUBusy:
			if !o.suspend {
				return time.Time{}, false
			}
			if stood += s.Length(); o.grace > 0 && stood >= o.grace {
				return time.Time{}, false
			}
		default:
			return time.Time{}, false
		}
		if !s.End.Before(o.end) {
			return s.End.Add(time.Duration(min(work, float64(longest)))), true
		}
	}
	return time.Time{}, false
}

// after is how much of a spell lies after a time.
func after(s *trace.Spell, from time.Time) time.Duration {
	if from.After(s.Start) {
		return max(0, s.End.Sub(from))
	}
	return s.Length()
}
