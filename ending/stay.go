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
	dayParts = 8
	partTime = 24 * time.Hour / dayParts
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

// A curve is the probability to stay for at least marks.
type curve [curveMarks]float64

// curveOf asks a reader for its curve from a time on.
func curveOf(r *predictor.Reader, from time.Time) *curve {
	c := &curve{}
	was := 1.0
	for i, m := range marks {
		p, _ := r.Stay(from, time.Duration(m*float64(time.Second)))
		was = min(was, max(p, 0))
		c[i] = was
	}
	return c
}

// at is the probability to stay for s seconds: straight between the marks.
func (c *curve) at(s float64) float64 {
	k := sort.SearchFloat64s(marks[:], s)
	was, from := 1.0, 0.0
	if k > 0 {
		was, from = c[k-1], marks[k-1]
	}
	if k == curveMarks {
		return was
	}
	return was + (c[k]-was)*(s-from)/(marks[k]-from)
}

// draw is how long a host stays that has stayed for since seconds of the curve: seconds
// from then on, without end if the curve does not tell.
func (c *curve) draw(since float64, rng *rand.Rand) float64 {
	u := rng.Float64() * max(c.at(since), leastStay)
	k := sort.Search(curveMarks, func(i int) bool { return c[i] < u })
	if k == curveMarks {
		return math.Inf(1)
	}
	was, from := 1.0, 0.0
	if k > 0 {
		was, from = c[k-1], marks[k-1]
	}
	end := from + (was-u)/(was-c[k])*(marks[k]-from)
	return max(0, end-since)
}

// mean is how long a host stays in the mean, as far as the marks reach.
func (c *curve) mean() float64 {
	was, from, sum := 1.0, 0.0, 0.0
	for k, m := range marks {
		sum += (was + c[k]) / 2 * (m - from)
		was, from = c[k], m
	}
	return sum
}

// within is the probability to stay for d more after since.
func (c *curve) within(since, d float64) float64 {
	return c.at(since+d) / max(c.at(since), leastStay)
}

// A stayer has the curves of one member: of its session now, from now on, and of later
// ones, by the part of the day in which they begin, made when one is needed.
type stayer struct {
	record predictor.Record
	pool   *predictor.Pool
	now    time.Time
	first  *curve
	later  [dayParts]*curve
}

// session is the curve of the session that runs now.
func (s *stayer) session() *curve {
	if s.first == nil {
		r := predictor.NewReader(&s.record, s.pool)
		s.first = curveOf(&r, s.now)
	}
	return s.first
}

// fresh is the curve of a session that begins so many seconds from now.
func (s *stayer) fresh(in float64) *curve {
	at := s.now.Add(time.Duration(in * float64(time.Second)))
	k := partOf(at)
	if s.later[k] == nil {
		// The record as it would be if the session began within a day, in this part of it.
		from := s.now.Truncate(24 * time.Hour).Add(time.Duration(k) * partTime).Add(partTime / 2)
		if from.Before(s.now) {
			from = from.Add(24 * time.Hour)
		}
		rec := s.record
		rec.Up, rec.Blind, rec.Since, rec.Leave = true, false, uint32(from.Unix()), 0
		r := predictor.NewReader(&rec, s.pool)
		s.later[k] = curveOf(&r, from)
	}
	return s.later[k]
}

// partOf is the part of the day of a time, in UTC as all of a record is.
func partOf(at time.Time) int {
	return int(at.Sub(at.Truncate(24*time.Hour)) / partTime)
}
