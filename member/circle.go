package member

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// How those find each other that lead cells, and a newcomer the cell that it belongs to.

// circleSize is the most leaders of other cells that a leader keeps connected to: 1, 2, 4, ...
// cells on from its own, in the order of cells, as in Chord (Stoica et al., SIGCOMM 2001), so that
// what is said in one cell is in each of 1,024 after ten steps at most.
const circleSize = overlay.MaxCellBits

// Circle returns the leaders of other cells to whom this leader keeps connected; none of one that
// leads the whole overlay or nothing. Of several that say that they lead a cell it is the one known
// for longest.
func (c *cells) Circle() (out []task.PeerID) {
	m := c.m
	if m.coordinator == nil || m.cell.Whole() {
		return nil
	}
	var ring []overlay.Summary // one of each cell, by where it is among the members' numbers
	for _, s := range m.others.All() {
		if n := len(ring); s.Cell != m.cell && (n == 0 || ring[n-1].Cell != s.Cell) {
			ring = append(ring, s)
		}
	}
	slices.SortStableFunc(ring, func(a, b overlay.Summary) int {
		return int(m.from(a.Cell)) - int(m.from(b.Cell))
	})
	for step := 1; step <= len(ring) && len(out) < circleSize; step *= 2 {
		out = append(out, ring[step-1].Leader)
	}
	return out
}

// from is how far a cell begins beyond this member's own, in cells of the most bits, round the circle.
func (c *cells) from(o overlay.Cell) uint16 {
	begins := func(x overlay.Cell) uint16 { return x.Prefix << (overlay.MaxCellBits - x.Bits) }
	return (begins(o) - begins(c.cell)) % (1 << overlay.MaxCellBits)
}

// keepCircle has a leader ask another one about the cells: one that it is not connected to at once, of
// the others one in turn now and then. So what gossip has lost is known all the same, and leaders of
// cells whose members do not know each other have neighbours to gossip with.
func (c *cells) keepCircle(now time.Time) {
	m := c.m
	circle := m.Circle()
	apart := slices.Clone(circle)
	near := m.p.world.Neighbours()
	apart = slices.DeleteFunc(apart, func(p task.PeerID) bool { return slices.Contains(near, p) })
	switch {
	case len(circle) == 0 && now.Sub(m.asked) >= cellLost && (!m.cell.Whole() || m.hearsSmaller()):
		m.ask("", now) // it knows of none: whoever is connected does
	case len(apart) > 0 && now.Sub(m.asked) >= cellAsk:
		m.ask(apart[m.asks%len(apart)], now)
	case len(circle) > 0 && now.Sub(m.asked) >= overlay.SummaryEvery:
		m.ask(circle[m.asks%len(circle)], now)
	}
}

func (c *cells) ask(from task.PeerID, now time.Time) {
	c.asked = now
	c.asks++
	peers := 1
	if from == "" && (c.seeks() || now.Before(c.search.until)) {
		peers = newcomerAsks
		for _, p := range c.search.known[max(0, len(c.search.known)-newcomerAsks):] {
			c.m.p.emit(AskCells{Of: c.m, From: p, Own: true})
		}
	}
	c.m.p.emit(AskCells{Of: c.m, From: from, Peers: peers, Own: from == "" && c.m.coordinator == nil})
}

// askLeader asks the leader about other cells: for jobs of this member's own, and as one that may be
// the next to lead, who has to know then whom it is to be connected with.
func (c *cells) askLeader(leader task.PeerID, now time.Time) {
	m := c.m
	after := overlay.SummaryEvery
	switch {
	case m.cell.Whole():
		return
	case m.submitter.Open():
		after = cellAsk
	case !slices.Contains(m.lease.Group(), m.p.cfg.Self) && m.descent.lineage.Of(m.cell):
		return
	}
	if now.Sub(m.asked) >= after {
		m.ask(leader, now)
	}
}

// alone reports whether the member knows of no other in its cell.
func (c *cells) alone() bool { return c.m.view.Len() <= 1 }

// few reports whether it knows of so few that it has just come.
func (c *cells) few() bool { return c.m.view.Len() <= overlay.GroupSize }

// hearsSmaller reports whether members of the overlay are in smaller cells than this one.
func (c *cells) hearsSmaller() bool {
	for _, v := range c.visitors.known {
		if v.advert.Bits > c.cell.Bits {
			return true
		}
	}
	return false
}

// introduce has a member that came into a cell say so there: each of those that came together at its own
// moment within a time.
func (c *cells) introduce(within time.Duration) {
	m := c.m
	if m.advertised.Seq == 0 {
		return
	}
	at := m.p.now.Add(time.Duration(m.p.cfg.Draw() * float64(within)))
	if at.Before(m.nextAdvert) {
		m.nextAdvert = at
	}
}
