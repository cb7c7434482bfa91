package member

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// A look at who should coordinate draws all members anew: some 7 us for each. While a swarm starts
// it changes with each newcomer, so that who looked after each would do little else.
const (
	// regroupGap is the least time between two looks, so that a burst of adverts costs one, and
	// lookOf what each member adds to it: a look takes less than a hundredth of the time.
	regroupGap = 200 * time.Millisecond
	lookOf     = time.Millisecond
	// regroupEvery is how often to look though no advert came: forecasts change with
	// the hour.
	regroupEvery = time.Minute
	// outsideGap is the least time between two looks of a member to whom it makes no difference yet:
	// one outside the group, while there is a leader.
	outsideGap = 15 * time.Second
)

// looks are when this member looks at who should coordinate.
type looks struct {
	regroupAt time.Time // the next, if it makes a difference by then
	regrouped time.Time // the last
	ranks     ranks
	foreseen  map[task.PeerID]*overlay.Foreseen // of members, at most maxForeseen
}

// ranks are the places of members in the draw; the zero value knows of none.
type ranks struct {
	drawn time.Time
	of    map[task.PeerID]int
}

// concerned reports whether this member's view of who should coordinate matters: to a
// leader, in its group, and where nobody is known to lead.
func concerned(m *Member) bool {
	leader, _ := m.lease.Leader()
	return leader == "" || leader == m.p.cfg.Self || slices.Contains(m.lease.Group(), m.p.cfg.Self)
}

// lookedAt reports whether the lease and the group are looked at.
func (m *Member) lookedAt() bool { return !m.p.cfg.Lazy || concerned(m) }

// lookDue is when to look at the group next.
func lookDue(m *Member) time.Time {
	if rested := m.regrouped.Add(outsideGap); m.regroupAt.Before(rested) && !concerned(m) {
		return rested
	}
	return m.regroupAt
}

// regroupSoon has the group looked at again because a member came, went or changed.
func (m *Member) regroupSoon() {
	regroupWithin(m, regroupGap+time.Duration(m.view.Len())*lookOf)
}

// regroupNow is regroupSoon for what cannot wait: this member changed, or one that coordinates went.
func regroupNow(m *Member) { regroupWithin(m, regroupGap) }

func regroupWithin(m *Member, gap time.Duration) {
	m.ranks = ranks{}
	at := m.p.now
	if next := m.regrouped.Add(gap); at.Before(next) {
		at = next
	}
	if at.Before(m.regroupAt) {
		m.regroupAt = at
	}
}

// rank returns a member's place in the draw; false for one that does not stand.
func rank(m *Member, p task.PeerID) (int, bool) {
	if m.ranks.of == nil || m.p.now.Sub(m.ranks.drawn) >= regroupGap {
		members := m.view.Members()
		order := overlay.Order(m.id, m.candidates(members, m.forecasts(members, m.p.now)))
		m.ranks = ranks{m.p.now, make(map[task.PeerID]int, len(order))}
		for i, o := range order {
			m.ranks.of[o] = i
		}
	}
	i, ok := m.ranks.of[p]
	return i, ok
}
