package member

import (
	"maps"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// A newcomer doesn't know any member of its cell yet, so it depends on reports by peers that may be strangers.

const (
	// cellSoon is the minimum interval between two questions of a newcomer.
	cellSoon = 2 * time.Second
	// newcomerAsks is the number of peers that a newcomer asks at once.
	newcomerAsks = 3
	// newcomerWaits is how long a newcomer waits for peers in a second network to answer.
	newcomerWaits = 5 * time.Second
	// maxReports is the number of peers whose reports are stored.
	maxReports = 16
	// reportLife is how long a report counts.
	reportLife = 4 * cellLost
	// cellRecheck is the time after which a member that came into a cell by reports asks again. The interval doubles
	// each time, up to cellRechecks.
	cellRecheck  = time.Minute
	cellRechecks = 8 * time.Minute
	// youngCell is how long a member may leave its cell for one in which most members are, and how long a member that
	// came by reports asks again.
	youngCell = time.Hour
)

// A search is a newcomer's search for its cell.
type search struct {
	reports map[task.PeerID]report
	begun   time.Time                  // when the first report arrived; zero while there is none
	empty   map[overlay.Cell]time.Time // cells in which nobody answered, and when the member left them
	again   time.Time                  // when to ask again; zero for never
	every   time.Duration              // interval before again
	tried   time.Time                  // when a cell was first found by reports; zero if none was
	until   time.Time                  // until when the answers to that count
	known   []task.PeerID              // peers that a restarted member remembers as coordinators of its cell
	trusts  time.Time                  // until when a restarted member trusts what it stored; zero if it isn't restarted
	asked   map[task.PeerID]bool       // peers that were asked to confirm what others report
}

// A report is what a peer answered about the cells that the member's number belongs to.
type report struct {
	network string // public network of the connection to the peer; "" if it isn't public
	at      time.Time
	claims  []overlay.Summary
}

// seeks reports whether the member is a newcomer: it has never known a leader, or knows nobody in its cell.
func (c *cells) seeks() bool {
	m := c.m
	leader, _ := m.lease.Leader()
	switch alone := m.alone() && (leader == "" || m.coordinator != nil); {
	case m.p.now.Before(c.search.trusts):
		return false
	case !c.search.trusts.IsZero():
		return alone || c.lost() && (leader == "" || m.coordinator != nil)
	default:
		return alone || leader == "" && !m.lease.Settled()
	}
}

// lost reports whether a restarted member finds less than a third of the members that a large cell had. It may have
// missed a division.
func (c *cells) lost() bool {
	most := c.descent.most
	return !c.search.trusts.IsZero() && most >= c.cellRule().Ready && 3*c.m.view.Len() <= most
}

// Seeks reports whether the member doesn't know yet which cell is its own. It is called in At.
func (c *cells) Seeks() bool { return c.inCells() && c.seeks() }

// report stores a peer's answer while it matters.
func (c *cells) report(from task.PeerID, network string, summaries []overlay.Summary) {
	m, f := c.m, &c.search
	if from == "" || from == m.p.cfg.Self || !c.seeks() && !m.p.now.Before(f.until) {
		return
	}
	r := report{network: network, at: m.p.now}
	for i := range summaries {
		if s := &summaries[i]; s.Overlay == m.id && s.Cell.Holds(m.number) && s.Leader != m.p.cfg.Self && s.Members > 0 &&
			s.Lineage.Of(s.Cell) && len(r.claims) <= overlay.MaxCellBits*overlay.MaxClaims {
			r.claims = append(r.claims, *s)
		}
	}
	maps.DeleteFunc(f.reports, func(_ task.PeerID, r report) bool { return m.p.now.Sub(r.at) >= reportLife })
	if len(r.claims) == 0 {
		return
	}
	if len(f.reports) == 0 {
		f.reports, f.begun, f.asked = map[task.PeerID]report{}, m.p.now, map[task.PeerID]bool{}
		if at := m.p.now.Add(newcomerWaits); at.Before(m.lookAt) {
			m.lookAt = at
		}
	}
	if _, known := f.reports[from]; !known && len(f.reports) >= maxReports {
		return
	}
	f.reports[from] = r
	c.askFurther(&r)
}

// askFurther asks peers that can confirm a report: the leaders that it names, and some members of their cells.
func (c *cells) askFurther(r *report) {
	m, f := c.m, &c.search
	for i := range r.claims {
		c.askAbout(r.claims[i].Leader)
	}
	before := len(f.asked)
	for _, peer := range slices.Sorted(maps.Keys(m.visitors.known)) {
		bits := m.visitors.known[peer].advert.Bits
		if len(f.asked)-before < newcomerAsks && slices.ContainsFunc(r.claims, func(s overlay.Summary) bool {
			return s.Cell.Bits == bits && s.Cell.Holds(overlay.CellNumber(m.id, peer))
		}) {
			c.askAbout(peer)
		}
	}
}

// askAbout asks a peer about the member's own cell, once in a search.
func (c *cells) askAbout(peer task.PeerID) {
	m, f := c.m, &c.search
	if _, reported := f.reports[peer]; !reported && !f.asked[peer] && len(f.asked) < maxReports && peer != m.p.cfg.Self {
		f.asked[peer] = true
		m.p.emit(AskCells{Of: m, From: peer, Own: true})
	}
}

// confirmed reports whether peers confirm that somebody leads a cell, and returns the cell's lineage. Two peers in
// different networks are sufficient. If all peers that answer in time are in one network, as on a local one, two of them
// are. All peers without a public network count as one network. If nobody else answers for a while, fewer are sufficient,
// because a small overlay may have no more. If a peer answers that a restarted member remembers, others don't count.
func (f *search) confirmed(c overlay.Cell, now time.Time) (lineage overlay.Lineage, ok bool) {
	all, networks, peers := map[string]bool{}, map[string]bool{}, 0
	remembers := slices.ContainsFunc(f.known, func(p task.PeerID) bool { return len(f.reports[p].claims) > 0 })
	for _, peer := range slices.Sorted(maps.Keys(f.reports)) {
		r := f.reports[peer]
		if remembers && !slices.Contains(f.known, peer) {
			continue
		}
		all[r.network] = true
		i := slices.IndexFunc(r.claims, func(s overlay.Summary) bool { return s.Cell == c })
		if i < 0 {
			continue
		}
		peers++
		networks[r.network] = true
		if lineage == nil {
			lineage = r.claims[i].Lineage
		}
	}
	waited := now.Sub(f.begun)
	switch {
	case len(networks) >= 2 || remembers && peers > 0:
		return lineage, true
	case peers >= 2:
		return lineage, len(all) == 1 && waited >= newcomerWaits || waited >= cellLost
	case peers == 1:
		return lineage, waited >= reportLife || len(f.reports) == 1 && waited >= cellLost
	}
	return nil, false
}

// findCell takes a newcomer into the largest cell that peers confirm. A member that found its cell that way goes into a
// larger one if peers confirm it later.
func (c *cells) findCell() {
	m, f, now := c.m, &c.search, c.m.p.now
	seeks := c.seeks()
	if !seeks && !now.Before(f.until) {
		return
	}
	maps.DeleteFunc(f.reports, func(_ task.PeerID, r report) bool { return now.Sub(r.at) >= reportLife })
	for bits := range uint8(overlay.MaxCellBits + 1) {
		to := overlay.CellOf(m.number, bits)
		if !seeks && bits >= m.cell.Bits {
			return
		}
		if left, was := f.empty[to]; was && now.Sub(left) < overlay.SummaryLife {
			continue
		}
		lineage, ok := f.confirmed(to, now)
		switch {
		case !ok:
			continue
		case to == m.cell && (!m.alone() || now.Sub(m.descent.entered) < cellLost):
			return
		case to == m.cell:
			continue
		}
		c.enterFound(to, lineage)
		return
	}
}

// enterFound takes the member into a cell that peers confirmed.
func (c *cells) enterFound(to overlay.Cell, lineage overlay.Lineage) {
	m, f, few := c.m, &c.search, c.few()
	if _, reported := f.confirmed(m.cell, m.p.now); c.lost() ||
		reported && m.alone() && m.p.now.Sub(m.descent.entered) >= cellLost {
		maps.DeleteFunc(f.empty, func(_ overlay.Cell, at time.Time) bool { return m.p.now.Sub(at) >= overlay.SummaryLife })
		if f.empty == nil {
			f.empty = map[overlay.Cell]time.Time{}
		}
		f.empty[m.cell] = m.p.now
	}
	for _, a := range m.view.Members() {
		if a.Bits != to.Bits && a.Peer != m.p.cfg.Self { // a stranger may lead the cell that the member leaves
			m.visit(&a)
			m.letGo(a.Peer)
		}
	}
	f.probation(m.p.now)
	m.goTo(to, lineage, "other peers report that it is led")
	if few {
		m.introduce(0) // of many that come at once each has its moment
	}
}

// probation has a member ask again at growing intervals whether the cell is the right one that peers took it to. It ends
// an hour after the first such cell.
func (f *search) probation(now time.Time) {
	if f.tried.IsZero() || now.Sub(f.tried) >= youngCell {
		f.tried, f.every = now, cellRecheck
	}
	f.again, f.until, f.trusts, f.known = now.Add(f.every), time.Time{}, time.Time{}, nil
}

// recheck asks again some time after peers took the member to its cell. A newcomer that leads nobody but itself asks
// until it finds others.
func (c *cells) recheck(now time.Time) {
	f, seeks := &c.search, c.seeks()
	switch {
	case f.again.IsZero() && seeks && c.m.coordinator != nil:
		f.again, f.every = now.Add(cellRecheck), cellRecheck
		return
	case f.again.IsZero() || f.again.After(now):
		return
	case !seeks && (f.tried.IsZero() || now.Sub(f.tried) >= youngCell):
		f.again, f.tried = time.Time{}, time.Time{}
		return
	}
	f.every = min(2*f.every, cellRechecks)
	f.again = now.Add(f.every)
	if !seeks {
		f.until, f.reports = now.Add(cellLost), nil
	}
	c.ask("", now)
}

// newcomer has a member that has met one of another cell, and knows nobody of its own, ask at once where its cell is.
func (c *cells) newcomer() {
	m := c.m
	if leader, _ := m.lease.Leader(); !c.seeks() && !(leader == "" && m.few()) || m.p.now.Sub(m.asked) < cellSoon {
		return
	}
	m.ask("", m.p.now)
}

// wentTo returns the smaller cell in which most of the members are that this one knows with its number there, by their
// own adverts, if there are enough for a cell. It is how a member finds its cell that missed a division, and how some
// that started together find it. A member that has been in its cell for long doesn't leave it that way.
func (c *cells) wentTo() (to overlay.Cell, ok bool) {
	m := c.m
	if m.p.now.Sub(m.descent.entered) >= youngCell || len(m.visitors.known) < m.cellRule().Least {
		return to, false
	}
	there := map[overlay.Cell]int{}
	for peer, v := range m.visitors.known {
		if cell := overlay.CellOf(m.number, v.advert.Bits); v.advert.Bits > m.cell.Bits && v.advert.Expires.After(m.p.now) &&
			cell.Holds(overlay.CellNumber(m.id, peer)) {
			there[cell]++
		}
	}
	for cell, n := range there {
		if n > there[to] || n == there[to] && cell.Bits < to.Bits {
			to = cell
		}
	}
	stayed := 0
	for peer := range m.view.Peers() {
		if peer != m.p.cfg.Self && to.Holds(overlay.CellNumber(m.id, peer)) {
			stayed++
		}
	}
	return to, there[to] >= m.cellRule().Least && there[to] > stayed
}
