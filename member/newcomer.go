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
	// cellRecheck is the time after which a member that came into a cell by reports asks again.
	cellRecheck = time.Minute
	// youngCell is how long a member may leave its cell for one in which most members are.
	youngCell = time.Hour
)

// A search is a newcomer's search for its cell.
type search struct {
	reports map[task.PeerID]report
	begun   time.Time                  // when the first report arrived; zero while there is none
	empty   map[overlay.Cell]time.Time // cells in which nobody answered, and when the member left them
	again   time.Time                  // when to ask again after a cell was found; zero for never
	until   time.Time                  // until when the answers to that count
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
	return m.alone() && (leader == "" || m.coordinator != nil) || leader == "" && !m.lease.Settled()
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
// are. If nobody else answers for a while, fewer are sufficient, because a small overlay may have no more.
func (f *search) confirmed(c overlay.Cell, now time.Time) (lineage overlay.Lineage, ok bool) {
	all, networks, peers := map[string]bool{}, map[string]bool{}, 0
	for _, peer := range slices.Sorted(maps.Keys(f.reports)) {
		r := f.reports[peer]
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
	case len(networks) >= 2:
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
	if m.alone() && m.p.now.Sub(m.descent.entered) >= cellLost {
		maps.DeleteFunc(f.empty, func(_ overlay.Cell, at time.Time) bool { return m.p.now.Sub(at) >= overlay.SummaryLife })
		if f.empty == nil {
			f.empty = map[overlay.Cell]time.Time{}
		}
		f.empty[m.cell] = m.p.now
	}
	m.goTo(to, lineage, "other peers report that it is led")
	f.again, f.until = m.p.now.Add(cellRecheck), time.Time{}
	if few {
		m.introduce(0) // of many that come at once each has its moment
	}
}

// recheck asks again some time after peers confirmed the member's cell.
func (c *cells) recheck(now time.Time) {
	f := &c.search
	if f.again.IsZero() || f.again.After(now) {
		return
	}
	f.again, f.until, f.reports = time.Time{}, now.Add(cellLost), nil
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
