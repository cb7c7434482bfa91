package ending

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"godwit/predictor"
)

const (
	// curveMarks are the times for which a survival curve is asked, each by a half octave
	// after the one before, from firstMark on: to 240 days.
	curveMarks = 40
	firstMark  = 20 * time.Second
	// dayParts is how many parts of the day later sessions are told apart by.
	dayParts  = 8
	dayLength = hoursPerDay * time.Hour
	partTime  = dayLength / dayParts
	// leastStay bounds the survival that is asked of a predictor from below: none is surer.
	leastStay = 1e-9
)

// marks are the times of all curves, in seconds.
var marks = func() (m [curveMarks]float64) {
	for i := range m {
		m[i] = firstMark.Seconds() * math.Exp2(float64(i)/2)
	}
	return m
}()

// A curve is the probability to stay for at least marks. To ask a predictor is what it costs, so that the last marks,
// to which hardly anybody stays, are asked for only when they are needed.
type curve struct {
	at   [curveMarks]float64
	upTo int // marks that were asked for
	ask  func() (predictor.Reader, time.Time)
}

// hardly is the probability of a stay beyond which a curve is asked for when it is needed.
const hardly = 1. / 64

// curveOf is what a reader has of stays from a time on. It is called again for marks that are needed later.
func curveOf(ask func() (predictor.Reader, time.Time)) *curve {
	c := &curve{ask: ask}
	c.reach(hardly)
	return c
}

// reach asks for further marks until the probability is below p.
func (c *curve) reach(p float64) {
	was := 1.0
	if c.upTo > 0 {
		was = c.at[c.upTo-1]
	}
	if was < p || c.upTo == curveMarks {
		return
	}
	r, from := c.ask()
	for was >= p && c.upTo < curveMarks {
		said, _ := r.Stay(from, time.Duration(marks[c.upTo]*float64(time.Second)))
		was = min(was, max(said, 0))
		c.at[c.upTo] = was
		c.upTo++
	}
}

// whole has all marks asked for.
func (c *curve) whole() { c.reach(-1) }

// stays is the probability to stay for s seconds: straight between the marks.
func (c *curve) stays(s float64) float64 {
	k := sort.SearchFloat64s(marks[:], s)
	if k >= c.upTo {
		c.whole()
	}
	was, from := 1.0, 0.0
	if k > 0 {
		was, from = c.at[k-1], marks[k-1]
	}
	if k == curveMarks {
		return was
	}
	return was + (c.at[k]-was)*(s-from)/(marks[k]-from)
}

// draw is how long a host stays that has stayed for since seconds of the curve: seconds
// from then on, without end if the curve does not tell.
func (c *curve) draw(since float64, rng *rand.Rand) float64 {
	u := rng.Float64() * max(c.stays(since), leastStay)
	if c.reach(hardly); u <= c.at[c.upTo-1] {
		c.whole()
	}
	k := sort.Search(c.upTo, func(i int) bool { return c.at[i] < u })
	if k == curveMarks {
		return math.Inf(1)
	}
	was, from := 1.0, 0.0
	if k > 0 {
		was, from = c.at[k-1], marks[k-1]
	}
	end := from + (was-u)/(was-c.at[k])*(marks[k]-from)
	return max(0, end-since)
}

// mean is how long a host stays in the mean, as far as the marks reach.
func (c *curve) mean() float64 {
	c.whole()
	was, from, sum := 1.0, 0.0, 0.0
	for k, m := range marks {
		sum += (was + c.at[k]) / 2 * (m - from)
		was, from = c.at[k], m
	}
	return sum
}

// within is the probability to stay for d more after since.
func (c *curve) within(since, d float64) float64 {
	return c.stays(since+d) / max(c.stays(since), leastStay)
}

// A stayer has the curves of one member: of its session now, from now on, and of later
// ones, by the part of the day in which they begin, made when one is needed.
type stayer struct {
	record predictor.Record
	pool   *predictor.Pool
	now    time.Time
	today  float64 // seconds of the day of now, in UTC as all of a record is
	first  *curve
	later  [dayParts]*curve
}

// session is the curve of the session that runs now.
func (s *stayer) session() *curve {
	if s.first == nil {
		s.first = curveOf(func() (predictor.Reader, time.Time) { return predictor.NewReader(&s.record, s.pool), s.now })
	}
	return s.first
}

// fresh is the curve of a session that begins so many seconds from now.
func (s *stayer) fresh(in float64) *curve {
	k := int(math.Mod(s.today+in, dayLength.Seconds()) / partTime.Seconds())
	if s.later[k] == nil {
		s.later[k] = curveOf(func() (predictor.Reader, time.Time) { return s.laterSession(k) })
	}
	return s.later[k]
}

// laterSession has the record as it would be if the session began within a day, in a part of it, and when that is.
func (s *stayer) laterSession(part int) (predictor.Reader, time.Time) {
	from := s.now.Truncate(24 * time.Hour).Add(time.Duration(part) * partTime).Add(partTime / 2)
	if from.Before(s.now) {
		from = from.Add(24 * time.Hour)
	}
	rec := s.record
	rec.Up, rec.Blind, rec.Since, rec.Leave = true, false, uint32(from.Unix()), 0
	return predictor.NewReader(&rec, s.pool), from
}
