package member

import (
	"maps"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler"
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
)

// cells are a member's part in the cells of its overlay.
type cells struct {
	m        *Member
	cell     overlay.Cell // its own
	number   uint64       // its own
	others   overlay.Summaries
	visitors visitors        // members of other cells
	lookAt   time.Time       // when to look next; zero for never
	summed   overlay.Summary // as it was said last, by this leader
	changed  time.Time       // when this leader last changed its cell
	led      time.Time       // since when this member has led
	descent  descent
	stored   CellRecord // as it is on disk
	search   search
	// leaderless is since when no leader was known, or when it last asked; zero while one is.
	leaderless time.Time
	greeted    map[task.PeerID]uint64 // the advert that a member of another cell was told
	orphan     bool                   // the last leader that it knew went into the other half
	asked      time.Time              // when it last asked about other cells
	asks       int                    // how often it has
}

// Cell returns the cell that the member is in: the whole overlay where there are no others.
func (c *cells) Cell() overlay.Cell { return c.cell }

// inCells reports whether the member takes part in cells.
func (c *cells) inCells() bool { return c.cellRule().On() }

// cellRule returns the rule for the sizes of cells; the zero rule if the overlay's rules disable cells.
func (c *cells) cellRule() overlay.CellRule {
	if c.m.manifest.Undivided {
		return overlay.CellRule{}
	}
	return c.m.p.cfg.Cells
}

// elsewhere takes in an advert of a member of another cell, and reports whether it is one. One of
// this member's own leader may say that the cell has divided, or joined another: then this
// member goes along, if that can be.
func (c *cells) elsewhere(a *overlay.Advert) bool {
	m := c.m
	if !m.inCells() || a.Peer == m.p.cfg.Self {
		return false
	}
	if old, here := m.view.Member(a.Peer); here && a.Seq <= old.Seq && a.Bits != m.cell.Bits {
		return true // it came along, and has not said so since: whoever connects tells what was said before
	}
	number := overlay.CellNumber(m.id, a.Peer)
	if leader, _ := m.lease.Leader(); a.Bits != m.cell.Bits && a.Peer == leader {
		to := overlay.CellOf(m.number, a.Bits)
		if lineage, may := c.follows(a, to); may {
			m.goTo(to, lineage, "its leader went there")
		} else { // it leads elsewhere: whoever is asked may know where this member's cell is
			m.visit(a)
			m.letGo(a.Peer)
			m.leaderless, m.lookAt = m.p.now.Add(-cellLost), m.p.now
		}
	}
	if m.cell.Holds(number) && a.Bits == m.cell.Bits {
		m.visitors.remove(a.Peer)
		return false
	}
	m.visit(a)
	m.newcomer()
	if _, here := m.view.Member(a.Peer); here && a.Bits != m.cell.Bits {
		m.letGo(a.Peer)
	}
	return true
}

// goTo has the member be in another cell: a half of its own, or the one that its own is a half of. Callers that know
// the cell only from other peers begin its probation first, so that goTo doesn't store the cell.
func (c *cells) goTo(to overlay.Cell, lineage overlay.Lineage, why string) {
	m := c.m
	from := m.cell
	m.cell = to
	c.descent.enter(from, to, lineage, m.p.now)
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
	if to.Within(from) { // who comes into the half later is told adverts, of which those from before are another cell's
		m.introduce(overlay.CellGap)
	} else { // its members do not know this one
		m.introduce(cellSettle)
	}
	m.leaderless = m.p.now
	m.settleIn()
	m.keepCell()
}

// settleIn takes those for members whose adverts, heard before, say that they are in this cell: nobody tells
// them again.
func (c *cells) settleIn() {
	m := c.m
	for _, peer := range slices.Sorted(maps.Keys(m.visitors.known)) {
		a := m.visitors.known[peer].advert
		if a.Bits == m.cell.Bits && m.cell.Holds(overlay.CellNumber(m.id, peer)) {
			m.visitors.remove(peer)
			m.seen(&a)
		}
	}
}

// letGo has a member of this cell be one of another.
func (c *cells) letGo(peer task.PeerID) {
	m := c.m
	m.view.Lost(peer)
	delete(m.foreseen, peer)
	delete(m.away, peer)
	delete(m.gone, peer)
	m.goneFrom(peer, "it is in another cell")
}

// divide tells the coordinator that the submitters of some jobs are in other cells.
func (c *cells) divide() {
	m := c.m
	scheduler.Divided(m.coordinator, func(submitter task.PeerID) bool {
		return !m.cell.Holds(overlay.CellNumber(m.id, submitter))
	})
}

// wakeCells does what time has made due.
func (c *cells) wakeCells(now time.Time) {
	m := c.m
	if !m.inCells() || m.lookAt.After(now) {
		return
	}
	m.lookAt = now.Add(cellAsk)
	if m.coordinator != nil {
		m.lookAt = now.Add(cellLook)
	}
	m.others.Expire(now)
	c.descent.most = max(c.descent.most, m.view.Len())
	c.recheck(now)
	c.findCell()
	c.keepCell()
	for _, at := range []time.Time{c.search.again, c.search.begun.Add(newcomerWaits), c.search.trusts} {
		if at.After(now) && at.Before(m.lookAt) {
			m.lookAt = at
		}
	}
	leader, _ := m.lease.Leader()
	switch {
	case m.coordinator != nil:
		m.leaderless = time.Time{}
		if m.lookAtSize(now); m.coordinator == nil {
			return // it came into a cell that another leads
		}
		m.sumUp(now)
		m.keepCircle(now)
		m.tellSubmitter()
	case leader == "" && m.leaderless.IsZero():
		m.leaderless = now
	case leader == "":
		if now.Sub(m.leaderless) >= cellLost {
			m.leaderless = now
			if half, lineage, missed := c.missed(); missed {
				m.goTo(half, lineage, "a leader divided the cell before")
			} else if to, went := c.wentTo(); went {
				c.search.probation(now)
				m.goTo(to, nil, "most of its members are there")
			}
			m.ask("", now)
		}
	default:
		m.leaderless = time.Time{}
		m.askLeader(leader, now)
	}
}

// lookAtSize has a leader's cell divide, or become one with its sibling.
func (c *cells) lookAtSize(now time.Time) {
	m := c.m
	if now.Sub(m.changed) < overlay.CellGap || now.Sub(m.led) < overlay.Settle {
		return
	}
	rule, members := m.cellRule(), m.view.Members()
	var halves [2]int
	all := true
	for i := range members {
		half := m.cell.Half(overlay.CellNumber(m.id, members[i].Peer))
		halves[half.Prefix&1]++
		all = all && (members[i].KnowsCells() || members[i].Peer == m.p.cfg.Self)
	}
	own := m.cell.Half(m.number)
	to, went := c.wentTo()
	half, lineage, missed := c.missed()
	switch {
	case missed:
		m.leadTo(half, lineage, "a leader divided the cell before")
	case rule.Divides(m.cell, halves, all):
		if lineage := c.divided(); lineage != nil {
			m.leadTo(own, lineage, "the cell has grown")
		}
	case rule.Joins(m.cell, len(members), m.sibling()):
		m.leadTo(m.cell.Parent(), c.descent.above(m.cell, m.cell.Parent()), "the cell and its other half have shrunk")
	case c.returnsTo(own) && now.Sub(c.descent.joined) >= overlay.CellWait && halves[1-own.Prefix&1] == 0 &&
		c.stayed(own.Sibling()):
		m.leadTo(own, c.descent.before, "the other half did not come")
	case went:
		c.search.probation(now)
		m.leadTo(to, nil, "most members are there")
	}
}

// stayed reports whether members of a half are still in it, by their own adverts or their leaders' summaries, though the
// cell was joined.
func (c *cells) stayed(half overlay.Cell) bool {
	m, since := c.m, c.descent.joined.Add(overlay.CellGap)
	for _, s := range m.others.All() {
		if s.Cell.Within(half) && s.Issued.After(since) {
			return true
		}
	}
	for peer, v := range m.visitors.known {
		if v.advert.Bits >= half.Bits && v.advert.Issued.After(since) &&
			half.Holds(overlay.CellNumber(m.id, peer)) {
			return true
		}
	}
	return false
}

// sibling is how many members the sibling of the cell has, by the word of who leads it, or those
// that lead the parent; beyond any that matter where nobody does, and where the sibling has divided.
func (c *cells) sibling() int {
	m := c.m
	if m.cell.Whole() || m.others.Divided(m.cell.Sibling()) {
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
func (c *cells) leadTo(to overlay.Cell, lineage overlay.Lineage, why string) {
	m := c.m
	from := m.cell
	m.changed = m.p.now
	m.advertiseIn(m.cell, to.Bits, lineage) // where all hear it that are to come
	m.goTo(to, lineage, why)
	m.regroupAt = m.p.now
	if !to.Within(from) { // the other half hears of it there
		m.Advertise()
	}
}

// Begin has a member that has just been made be in a cell, whose lineage is known, before it is entered.
func (c *cells) Begin(in overlay.Cell, lineage overlay.Lineage) {
	c.cell, c.descent.lineage = overlay.CellOf(c.number, in.Bits), lineage
}
