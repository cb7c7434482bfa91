package trace

import (
	"math"
	"time"
)

// A span is a part of a series in which the host was available, in
// milliseconds from the series' start.
type span struct{ from, to int64 }

// A series is whether one host was available, through one day's window or one
// hour of it: Zhang 2010, section 6.1.4, who samples it each second. Here it is
// exact.
type series struct {
	known bool // observed all the time
	kind  kind
	up    []span
}

// kind is what a series is all through.
type kind uint8

const (
	mixed kind = iota
	allUp
	allDown
)

func newSeries(known bool, up []span, length int64) series {
	s := series{known: known, up: up}
	switch {
	case len(up) == 0:
		s.kind = allDown
	case up[0] == span{0, length}:
		s.kind = allUp
	}
	return s
}

// at returns the series of length milliseconds that begins at from (Unix
// milliseconds). Series of a host are taken in order of time: i is the change to
// look from, and what is returned for the next call.
func (h *History) at(from, length int64, i int) (series, int) {
	n := len(h.changes)
	known := n > 0 && h.changes[0].at <= from && h.until >= from+length
	for i+1 < n && h.changes[i+1].at <= from {
		i++
	}
	var up []span
	for j := i; j < n && h.changes[j].at < from+length; j++ {
		c := h.changes[j]
		end := h.until
		if j+1 < n {
			end = h.changes[j+1].at
		}
		if end <= from {
			continue
		}
		if c.state == Unobserved {
			known = false
		}
		if c.state != Available {
			continue
		}
		s := span{max(c.at, from) - from, min(end, from+length) - from}
		if k := len(up); k > 0 && up[k-1].to == s.from {
			up[k-1].to = s.to // another CPU share
		} else if s.to > s.from {
			up = append(up, s)
		}
	}
	return newSeries(known, up, length), i
}

// part cuts a piece out of a series.
func (s series) part(from, length int64) series {
	if s.kind != mixed {
		return series{known: s.known, kind: s.kind} // nothing else is asked of constant ones
	}
	var up []span
	for _, u := range s.up {
		if p := (span{max(u.from, from) - from, min(u.to, from+length) - from}); p.to > p.from {
			up = append(up, p)
		}
	}
	return newSeries(s.known, up, length)
}

// events counts the times that a series goes from up to down.
func (s series) events(length int64) int {
	n := len(s.up)
	if n > 0 && s.up[n-1].to == length {
		n--
	}
	return n
}

func (s series) total() (sum int64) {
	for _, u := range s.up {
		sum += u.to - u.from
	}
	return sum
}

// pmcc is the product-moment correlation coefficient of two series of one
// length, in the population form (Zhang 2010, equations 5.1 to 5.3). With values
// 0 and 1 the sums are times: rho = (overlap - a b) / sqrt(a (1-a) b (1-b)),
// where a and b are the shares of time that the two are up. Neither may be
// constant.
func (s series) pmcc(o series, length int64) float64 {
	var overlap int64
	for i, j := 0, 0; i < len(s.up) && j < len(o.up); {
		x, y := s.up[i], o.up[j]
		overlap += max(0, min(x.to, y.to)-max(x.from, y.from))
		if x.to < y.to {
			i++
		} else {
			j++
		}
	}
	l := float64(length)
	a, b := float64(s.total())/l, float64(o.total())/l
	rho := (float64(overlap)/l - a*b) / math.Sqrt(a*(1-a)*b*(1-b))
	return min(1, max(-1, rho))
}

// PMCC correlates the availability of two histories, or of one with itself, over
// length from two times: 1 where they were available and unavailable together,
// -1 where always one of them was. It is not defined, and ok is false, where a
// history was available all the time or none of it, or was not observed
// throughout (Zhang 2010, section 6.1.4).
func PMCC(a *History, fromA time.Time, b *History, fromB time.Time, length time.Duration) (rho float64, ok bool) {
	l := length.Milliseconds()
	if l <= 0 {
		return 0, false
	}
	x, _ := a.at(fromA.UnixMilli(), l, 0)
	y, _ := b.at(fromB.UnixMilli(), l, 0)
	if !x.known || !y.known || x.kind != mixed || y.kind != mixed {
		return 0, false
	}
	return x.pmcc(y, l), true
}
