package predictor

import "math"

const (
	// usualHours is the weight of the pool's share of stays in a host's, in hours there.
	usualHours = 12.0
	// largeHours is the weight of one exit a day in the pool's, in hours there.
	largeHours = 24.0
)

// usual is on what share of the times at which it was there the host stayed for d more,
// whatever its age and the hour then: by how long its sessions lasted, and the one that
// runs, as far as it tells.
func (n *Reader) usual(now, d int64) float64 {
	more := hours(d)
	atLarge := n.pool.atLarge(d)
	stayed, all := n.lives.beyond(more)
	if n.up {
		if told := hours(now-n.since) - more; told > 0 {
			stayed, all = stayed+told, all+told
		}
	}
	return (stayed + usualHours*atLarge) / (all + usualHours)
}

// atLarge is usual of all hosts together.
func (p *Pool) atLarge(d int64) float64 {
	for c, anchor := range anchors {
		if d == anchor {
			return p.usual[c]
		}
	}
	return p.lives.usual(hours(d))
}

// usual is what a pool with these sessions makes of a stay of more hours.
func (l *Lives) usual(more float64) float64 {
	stayed, all := l.beyond(more)
	return (stayed + largeHours*math.Exp(-more*priorRate)) / (all + largeHours)
}

// beyond is for how many hours hosts were there in all, and for how many of these a stay
// of more hours lay ahead. Lengths are spread evenly over the logarithm of each octave.
func (l *Lives) beyond(more float64) (stayed, all float64) {
	for k := range octaves {
		n := l.Ends[k] + l.Lost[k]
		if n == 0 {
			continue
		}
		all += n * middles[k]
		switch from := begins[k]; {
		case k == 0:
			stayed += n * max(0, middles[0]-more)
		case more <= from:
			stayed += n * (middles[k] - more)
		case more < 2*from:
			stayed += n * (2*from - more - more*math.Log(2*from/more)) / math.Ln2
		}
	}
	return stayed, all
}

// begins are from where on lengths are in each octave, in hours.
var begins = func() (b [octaves]float64) {
	for k := 1; k < octaves; k++ {
		b[k] = math.Exp2(float64(k-1)) * msPerMinute / msPerHour
	}
	return b
}()

// weekend is the share of the time from now for d that is a Saturday or a Sunday (UTC).
func weekend(now, d int64) float64 {
	return float64(weekendUpTo(now+d)-weekendUpTo(now)) / float64(d)
}

// weekendUpTo is how long it was weekend since 1970, which began on a Thursday.
func weekendUpTo(ms int64) int64 {
	const week, before, long = 7 * msPerDay, 2 * msPerDay, 2 * msPerDay
	return ms/week*long + max(0, min(long, ms%week-before))
}
