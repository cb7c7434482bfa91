package member

import (
	"maps"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// cellLook is how often a leader looks at the size of its cell, and how it stands.
	cellLook = overlay.SummaryGap
	// cellLost is for how long a member that knows no leader waits before it asks others
	// where its cell is, and between two askings: elections take less.
	cellLost = 30 * time.Second
	// cellAsk is how often a member that has jobs asks its leader about other cells.
	cellAsk = 30 * time.Second
	// cellSettle is the time in which all that have come into a cell say so, each at its own
	// moment: a thousand adverts at once are what cells avoid.
	cellSettle = 30 * time.Second
	// maxVisitors bounds the members of other cells whose adverts are kept: leaders that
	// lend, submitters that lend here, and who has just gone into another.
	maxVisitors = 1024
)

// cells are a member's part in the cells of its overlay.
type cells struct {
	cell     overlay.Cell // its own
	number   uint64       // its own
	others   overlay.Summaries
	visitors map[task.PeerID]overlay.Advert // members of other cells, until their adverts expire
	lookAt   time.Time                      // when to look next; zero for never
	summed   overlay.Summary                // as it was said last, by this leader
	changed  time.Time                      // when this leader last changed its cell
	led      time.Time                      // since when this member has led
	// leaderless is since when no leader was known, or when it last asked; zero while one is.
	leaderless time.Time
	greeted    map[task.PeerID]uint64 // the advert that a member of another cell was told
	orphan     bool                   // the last leader that it knew went into the other half
	asked      time.Time              // when it last asked about other cells
}

// Cell returns the cell that the member is in: the whole overlay where there are no others.
func (c *cells) Cell() overlay.Cell { return c.cell }

// inCells reports whether the member takes part in cells.
func (m *Member) inCells() bool { return m.p.cfg.Cells.On() }

// elsewhere takes in an advert of a member of another cell, and reports whether it is one. One of
// this member's own leader may say that the cell has divided, or joined another: then this
// member goes along, if that can be.
func (m *Member) elsewhere(a *overlay.Advert) bool {
	if !m.inCells() || a.Peer == m.p.cfg.Self {
		return false
	}
	number := overlay.CellNumber(m.id, a.Peer)
	if leader, _ := m.lease.Leader(); a.Bits != m.cell.Bits && a.Peer == leader {
		to := overlay.CellOf(m.number, a.Bits)
		if m.p.cfg.Cells.MayFollow(m.cell, to, m.view.Len()) {
			m.goTo(to, "its leader went there")
		} else { // it leads elsewhere: whoever is asked may know where this member's cell is
			m.visit(a)
			m.letGo(a.Peer)
			m.leaderless, m.lookAt = m.p.now.Add(-cellLost), m.p.now
		}
	}
	if m.cell.Holds(number) && a.Bits == m.cell.Bits {
		return false
	}
	m.visit(a)
	if _, here := m.view.Member(a.Peer); here && a.Bits != m.cell.Bits {
		m.letGo(a.Peer)
	}
	return true
}

// visit keeps the advert of a member of another cell.
func (m *Member) visit(a *overlay.Advert) {
	if a.Overlay != m.id || m.view.Admits(a) != nil || a.State == overlay.Unavailable {
		return
	}
	if old, known := m.visitors[a.Peer]; known && a.Seq <= old.Seq {
		return
	} else if !known && len(m.visitors) >= maxVisitors {
		maps.DeleteFunc(m.visitors, func(_ task.PeerID, v overlay.Advert) bool { return !v.Expires.After(m.p.now) })
		if len(m.visitors) >= maxVisitors {
			return
		}
	}
	if m.visitors == nil {
		m.visitors = map[task.PeerID]overlay.Advert{}
	}
	m.visitors[a.Peer] = *a
}

// sameCell reports whether a peer that is in a cell of so many bits is in this one's.
func (m *Member) sameCell(peer task.PeerID, bits uint8) bool {
	return bits == m.cell.Bits && (m.cell.Whole() || m.cell.Holds(overlay.CellNumber(m.id, peer)))
}

// tellWhere tells a peer that takes this one for a member of its cell where it is.
func (m *Member) tellWhere(peer task.PeerID) {
	if m.inCells() && m.advertised.Seq != 0 && m.greeted[peer] != m.advertised.Seq {
		m.greetOne(peer)
	}
}

func (m *Member) greetOne(peer task.PeerID) {
	if m.greeted == nil || len(m.greeted) >= maxVisitors {
		m.greeted = map[task.PeerID]uint64{}
	}
	m.greeted[peer] = m.advertised.Seq
	m.p.emit(Greet{Of: m, To: peer, Advert: m.advertised})
}

// greet has members of other cells to whom a machine speaks hear this member's advert first:
// they take it for a stranger otherwise.
func (m *Member) greet(effects []message.Effect) {
	if !m.inCells() || m.cell.Whole() || m.advertised.Seq == 0 {
		return
	}
	for _, e := range effects {
		s, ok := e.(message.Send)
		if !ok || s.To == m.p.cfg.Self || m.greeted[s.To] == m.advertised.Seq {
			continue
		}
		if _, here := m.view.Member(s.To); here {
			continue
		}
		m.greetOne(s.To)
	}
}

// goTo has the member be in another cell: a half of its own, or the one that its own is a half of.
func (m *Member) goTo(to overlay.Cell, why string) {
	from := m.cell
	m.cell = to
	if leader, _ := m.lease.Leader(); leader != "" {
		m.orphan = !to.Holds(overlay.CellNumber(m.id, leader))
	}
	m.notice(Info, "in another cell", "cell", to.String(), "before", from.String(), "reason", why)
	for _, a := range m.view.Members() {
		if !to.Holds(overlay.CellNumber(m.id, a.Peer)) && a.Peer != m.p.cfg.Self {
			m.visit(&a)
			m.letGo(a.Peer)
		}
	}
	m.p.emit(JoinCell{Of: m, Cell: to, From: from})
	if m.coordinator != nil {
		m.divide()
	}
	if !to.Within(from) && m.advertised.Seq != 0 { // its members do not know this one
		at := m.p.now.Add(time.Duration(m.p.cfg.Draw() * float64(cellSettle)))
		if at.Before(m.nextAdvert) {
			m.nextAdvert = at
		}
	}
	m.leaderless = m.p.now
}

// letGo has a member of this cell be one of another.
func (m *Member) letGo(peer task.PeerID) {
	m.view.Lost(peer)
	delete(m.away, peer)
	delete(m.gone, peer)
	m.goneFrom(peer, "it is in another cell")
}

// divide tells the coordinator that the submitters of some jobs are in other cells.
func (m *Member) divide() {
	m.coordinator.Divided(func(submitter task.PeerID) bool {
		return !m.cell.Holds(overlay.CellNumber(m.id, submitter))
	})
}

// wakeCells does what time has made due.
func (m *Member) wakeCells(now time.Time) {
	if !m.inCells() || m.lookAt.After(now) {
		return
	}
	m.lookAt = now.Add(cellAsk)
	if m.coordinator != nil {
		m.lookAt = now.Add(cellLook)
	}
	m.others.Expire(now)
	leader, _ := m.lease.Leader()
	switch {
	case m.coordinator != nil:
		m.leaderless = time.Time{}
		m.lookAtSize(now)
		m.sumUp(now)
		m.tellSubmitter()
	case leader == "" && m.leaderless.IsZero():
		m.leaderless = now
	case leader == "":
		if now.Sub(m.leaderless) >= cellLost {
			m.leaderless = now
			m.p.emit(AskCells{Of: m})
		}
	default:
		m.leaderless = time.Time{}
		if !m.cell.Whole() && now.Sub(m.asked) >= cellAsk && m.submitter.Open() {
			m.asked = now
			m.p.emit(AskCells{Of: m, From: leader})
		}
	}
}

// lookAtSize has a leader's cell divide, or become one with its sibling.
func (m *Member) lookAtSize(now time.Time) {
	if now.Sub(m.changed) < overlay.CellGap || now.Sub(m.led) < overlay.Settle {
		return
	}
	rule, members := m.p.cfg.Cells, m.view.Members()
	var halves [2]int
	all := true
	for i := range members {
		half := m.cell.Half(overlay.CellNumber(m.id, members[i].Peer))
		halves[half.Prefix&1]++
		all = all && (members[i].KnowsCells() || members[i].Peer == m.p.cfg.Self)
	}
	switch {
	case rule.Divides(m.cell, halves, all):
		m.leadTo(m.cell.Half(m.number), "the cell has grown")
	case rule.Joins(m.cell, len(members), m.sibling()):
		m.leadTo(m.cell.Parent(), "the cell and its other half have shrunk")
	case now.Sub(m.changed) >= overlay.CellWait && m.others.Inside(m.cell, m.changed.Add(overlay.CellGap)):
		m.leadTo(m.cell.Half(m.number), "the other half did not come")
	}
}

// sibling is how many members the sibling of the cell has, by the word of who leads it, or those
// that lead the parent; beyond any that matter where nobody does.
func (m *Member) sibling() int {
	if m.cell.Whole() {
		return overlay.MaxCellMembers
	}
	for _, c := range []overlay.Cell{m.cell.Sibling(), m.cell.Parent()} {
		if line := m.others.Of(c); len(line) > 0 {
			return line[0].Members
		}
	}
	return overlay.MaxCellMembers
}

// leadTo takes the members of a leader's cell into another.
func (m *Member) leadTo(to overlay.Cell, why string) {
	m.changed = m.p.now
	m.advertiseIn(m.cell, to.Bits) // where all hear it that are to come
	m.goTo(to, why)
	m.regroupAt = m.p.now
	if !to.Within(m.cell) {
		m.Advertise()
	}
}

// sumUp says how the cell stands, when that is due or has changed by much.
func (m *Member) sumUp(now time.Time) {
	if m.cell.Whole() && m.view.Len() < m.p.cfg.Cells.Ready {
		return
	}
	load := m.coordinator.Load()
	s := overlay.Summary{
		Overlay: m.id, Leader: m.p.cfg.Self, Cell: m.cell, Epoch: m.coordinator.Epoch(), Issued: m.p.world.Wall(),
		Members: min(m.view.Len(), overlay.MaxCellMembers), Slots: min(load.Slots, overlay.MaxCellSlots),
		Waiting: min(load.Waiting, overlay.MaxCellSlots),
	}
	s.Idle = min(load.Idle, s.Slots)
	was := &m.summed
	much := max(1, s.Slots/8) // an eighth: what waits finds its way to idle slots in a summary or two
	if s.Cell == was.Cell && s.Epoch == was.Epoch && s.Issued.Sub(was.Issued) < overlay.SummaryEvery &&
		max(s.Idle-was.Idle, was.Idle-s.Idle) < much {
		return
	}
	m.saySummary(s)
}

// unsum says that this member leads no cell any more.
func (m *Member) unsum() {
	if s := m.summed; !s.Issued.IsZero() {
		s.Members, s.Slots, s.Idle, s.Waiting, s.Issued = 0, 0, 0, 0, m.p.world.Wall()
		m.saySummary(s)
		m.summed = overlay.Summary{}
	}
}

// saySummary signs a summary and tells the leaders of all cells.
func (m *Member) saySummary(s overlay.Summary) {
	if !m.p.cfg.Unsigned {
		if err := s.Sign(m.p.cfg.Key); err != nil {
			m.notice(Error, "signing the summary of the cell", "err", err)
			return
		}
	}
	m.summed = s
	m.p.emit(GossipSummary{Of: m, Summary: s})
}

// Summaries returns what the member knows of the cells, its own included while it leads.
func (m *Member) Summaries() []overlay.Summary {
	out := m.others.All()
	if m.coordinator != nil && !m.summed.Issued.IsZero() {
		out = append(out, m.summed)
	}
	return out
}

// summarised takes in what leaders say of their cells, whose signatures were checked, from them or
// from who was asked.
func (m *Member) summarised(summaries []overlay.Summary) {
	for i := range summaries {
		if s := &summaries[i]; s.Overlay == m.id && s.Leader != m.p.cfg.Self {
			m.others.Take(*s, m.p.now)
		}
	}
	if leader, _ := m.lease.Leader(); leader == "" {
		if c, ok := m.others.Find(m.number); ok && c != m.cell {
			m.goTo(c, "nobody leads where it was")
		}
	}
	m.tellSubmitter()
}

// tellSubmitter tells the submitter which cells may be lent tasks.
func (m *Member) tellSubmitter() {
	if m.cell.Whole() || !m.submitter.Open() {
		return
	}
	ev := message.CellsAre{}
	leader, _ := m.lease.Leader()
	for _, s := range m.others.All() {
		switch {
		case s.Leader == leader:
			ev.Slots, ev.Idle = s.Slots, s.Idle
		case s.Cell != m.cell && !m.cell.Within(s.Cell) && !s.Cell.Within(m.cell):
			ev.Others = append(ev.Others, message.CellLoad{Leader: s.Leader, Cell: s.Cell.String(), Slots: s.Slots, Idle: s.Idle})
		}
	}
	if m.coordinator != nil {
		load := m.coordinator.Load()
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

// Begin has a member that has just been made be in a cell, before it is entered.
func (m *Member) Begin(c overlay.Cell) { m.cell = overlay.CellOf(m.number, c.Bits) }
