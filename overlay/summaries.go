package overlay

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// MaxClaims is how many say at one time that they lead a cell, at most, and are heard. Who
// was heard before comes first: somebody with many keys takes no cell's place from who
// leads it, but only beside it.
const MaxClaims = 4

// Summaries are what is known of the cells of an overlay: a table that hostile leaders
// cannot fill. Each has one line, in the one cell that its own number gives it; a cell has
// at most MaxClaims. The zero value is ready.
type Summaries struct {
	cells map[Cell][]Summary // in the order in which their leaders were first heard
	leads map[task.PeerID]Cell
}

// Take takes a summary in that OpenSummary accepted, of the overlay of this table, and
// reports whether it was news.
func (t *Summaries) Take(s Summary, now time.Time) bool {
	if t.cells == nil {
		t.cells, t.leads = map[Cell][]Summary{}, map[task.PeerID]Cell{}
	}
	if was, known := t.leads[s.Leader]; known {
		if old, _ := t.Leader(s.Leader); !s.Issued.After(old.Issued) {
			return false
		}
		if was != s.Cell {
			t.remove(s.Leader)
		}
	}
	if s.Members == 0 { // it leads no more
		t.Drop(s.Leader)
		return true
	}
	t.expire(s.Cell, now)
	line := t.cells[s.Cell]
	if i := slices.IndexFunc(line, func(o Summary) bool { return o.Leader == s.Leader }); i >= 0 {
		line[i] = s
		return true
	}
	if len(line) >= MaxClaims {
		return false
	}
	t.cells[s.Cell], t.leads[s.Leader] = append(line, s), s.Cell
	return true
}

// Leader returns the newest summary of a leader.
func (t *Summaries) Leader(peer task.PeerID) (Summary, bool) {
	line := t.cells[t.leads[peer]]
	i := slices.IndexFunc(line, func(s Summary) bool { return s.Leader == peer })
	if i < 0 {
		return Summary{}, false
	}
	return line[i], true
}

// Drop forgets a leader that leads no longer.
func (t *Summaries) Drop(peer task.PeerID) {
	if _, ok := t.leads[peer]; ok {
		t.remove(peer)
	}
}

// Expire forgets what is too old.
func (t *Summaries) Expire(now time.Time) {
	for _, c := range slices.Collect(maps.Keys(t.cells)) {
		t.expire(c, now)
	}
}

// Of returns the summaries of a cell, those of leaders known for longest first. It is read only.
func (t *Summaries) Of(c Cell) []Summary { return t.cells[c] }

// All returns every summary, by cell, the larger ones first. The slice is the caller's.
func (t *Summaries) All() []Summary {
	var out []Summary
	for _, c := range slices.SortedFunc(maps.Keys(t.cells), compareCells) {
		out = append(out, t.cells[c]...)
	}
	return out
}

// Find returns the smallest cell that anybody leads and a number belongs to; not ok where
// none is known.
func (t *Summaries) Find(number uint64) (c Cell, ok bool) {
	for bits := MaxCellBits; bits >= 0; bits-- {
		if c = CellOf(number, uint8(bits)); len(t.cells[c]) > 0 {
			return c, true
		}
	}
	return Cell{}, false
}

// Inside reports whether anybody has said since a time that it leads a part of a cell that is
// not all of it.
func (t *Summaries) Inside(c Cell, since time.Time) bool {
	for o, line := range t.cells {
		if o != c && o.Within(c) && slices.ContainsFunc(line, func(s Summary) bool { return s.Issued.After(since) }) {
			return true
		}
	}
	return false
}

func (t *Summaries) expire(c Cell, now time.Time) {
	for _, s := range slices.Clone(t.cells[c]) {
		if !s.Holds(now) {
			t.remove(s.Leader)
		}
	}
}

func (t *Summaries) remove(peer task.PeerID) {
	c := t.leads[peer]
	delete(t.leads, peer)
	t.cells[c] = slices.DeleteFunc(t.cells[c], func(s Summary) bool { return s.Leader == peer })
	if len(t.cells[c]) == 0 {
		delete(t.cells, c)
	}
}

func compareCells(a, b Cell) int {
	return cmp.Or(cmp.Compare(a.Bits, b.Bits), cmp.Compare(a.Prefix, b.Prefix))
}
