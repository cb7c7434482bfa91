package ending

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"godwit/trace"
)

// An absence is a time in which a member ran no tasks.
type absence struct {
	length float64 // seconds
	from   float64 // hour of the day at which it began
	owner  bool    // the member was there all the time: its owner had it
}

const (
	// pooledWeight is how many absences of its own the absences of all members are worth
	// to a member.
	pooledWeight = 2
	// nearHours is how far apart in the day two absences are half as alike as two that
	// began together: e^-(d/nearHours)^2.
	nearHours = 3.6
	// enough is how many absences from about an hour of the day are asked for before those
	// of the whole day stand for them.
	enough = 12
	// usualAbsence, in seconds, and usualSpread, of the logarithm, are the lognormal law of
	// absences where no member tells of any: between those of the phones and the servers
	// that docs/measured.md speaks of.
	usualAbsence, usualSpread = 3600, 1.7
)

// absencesOf lists the whole absences of the last spells of a history.
func absencesOf(h *trace.History) (out []absence) {
	if h == nil {
		return nil
	}
	var open *absence
	for i := range h.Len() {
		s := h.Spell(i)
		length := s.Length().Seconds()
		there := s.State == trace.UserPresent || s.State == trace.CPUBusy
		if s.State == trace.Available {
			if open != nil && open.length > 0 {
				out = append(out, *open)
			}
			open = nil
			continue
		}
		if open == nil {
			open = &absence{from: hourOf(s.Start), owner: true}
		}
		open.length += length
		open.owner = open.owner && there
	}
	return out
}

// hourOf is the hour of the day of a time, with its part.
func hourOf(at time.Time) float64 { return at.Sub(at.Truncate(24 * time.Hour)).Hours() }

// near is how alike absences are by the hours at which they began.
func near(a, b float64) float64 {
	d := math.Abs(a - b)
	d = min(d, hoursPerDay-d)
	return math.Exp(-d * d / (nearHours * nearHours))
}

// absences are those of all members.
type absences struct {
	all    []absence
	byPart [dayParts][]int // of all, by when they began
	beyond []float64       // sums of what they have beyond forgotten; nil before it is asked for
}

func (p *absences) add(a absence) {
	k := int(a.from/partTime.Hours()) % dayParts
	p.byPart[k] = append(p.byPart[k], len(p.all))
	p.all = append(p.all, a)
}

// draw draws one that begins at an hour of the day.
func (p *absences) draw(hour float64, rng *rand.Rand) absence {
	if len(p.all) == 0 {
		return absence{length: usualAbsence * math.Exp(usualSpread*rng.NormFloat64()), from: hour}
	}
	if rng.IntN(2) == 0 {
		// Spells reach the less far back the more often a member comes and goes, so that
		// those of another part of the day are of the others.
		return p.all[rng.IntN(len(p.all))]
	}
	k := int(hour/partTime.Hours()) % dayParts
	before, here, after := p.byPart[(k+dayParts-1)%dayParts], p.byPart[k], p.byPart[(k+1)%dayParts]
	if len(here) >= enough {
		return p.all[here[rng.IntN(len(here))]]
	}
	if n := len(before) + len(here) + len(after); n >= enough {
		i := rng.IntN(n)
		for _, l := range [][]int{before, here, after} {
			if i < len(l) {
				return p.all[l[i]]
			}
			i -= len(l)
		}
	}
	return p.all[rng.IntN(len(p.all))]
}

// drawOf draws an absence of a member that begins at an hour: one of its own, or one of
// all.
func (p *absences) drawOf(own []absence, hour float64, rng *rand.Rand) absence {
	sum := 0.0
	for _, a := range own {
		sum += near(a.from, hour)
	}
	if x := rng.Float64() * (sum + pooledWeight); x < sum {
		for _, a := range own {
			if x -= near(a.from, hour); x < 0 {
				return a
			}
		}
	}
	return p.draw(hour, rng)
}

// rest is what is left of an absence of a member that has lasted for so long.
func (p *absences) rest(own []absence, began float64, lasted float64, rng *rand.Rand) float64 {
	const tries = 24
	for range tries {
		if a := p.drawOf(own, began, rng); a.length > lasted {
			return a.length - lasted
		}
	}
	// It is longer than those that are known: as if lengths fell off with their square.
	return lasted * (1/max(math.Sqrt(rng.Float64()), leastStay) - 1)
}

// met is what is left of an absence of a member that is away, has been for atLeast and is
// met at a random time of it: long ones are met more often, by what they have beyond that.
func (p *absences) met(own []absence, atLeast float64, rng *rand.Rand) float64 {
	sum := 0.0
	for _, a := range own {
		sum += a.beyond(atLeast)
	}
	if p.beyond == nil {
		p.beyond = make([]float64, len(p.all))
		all := 0.0
		for i, a := range p.all {
			all += a.beyond(atLeast)
			p.beyond[i] = all
		}
	}
	pooled := 0.0
	if n := len(p.beyond); n > 0 {
		pooled = p.beyond[n-1] * pooledWeight / float64(n)
	}
	x := rng.Float64() * (sum + pooled)
	if sum+pooled == 0 {
		return atLeast * rng.ExpFloat64()
	}
	if x < sum {
		for _, a := range own {
			if x -= a.beyond(atLeast); x < 0 {
				return rng.Float64() * (a.length - atLeast)
			}
		}
	}
	n := len(p.beyond)
	k := min(sort.SearchFloat64s(p.beyond, rng.Float64()*p.beyond[n-1]), n-1)
	return rng.Float64() * max(0, p.all[k].length-atLeast)
}

// beyond is what an absence of a member that is gone has beyond a time.
func (a *absence) beyond(t float64) float64 {
	if a.owner {
		return 0
	}
	return max(0, a.length-t)
}
