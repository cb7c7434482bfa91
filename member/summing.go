package member

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/scheduler/message"
)

// What a leader tells the others of its cell, and what comes of hearing it.

// sumUp says how the cell stands, when that is due or has changed by much.
func (c *cells) sumUp(now time.Time) {
	m := c.m
	if m.cell.Whole() && m.view.Len() < m.cellRule().Ready || !m.descent.lineage.Of(m.cell) {
		return
	}
	if c.seeks() && now.Sub(m.led) < overlay.CellGap { // it leads nobody, perhaps because its cell is another
		return
	}
	s := c.summary()
	was := &m.summed
	much := max(1, s.Slots/8) // an eighth: what waits finds its way to idle slots in a summary or two
	if s.Cell == was.Cell && s.Epoch == was.Epoch && s.Issued.Sub(was.Issued) < overlay.SummaryEvery &&
		max(s.Idle-was.Idle, was.Idle-s.Idle) < much {
		return
	}
	m.saySummary(s)
}

// summary is how this leader's cell stands, not signed.
func (c *cells) summary() overlay.Summary {
	m := c.m
	load := scheduler.LoadOf(m.coordinator)
	s := overlay.Summary{
		Overlay: m.id, Leader: m.p.cfg.Self, Cell: m.cell, Epoch: m.coordinator.Epoch(), Issued: m.p.world.Wall(),
		Members: min(m.view.Len(), overlay.MaxCellMembers), Slots: min(load.Slots, overlay.MaxCellSlots),
		Waiting: min(load.Waiting, overlay.MaxCellSlots), Lineage: m.descent.lineage,
	}
	if group := m.lease.Group(); len(group) > 1 {
		for _, peer := range group[1:] {
			s.Heirs = append(s.Heirs, overlay.CellNumber(m.id, peer))
		}
	}
	s.Idle = min(load.Idle, s.Slots)
	if addrs := m.advertised.Addrs; len(addrs) > 0 { // the best, and where there are relays one through these
		s.Addrs = []string{addrs[0]}
		if last := addrs[len(addrs)-1]; last != addrs[0] {
			s.Addrs = append(s.Addrs, last)
		}
	}
	return s
}

// unsum says that this member leads no cell any more.
func (c *cells) unsum() {
	m := c.m
	if s := m.summed; !s.Issued.IsZero() {
		s.Members, s.Slots, s.Idle, s.Waiting, s.Issued, s.Addrs = 0, 0, 0, 0, m.p.world.Wall(), nil
		m.saySummary(s)
		m.summed = overlay.Summary{}
	}
}

// saySummary signs a summary and tells the leaders of all cells.
func (c *cells) saySummary(s overlay.Summary) {
	m := c.m
	if !c.sign(&s) {
		return
	}
	m.summed = s
	m.p.emit(GossipSummary{Of: m, Summary: s})
}

// sign signs a summary as this peer, where anybody looks.
func (c *cells) sign(s *overlay.Summary) bool {
	m := c.m
	if m.p.cfg.Unsigned {
		return true
	}
	s.Signature = nil
	err := s.Sign(m.p.cfg.Key)
	if err != nil && len(s.Addrs) > 0 { // one that nobody can read
		s.Addrs = nil
		err = s.Sign(m.p.cfg.Key)
	}
	if err != nil {
		m.notice(Error, "signing the summary of the cell", "err", err)
	}
	return err == nil
}

// Summaries returns what the member knows of the cells, its own included while it leads: that of a
// leader who has told the others none is made for who asks. It is called in At.
func (c *cells) Summaries() []overlay.Summary {
	m := c.m
	out := m.others.All()
	if m.coordinator == nil || !m.descent.lineage.Of(m.cell) {
		return out
	}
	own := m.summed
	if own.Issued.IsZero() {
		if own = c.summary(); !c.sign(&own) {
			return out
		}
	}
	return append(out, own)
}

// summarised processes summaries whose signatures were checked: their leaders sent them, or a peer that was asked.
func (c *cells) summarised(ev *Summarised) {
	m := c.m
	if !c.inCells() {
		return
	}
	evidence := c.evidence()
	for i := range ev.Summaries {
		if s := &ev.Summaries[i]; s.Overlay == m.id && s.Leader != m.p.cfg.Self {
			c.adopt(s)
			m.others.Take(*s, m.p.now, evidence)
		}
	}
	c.report(ev.From, ev.Network, ev.Summaries)
	c.findCell()
	m.tellSubmitter()
}

// tellSubmitter tells the submitter which cells may be lent tasks.
func (c *cells) tellSubmitter() {
	m := c.m
	if m.cell.Whole() || !m.submitter.Open() {
		return
	}
	ev := message.CellsAre{}
	leader, _ := m.lease.Leader()
	for _, s := range m.others.All() {
		switch {
		case s.Leader == leader:
			ev.Slots, ev.Idle = s.Slots, s.Idle
		case m.manifest.Admission != overlay.Open && !(knows{m}).Member(s.Leader): // its pass is not known
		case s.Cell != m.cell && !m.cell.Within(s.Cell) && !s.Cell.Within(m.cell):
			ev.Others = append(ev.Others, message.CellLoad{Leader: s.Leader, Cell: s.Cell.String(), Slots: s.Slots,
				Idle: s.Idle})
		}
	}
	if m.coordinator != nil {
		load := scheduler.LoadOf(m.coordinator)
		ev.Slots, ev.Idle = load.Slots, load.Idle
	}
	slices.SortFunc(ev.Others, func(a, b message.CellLoad) int {
		switch {
		case a.Leader < b.Leader:
			return -1
		case a.Leader > b.Leader:
			return 1
		}
		return 0
	})
	m.step(m.submitter, ev)
}
