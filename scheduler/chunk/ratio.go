package chunk

import (
	"math"
	"time"
)

// learning is the weight of what was measured last in a ratio: 1/2 (Sim-PETEK, Eq 3.1
// and all its worked numbers; its Fig 3.4 prints 1/round, which nothing there goes by).
const learning = 0.5

// A learner keeps the expected node processing ratios (ENPR) of Sim-PETEK: what share
// of all runs each member does in the time in which all are done. Ratios begin as
// members' shares of all cores (Fig 3.3), times what is told of their speed. At each
// event they move half-way to what members were measured to do (Fig 3.4):
//
//	NPP_i = runs of the last chunk / its time
//	ENPR_i <- (1 - learning) ENPR_i + learning NPP_i / sum of NPP
//
// Members that have not been measured keep their ratios, and the others share the
// rest. The thesis knows neither members that come later nor ones that go: here who
// comes takes the share of all cores that it has, from all in proportion, and what
// one that goes had falls to the others in proportion.
//
// The thesis goes through all members at each event. Here an event takes the same time
// of any number of members: the ratio of one whose NPP did not change in the last k
// updates is, with d = (1 - learning)^k,
//
//	ENPR_i = d ENPR_i' + NPP_i (past - d past')
//
// where past is the same weighted sum, over updates, of learning/sum, and ENPR' and
// past' are of the last time that somebody looked. What joining and leaving multiply
// all ratios by is one factor, scale, kept apart.
//
// Invariants: the ratios of those here, scale times member.ratio after settle, sum to
// 1; measured counts those with npp > 0; power is the sum of their NPP and mass that
// of their ratios, both but for rounding, which refresh takes away.
type learner struct {
	pool
	gated  bool // no update before all that are here have been measured, once
	frozen bool // ratios stay as they began

	opened   bool
	dirty    bool // something was measured since the last update
	updates  uint64
	past     float64
	scale    float64
	measured int
	power    float64
	mass     float64
	weight   float64 // sum of cores times speed
	changes  int     // since the last refresh
}

// Join implements Policy.
func (l *learner) Join(m Member) Node {
	n := l.pool.Join(m)
	x := &l.members[n]
	w := x.weight()
	if l.here == 1 {
		l.opened, l.dirty, l.updates, l.past, l.scale = false, false, 0, 0, 1
		l.measured, l.power, l.mass, l.weight = 0, 0, 0, 0
	}
	share := w / (l.weight + w)
	l.weight += w
	if l.here > 1 {
		l.scale *= 1 - share
		l.mass *= 1 - share
	}
	x.ratio, x.since, x.updates = share/l.scale, l.past, l.updates
	l.changed()
	return n
}

func (m *member) weight() float64 { return float64(m.cores) * m.speed }

// Leave implements Policy.
func (l *learner) Leave(n Node) {
	m := l.at(n)
	l.settle(m)
	e, npp := m.ratio*l.scale, m.npp
	l.weight -= m.weight()
	if npp > 0 {
		l.measured--
		l.power -= npp
		l.mass -= e
	}
	if l.power < lossy*npp || l.mass < lossy*e {
		l.changes = len(l.members)
	}
	l.pool.Leave(n)
	switch rest := 1 - e; {
	case l.here == 0:
		return
	case rest < tiny:
		l.restart() // nothing is left that could be shared in proportion
	default:
		l.scale /= rest
		l.mass /= rest
	}
	l.changed()
}

// lossy is how much a sum may shrink or grow at once: beyond it too many of the digits
// are rounding, and the sum is made anew.
const lossy = 1e-4

// tiny is less than any ratio that matters: of so small a rest the last digits are
// all rounding.
const tiny = 1e-6

// restart gives the members their shares of the cores again, as at the beginning.
func (l *learner) restart() {
	l.weight = 0
	for i := range l.members {
		if m := &l.members[i]; m.here {
			l.weight += m.weight()
		}
	}
	l.scale = 1
	for i := range l.members {
		if m := &l.members[i]; m.here {
			m.ratio, m.since, m.updates = m.weight()/l.weight, l.past, l.updates
		}
	}
	l.refresh()
}

// Done implements Policy.
func (l *learner) Done(now time.Time, n Node, runs int, elapsed time.Duration) {
	of, took, measured := l.done(now, n, runs, elapsed)
	if !measured {
		return
	}
	m, power := l.at(n), float64(of)/took.Seconds()
	l.settle(m)
	if m.npp == 0 {
		l.measured++
		l.mass += m.ratio * l.scale
	}
	before := l.power
	l.power += power - m.npp
	if l.power < lossy*before || before < lossy*l.power {
		l.changes = len(l.members)
	}
	m.npp = power
	l.dirty = true
	l.changed()
}

// update moves all ratios, if something was measured since the last time. It is called
// before sizes are decided on: thus once for all that is heard at one instant.
func (l *learner) update() {
	if !l.dirty {
		return
	}
	l.dirty = false
	if l.opened = l.opened || l.measured == l.here; l.gated && !l.opened || l.frozen || l.power <= 0 {
		return
	}
	l.updates++
	l.past = (1-learning)*l.past + learning*l.mass/(l.power*l.scale)
}

// settle brings the member's ratio up to the last update.
func (l *learner) settle(m *member) {
	k := l.updates - m.updates
	if k == 0 {
		return
	}
	if m.npp > 0 {
		d := math.Pow(1-learning, float64(k))
		m.ratio = d*m.ratio + m.npp*max(0, l.past-d*m.since)
	}
	m.updates, m.since = l.updates, l.past
}

// ratio returns the member's ENPR.
func (l *learner) ratio(m *member) float64 {
	l.settle(m)
	return m.ratio * l.scale
}

// changed counts what sums are kept up over. After as many changes as there are
// members they are made anew, so that a change takes the same time in the mean.
func (l *learner) changed() {
	// So far from 1 the scale, which each change multiplies, would soon be out of range.
	const far = 1e100
	if l.changes++; l.changes > len(l.members) || l.scale < 1/far || l.scale > far {
		l.refresh()
	}
}

// refresh makes the sums from the members, and scale 1.
func (l *learner) refresh() {
	l.changes = 0
	total := 0.0
	for i := range l.members {
		if m := &l.members[i]; m.here {
			l.settle(m)
			total += m.ratio
		}
	}
	if !(total > 0) || math.IsInf(total, 1) {
		return
	}
	// Only what is added to past from here on matters, since all are settled. What it was
	// may be so large that what is added would be lost in it.
	l.past = 0
	l.measured, l.power, l.mass, l.weight = 0, 0, 0, 0
	for i := range l.members {
		m := &l.members[i]
		if !m.here {
			continue
		}
		m.ratio /= total
		m.since = 0
		l.weight += m.weight()
		if m.npp > 0 {
			l.measured++
			l.power += m.npp
			l.mass += m.ratio
		}
	}
	l.scale = 1
}

// ranked is a learner that has the faster of several idle members asked first. The
// thesis does not say who is; its worked tables have this order.
type ranked struct{ learner }

// Rank implements Ranker.
func (l *ranked) Rank(n Node) float64 { return l.at(n).npp }
