package trace

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"
)

// office makes the machines of an office: owners come on working days, each at
// an hour of its own, work with breaks and go home; some leave the machine on.
// It uses all five states and has the daily and weekly rhythm that the other
// generators lack. Its numbers are plausible and fitted to no record.
func office() generator {
	return generator{
		kind: "office", name: "office", hosts: 100, days: 28,
		about: "owners' hours by day and week, fitted to no record",
		start: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), // a Monday
		own:   true,
		host: func(h *Host, t *Trace, rng *rand.Rand, _ *wave) error {
			h.GHz = math.Round(10*(1.6+2.6*rng.Float64())) / 10
			o := newOwner(rng)
			for i, from := 0, t.Start; from.Before(t.End); i, from = i+1, from.Add(day) {
				weekend := from.Weekday() == time.Saturday || from.Weekday() == time.Sunday
				for _, m := range o.day(weekend, i == 0, rng) {
					if at := from.Add(m.at); at.Before(t.End) {
						if err := h.History.Append(at, m.state, 1); err != nil {
							return err
						}
					}
				}
			}
			h.History.Extend(t.End)
			return nil
		},
	}
}

// An owner is a person's habits.
type owner struct {
	arrives, leaves float64 // hours after midnight, on average
	leavesOn        bool    // does not switch the machine off
	comes           float64 // probability on a working day
	comesWeekend    float64
	batch           float64 // probability of own programs at night
}

func newOwner(rng *rand.Rand) owner {
	o := owner{
		arrives:      9 + 0.75*rng.NormFloat64(),
		leaves:       17.5 + rng.NormFloat64(),
		leavesOn:     rng.Float64() < 0.5,
		comes:        0.8 + 0.18*rng.Float64(),
		comesWeekend: 0.1 * rng.Float64(),
		batch:        0.2 * rng.Float64(),
	}
	o.arrives = min(max(o.arrives, 5), 11)
	o.leaves = min(max(o.leaves, o.arrives+4), 21)
	return o
}

// A moment is a change of state, a time after midnight.
type moment struct {
	at    time.Duration
	state State
}

// A plan collects the moments of one day.
type plan []moment

// add notes a change at an hour, which is drawn into the day if it lies outside.
func (p *plan) add(hour float64, s State) {
	hour = min(max(hour, 0), 23.99)
	*p = append(*p, moment{time.Duration(math.Round(hour*3600)) * time.Second, s})
}

// day draws the changes of one day, in order.
func (o owner) day(weekend, first bool, rng *rand.Rand) []moment {
	const (
		batchFrom = 22.5      // o'clock
		batchFor  = 2.0       // mean hours of the owner's programs at night
		restart   = 10.0 / 60 // hours
		restarts  = 0.03      // probability a day, for machines left on
	)
	home := Unavailable
	if o.leavesOn {
		home = Available
	}
	var all plan
	if first {
		all.add(0, home)
	}
	if o.leavesOn && rng.Float64() < restarts {
		at := 4 * rng.Float64()
		all.add(at, Unavailable)
		all.add(at+restart, home)
	}
	comes := o.comes
	if weekend {
		comes = o.comesWeekend
	}
	if rng.Float64() < comes {
		o.work(&all, rng)
	}
	if o.leavesOn && rng.Float64() < o.batch {
		all.add(batchFrom, CPUBusy)
		all.add(batchFrom+min(batchFor*rng.ExpFloat64(), 1.4), Available)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].at < all[j].at })
	return all
}

// work draws a working day: from the arrival to the departure, with breaks.
func (o owner) work(p *plan, rng *rand.Rand) {
	const (
		jitter  = 0.3      // hours, of one person's arrivals and departures
		goodbye = 2.0 / 60 // hours from the word to leave to the switch
		lunch   = 12.5     // o'clock
		atDesk  = 0.8      // mean hours of use without a break
		away    = 0.35     // mean hours of a break
	)
	at, end := o.arrives+jitter*rng.NormFloat64(), o.leaves+jitter*rng.NormFloat64()
	at, end = max(at, 4.5), min(end, 22) // after the night's restart, before midnight
	eats := lunch + jitter*rng.NormFloat64()
	for at < end {
		p.add(at, UserPresent)
		stop := min(at+atDesk*rng.ExpFloat64(), end)
		back := stop + away*rng.ExpFloat64()
		if at < eats && stop >= eats {
			stop, back = min(eats, end), eats+0.75
		}
		if stop >= end {
			break
		}
		p.add(stop, Available)
		at = back
	}
	if o.leavesOn {
		p.add(end, Available)
		return
	}
	p.add(end, Leaving)
	p.add(end+goodbye, Unavailable)
}
