package predictor

import (
	"math"
	"time"
)

// A memo holds what a reader has said at one time for the anchors: by the opinions, and by
// the pool's lessons.
type memo struct {
	at      int64
	told    int              // anchors that are filled in
	opinion [classes]float64 // log-odds, as few ask between the anchors
	lesson  [classes]float64 // hazard summed from then on
}

// mostHazard bounds a summed hazard: a stay of e^-50.
const mostHazard = 50.0

func hazardOf(p float64) float64 { return min(mostHazard, -math.Log(p)) }

// Stay is the probability that the host, available at now, stays so for d: see
// Predictor. It assumes that the session which the record tells of still runs.
// It allocates nothing. What it found at one time it remembers for the next question of
// that time, so a reader is for one goroutine at a time.
func (n *Reader) Stay(now time.Time, d time.Duration) (p float64, known bool) {
	at, ms := millis(now), d.Milliseconds()
	known = n.knownAt(at)
	if d <= 0 {
		return 1, known
	}
	if n.leave > 0 && at+ms > n.leave {
		return 0, known
	}
	if n.pool.lessons == nil || ms <= 0 {
		return n.told(at, ms), known
	}
	return math.Exp(-n.learnt(at, ms)), known
}

// Told is what the record and the pool's records say of a stay, without what the pool
// learnt by what came true: any two peers with the same records say the same.
func (n *Reader) Told(now time.Time, d time.Duration) float64 {
	at, ms := millis(now), d.Milliseconds()
	switch {
	case d <= 0:
		return 1
	case n.leave > 0 && at+ms > n.leave:
		return 0
	}
	return n.told(at, ms)
}

func (n *Reader) told(now, d int64) float64 {
	var said [opinions]float64
	n.opinions(&said, now, d)
	return aggregate(&n.weight, &said)
}

// learnt is the hazard summed over d. At the anchors it is what the lessons say, but never
// less than at the one before; between them it rises as the opinions' does, and beyond the
// last as much as theirs. So it never falls with d.
func (n *Reader) learnt(now, d int64) float64 {
	c := 0
	for c < classes && anchors[c] < d {
		c++
	}
	n.remember(now, min(c+1, classes))
	m := &n.memo
	if c < classes && anchors[c] == d {
		return m.lesson[c]
	}
	opinion, began, from, before := hazardOf(n.told(now, d)), int64(0), 0.0, 0.0
	if c > 0 {
		began, from, before = anchors[c-1], m.hazard(c-1), m.lesson[c-1]
	}
	if c == classes {
		return before + max(0, opinion-from)
	}
	share := float64(d-began) / float64(anchors[c]-began)
	if rise := m.hazard(c) - from; rise > leastRise {
		share = max(0, min(1, (opinion-from)/rise))
	}
	return before + share*(m.lesson[c]-before)
}

// hazard is what the opinions say of an anchor, summed.
func (m *memo) hazard(c int) float64 { return hazardOf(odds(m.opinion[c])) }

// leastRise is a hazard from which on it is known how it rises in between.
const leastRise = 1e-9

// remember fills in the first anchors.
func (n *Reader) remember(now int64, upTo int) {
	m := &n.memo
	if m.at != now {
		m.at, m.told = now, 0
	}
	if m.told >= upTo {
		return
	}
	then := n.moment(now)
	for ; m.told < upTo; m.told++ {
		c := m.told
		var s said
		n.sayAt(&s, &then, anchors[c])
		m.opinion[c] = float64(s[sayMixed])
		m.lesson[c] = hazardOf(n.pool.lessons[c].answer(&s))
		if c > 0 {
			m.lesson[c] = max(m.lesson[c], m.lesson[c-1])
		}
	}
}
