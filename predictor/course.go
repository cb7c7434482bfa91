package predictor

import "math"

// A dayCourse is the hazard of leaving in each hour of the day (UTC), per hour.
type dayCourse struct {
	rate [24]float64
	upTo [25]float64 // summed from midnight
}

func (c *dayCourse) sum() {
	for h, r := range c.rate {
		c.upTo[h+1] = c.upTo[h] + r
	}
}

// hazard is the hazard summed over the time from now for d, in milliseconds.
func (c *dayCourse) hazard(now, d int64) float64 { return c.sumTo(now+d) - c.sumTo(now) }

// sumTo sums from midnight of day 0 of the epoch to a time.
func (c *dayCourse) sumTo(ms int64) float64 {
	day, in := ms/msPerDay, ms%msPerDay
	h := in / msPerHour
	return float64(day)*c.upTo[24] + c.upTo[h] + c.rate[h]*hours(in%msPerHour)
}

// Departures by the clock. Where a host, or hosts at large, leave at an hour far
// more often than at others, such as when an office closes, that is no matter of
// chance and is kept apart: what exceeds cliffRatio times the usual rate is the
// cliff of that hour. Without limit nothing is one. Of 2.5 and 4, 4 was better on
// the halves that firstTrust comes from, where cliffs are the host's own.
const cliffRatio = 4.0

// sharedRatio is what suffices where hosts at large leave at that hour.
const sharedRatio = 2.5

// cliffDoubt is by how many standard deviations (of a Poisson count) fewer exits
// must still exceed that: a few departures at one hour are no habit.
const cliffDoubt = 2.0

// A tallied day is exits and hours there, for each hour of the day.
type tallied struct{ exits, up [24]float64 }

// split estimates the hazard of each hour, by what is tallied and a prior, and
// divides it into an even course and the cliffs above it. The usual rate, per
// hour there, is that of the hours without a cliff.
func (t *tallied) split(weight, hourWeight, usual float64, ratio *[24]float64, cliffRatio float64) (rate float64,
	course, cliff dayCourse) {
	var high [24]bool
	for range 2 {
		exits, up := weight*usual, weight
		for h := range 24 {
			if !high[h] {
				exits += t.exits[h]
				up += t.up[h]
			}
		}
		rate = exits / up
		for h := range 24 {
			expect := rate * ratio[h]
			if ratio[h] > sharedRatio {
				expect = rate + usual*(ratio[h]-1) // the clock does not ask how often one leaves otherwise
			}
			exits, prior, there := t.exits[h], hourWeight*expect, t.up[h]+hourWeight
			all := min(fastest, (exits+prior)/there)
			sure := min(all, (max(0, exits-cliffDoubt*math.Sqrt(exits))+prior)/there)
			high[h] = sure > cliffRatio*rate || ratio[h] > sharedRatio && !math.IsInf(cliffRatio, 1)
			course.rate[h], cliff.rate[h] = all, 0
			if high[h] {
				course.rate[h] = min(all, rate)
				cliff.rate[h] = all - course.rate[h]
			}
		}
	}
	course.sum()
	cliff.sum()
	return rate, course, cliff
}

// fastest bounds a hazard, per hour: one exit a second.
const fastest = 3600.0
