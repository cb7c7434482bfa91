package overlay

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// MaxClaims is the maximum number of peers per cell whose claims to lead it are stored.
const MaxClaims = 4

// Summaries is a bounded table of an overlay's cells. A leader has a single claim, in the cell of its number, and a
// cell has at most MaxClaims. They are ranked by evidence: see rank. The zero value is an empty table.
type Summaries struct {
	cells map[Cell][]claim // ranked
	leads map[task.PeerID]Cell
}

// A claim is a leader's newest summary, and what the table knows about the leader.
type claim struct {
	Summary
	began     time.Time   // when the table first had the claim
	namer     task.PeerID // who named the leader as an heir; "" if nobody did
	inherited time.Time   // the namer's seniority; zero if there is no namer
	confirmed bool        // members of the cell that this node knows follow the leader
	over      bool        // the leader doesn't lead any more, but its heirs may come
}

// Take stores a summary that OpenSummary accepted, of the table's overlay, and reports whether it is new and can be
// true. nil evidence accepts everything.
func (t *Summaries) Take(s Summary, now time.Time, e *Evidence) bool {
	if t.cells == nil {
		t.cells, t.leads = map[Cell][]claim{}, map[task.PeerID]Cell{}
	}
	old, known := t.claim(s.Leader)
	if known && !s.Issued.After(old.Issued) {
		return false
	}
	if s.Members == 0 {
		t.end(s.Leader, s.Issued)
		return true
	}
	if e != nil && e.Check(&s) != nil {
		return false
	}
	if known && (old.Cell != s.Cell || old.over) {
		t.remove(s.Leader) // a leader that stepped down and comes back begins anew
	}
	t.expire(s.Cell, now)
	line := t.cells[s.Cell]
	i := slices.IndexFunc(line, func(o claim) bool { return o.Leader == s.Leader })
	if i < 0 {
		i, line = len(line), append(line, t.begin(&s, now))
	}
	line[i].Summary, line[i].over = s, false
	t.cells[s.Cell], t.leads[s.Leader] = line, s.Cell
	t.rank(s.Cell, s.Leader, e)
	return true
}

// begin returns a new claim. The heir of a leader in the table inherits that leader's seniority.
func (t *Summaries) begin(s *Summary, now time.Time) claim {
	c := claim{Summary: *s, began: now}
	number, line := CellNumber(s.Overlay, s.Leader), t.cells[s.Cell]
	for i := range line {
		since := seniority(line, &line[i])
		if slices.Contains(line[i].Heirs, number) && (c.namer == "" || since.Before(c.inherited)) {
			c.namer, c.inherited = line[i].Leader, since
		}
	}
	return c
}

// seniority returns the time since when a claim, or the one that it continues, has been known. An heir loses what it
// inherited if its namer goes on to lead.
func seniority(line []claim, x *claim) time.Time {
	if x.namer == "" {
		return x.began
	}
	for i := range line {
		if o := &line[i]; o.Leader == x.namer && !o.over && o.Issued.After(x.began) {
			return x.began
		}
	}
	return x.inherited
}

// rank sorts a cell's claims and removes the last ones above MaxClaims, but never the one that arrived last: so a
// successor is always known for a time, whoever else claims the cell. Claims that known members confirm come first. Of
// the others, the senior one of each network precedes the rest, so that a peer with several keys doesn't hold all
// places. Otherwise the senior claim comes first.
func (t *Summaries) rank(c Cell, last task.PeerID, e *Evidence) {
	line := t.cells[c]
	since := make(map[task.PeerID]time.Time, len(line))
	for i := range line {
		line[i].confirmed = len(line) > 1 && !line[i].over && e.confirms(&line[i].Summary)
		since[line[i].Leader] = seniority(line, &line[i])
	}
	for i := range line {
		if x := &line[i]; x.namer != "" && since[x.Leader].Equal(x.inherited) {
			since[x.namer] = x.began // the namer is silent: its place is the heir's now
		}
	}
	slices.SortStableFunc(line, func(a, b claim) int {
		return cmp.Or(compareBool(a.confirmed, b.confirmed), since[a.Leader].Compare(since[b.Leader]))
	})
	networks, repeats := map[string]bool{}, make(map[task.PeerID]bool, len(line))
	for i := range line {
		network := PublicNetworkOf(line[i].Addrs)
		repeats[line[i].Leader] = !line[i].confirmed && network != "" && networks[network]
		networks[network] = true
	}
	slices.SortStableFunc(line, func(a, b claim) int { return compareBool(!repeats[a.Leader], !repeats[b.Leader]) })
	for len(line) > MaxClaims {
		i := len(line) - 1
		if line[i].Leader == last {
			i--
		}
		delete(t.leads, line[i].Leader)
		line = slices.Delete(line, i, i+1)
	}
	t.cells[c] = line
}

// compareBool sorts true before false.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// end marks a leader's claim as over.
func (t *Summaries) end(peer task.PeerID, at time.Time) {
	for i := range t.cells[t.leads[peer]] {
		if x := &t.cells[t.leads[peer]][i]; x.Leader == peer {
			x.over, x.Issued = true, at
		}
	}
}

func (t *Summaries) claim(peer task.PeerID) (claim, bool) {
	line := t.cells[t.leads[peer]]
	i := slices.IndexFunc(line, func(o claim) bool { return o.Leader == peer })
	if i < 0 {
		return claim{}, false
	}
	return line[i], true
}

// Leader returns a leader's newest summary.
func (t *Summaries) Leader(peer task.PeerID) (Summary, bool) {
	x, known := t.claim(peer)
	return x.Summary, known && !x.over
}

// Drop removes a leader.
func (t *Summaries) Drop(peer task.PeerID) {
	if _, ok := t.leads[peer]; ok {
		t.remove(peer)
	}
}

// Expire removes summaries that are too old.
func (t *Summaries) Expire(now time.Time) {
	for _, c := range slices.Collect(maps.Keys(t.cells)) {
		t.expire(c, now)
	}
}

// Of returns a cell's summaries in order of rank.
func (t *Summaries) Of(c Cell) (out []Summary) {
	for _, x := range t.cells[c] {
		if !x.over {
			out = append(out, x.Summary)
		}
	}
	return out
}

// Divided reports whether there are summaries of smaller cells in a cell.
func (t *Summaries) Divided(c Cell) bool {
	for within, line := range t.cells {
		if within != c && within.Within(c) && slices.ContainsFunc(line, func(x claim) bool { return !x.over }) {
			return true
		}
	}
	return false
}

// All returns every summary, the larger cells first. The slice is the caller's.
func (t *Summaries) All() (out []Summary) {
	for _, c := range slices.SortedFunc(maps.Keys(t.cells), compareCells) {
		out = append(out, t.Of(c)...)
	}
	return out
}

func (t *Summaries) expire(c Cell, now time.Time) {
	for _, x := range slices.Clone(t.cells[c]) {
		if !x.Holds(now) {
			t.remove(x.Leader)
		}
	}
}

func (t *Summaries) remove(peer task.PeerID) {
	c := t.leads[peer]
	delete(t.leads, peer)
	t.cells[c] = slices.DeleteFunc(t.cells[c], func(x claim) bool { return x.Leader == peer })
	if len(t.cells[c]) == 0 {
		delete(t.cells, c)
	}
}

func compareCells(a, b Cell) int {
	return cmp.Or(cmp.Compare(a.Bits, b.Bits), cmp.Compare(a.Prefix, b.Prefix))
}
