package predictor

import "math"

// anchors are the horizons for which a pool learns, each by itself: what is best over an
// hour is not what is best over a day. In between, Reader.Stay follows the opinions.
var anchors = [...]int64{10 * msPerMinute, 1 * msPerHour, 3 * msPerHour, 6 * msPerHour, 24 * msPerHour}

const classes = 5 // of horizons: len(anchors)

// A said is all that a pool's lessons look at when a stay is asked about, bounded: the
// log-odds of experts and opinions first, then what is no forecast by itself.
type said [terms]float32

// What a said has beyond the experts.
const (
	sayEven    = experts + iota // how often it left in all its past
	sayCliff                    // less the hazard of departures by the clock
	sayUsual                    // how often it stayed for so long
	sayMixed                    // the host's mixture of opinions
	sayLean                     // by how much it stayed more often than that
	sayAge                      // logarithm of hours since it came, and one
	sayOld                      // the same beyond a few hours
	sayOlder                    // and beyond half a day
	sayThere                    // how much of its last days it was there, as a fading mean
	sayWeekend                  // the share of the time ahead that is a weekend
	sayAlways                   // 1
	_          = uint(terms - 1 - sayAlways)
)

// From where on age has another slope: ln(1+2 h), ln(1+11 h).
const (
	oldFrom   = 1.1
	olderFrom = 2.5
)

// say fills in what is known of a stay for d.
func (n *Reader) say(s *said, now, d int64) {
	m := n.moment(now)
	n.sayAt(s, &m, d)
}

// sayAt is say at a time that was worked out before.
func (n *Reader) sayAt(s *said, m *moment, d int64) {
	var x [experts]float64
	n.askAt(&x, m, d)
	for i, v := range x {
		s[i] = float32(v)
	}
	even, cliff := m.stays(d), n.clock(m, d)
	var p [opinions]float64
	opine(&p, &x, even, cliff)
	old, fade := math.Log1p(hours(m.age)), math.Exp(-hours(m.age)/memory[recents-1])
	s[sayEven], s[sayCliff] = float32(logOdds(even)), float32(-min(mostOdds, cliff))
	s[sayUsual], s[sayMixed] = float32(logOdds(n.usual(m.now, d))), float32(logOdds(aggregate(&n.weight, &p)))
	s[sayLean] = float32(n.leaning(d))
	s[sayAge], s[sayOld], s[sayOlder] = float32(old), float32(max(0, old-oldFrom)), float32(max(0, old-olderFrom))
	s[sayThere] = float32(n.there[recents-1]*fade/memory[recents-1] + 1 - fade)
	s[sayWeekend], s[sayAlways] = float32(weekend(m.now, d)), 1
}

// fill makes terms of a fit of a said.
func (s *said) fill(x *[terms]float64) {
	for i, v := range s {
		x[i] = float64(v)
	}
}
