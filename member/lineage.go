package member

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// maxReigns is the number of leaders that a member remembers having followed.
const maxReigns = 64

// A descent is what a member knows about the origin of its cell. Divisions signed by leaders that it followed prove
// which cells exist.
type descent struct {
	lineage overlay.Lineage // of the member's cell; too short if it isn't known
	// before is the lineage of the half that the member was in until joined, when its leader took it into the parent.
	before  overlay.Lineage
	joined  time.Time // zero if the cell wasn't formed from two halves
	entered time.Time // when the member entered its cell
	most    int       // the largest number of members that were known in the cell at once
	reigns  []Reign   // the newest last
}

// follow remembers that the member follows a leader.
func (d *descent) follow(leader task.PeerID, epoch uint64) {
	if leader == "" {
		return
	}
	for i := range d.reigns {
		if d.reigns[i].Leader == leader {
			last := d.reigns[i]
			d.reigns = append(slices.Delete(d.reigns, i, i+1), last)
			return
		}
	}
	d.reigns = append(d.reigns, Reign{leader, epoch})
	d.reigns = d.reigns[max(0, len(d.reigns)-maxReigns):]
}

// led reports whether the member followed a division's leader in its epoch or before.
func (d *descent) led(x *overlay.Division) bool {
	return slices.ContainsFunc(d.reigns, func(r Reign) bool { return r.Leader == x.Leader && r.Epoch <= x.Epoch })
}

// enter takes over the lineage of a cell that the member goes to at a time.
func (d *descent) enter(from, to overlay.Cell, lineage overlay.Lineage, now time.Time) {
	d.before, d.joined, d.entered, d.most = nil, time.Time{}, now, 0
	if from != to && from.Within(to) && d.lineage.Of(from) {
		d.before, d.joined = d.lineage, now
	}
	d.lineage = lineage
}

// above returns the lineage of a cell that contains the member's own; nil if it isn't known.
func (d *descent) above(own, to overlay.Cell) overlay.Lineage {
	if !d.lineage.Of(own) {
		return nil
	}
	return slices.Clone(d.lineage[:to.Bits])
}

// evidence returns what the member knows itself about the cells.
func (c *cells) evidence() *overlay.Evidence {
	m := c.m
	return &overlay.Evidence{Cell: m.cell, Members: max(m.view.Len(), c.descent.most), Least: m.cellRule().Least, Lineage: c.descent.lineage,
		Former: c.descent.before, Since: c.descent.entered, Led: c.descent.led, Confirms: c.confirms}
}

// confirms reports whether a member of a summary's cell that this one knows follows the summary's leader in its epoch.
func (c *cells) confirms(s *overlay.Summary) bool {
	m, follows := c.m, overlay.FollowsOf(s.Overlay, s.Leader, s.Epoch)
	if s.Cell == m.cell {
		leader, _ := m.lease.Leader()
		return leader == s.Leader
	}
	for peer, v := range m.visitors.known {
		if v.advert.Follows == follows && v.advert.Bits == s.Cell.Bits && s.Cell.Holds(overlay.CellNumber(m.id, peer)) &&
			v.advert.Expires.After(m.p.now) {
			return true
		}
	}
	return false
}

// divided returns the lineage of the halves of this leader's cell, with a division that it signs now; nil if it can't.
func (c *cells) divided() overlay.Lineage {
	m := c.m
	if m.coordinator == nil || !c.descent.lineage.Of(m.cell) {
		return nil
	}
	d := overlay.Division{Leader: m.p.cfg.Self, Epoch: m.coordinator.Epoch(), Issued: m.p.world.Wall()}
	if !m.p.cfg.Unsigned {
		if err := d.Sign(m.id, m.cell.Bits, m.p.cfg.Key); err != nil {
			m.notice(Error, "cannot sign the division of the cell", "err", err)
			return nil
		}
	}
	return append(slices.Clone(c.descent.lineage), d)
}

// follows reports whether the member goes along with its leader into another cell, and returns that cell's lineage. A
// leader signs the division of its cell itself. A leader that returns into a half shows the division of before.
func (c *cells) follows(a *overlay.Advert, to overlay.Cell) (overlay.Lineage, bool) {
	m, d := c.m, &c.descent
	switch may := m.cellRule().MayFollow(m.cell, to, m.view.Len()); {
	case m.cell.Within(to):
		return d.above(m.cell, to), may
	case c.returnsTo(to) && a.Division.Same(&d.before[m.cell.Bits]):
		return d.before, true
	case may && a.Division.Leader == a.Peer && d.lineage.Of(m.cell):
		return append(slices.Clone(d.lineage), a.Division), true
	case may && a.Division.Leader == a.Peer:
		return nil, true
	}
	return nil, false
}

// missed returns the half of the member's cell that it belongs to, and the half's lineage, if a leader that it followed
// divided the cell without it, and the few members that it knows could not be the whole cell.
func (c *cells) missed() (half overlay.Cell, lineage overlay.Lineage, ok bool) {
	m, evidence := c.m, c.evidence()
	if 2*m.view.Len() > c.descent.most {
		return half, nil, false
	}
	for _, s := range m.others.All() {
		if s.Cell != m.cell && s.Cell.Within(m.cell) && evidence.Divided(&s) {
			return m.cell.Half(m.number), slices.Clone(s.Lineage[:m.cell.Bits+1]), true
		}
	}
	return half, nil, false
}

// returnsTo reports whether a cell is the half that the member was in before two halves joined.
func (c *cells) returnsTo(to overlay.Cell) bool {
	return !c.descent.joined.IsZero() && to.Bits == c.m.cell.Bits+1 && c.descent.before.Of(to)
}

// adopt takes over the lineage of the member's cell from its leader's summary, if the member doesn't know it.
func (c *cells) adopt(s *overlay.Summary) {
	m := c.m
	if leader, _ := m.lease.Leader(); s.Cell == m.cell && s.Leader == leader && !c.descent.lineage.Of(m.cell) {
		c.descent.lineage = s.Lineage
	}
}
