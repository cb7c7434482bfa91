package ledger

import (
	"cmp"
	"errors"
	"slices"

	"godwit/task"
)

// MaxLines bounds the lines of a task whose states are kept: those that are furthest. A line
// that is not among them has to begin anew where its worker is lost, and loses nothing else.
const MaxLines = 16

// A Line is how one replica of a task goes: it begins with a worker, its root, and goes on from
// worker to worker by their states. The replicas of a task must have nothing to do with one another,
// so that a state is for its own line alone.
type Line struct {
	Root task.PeerID `cbor:"1,keyasint"`
	// Best is the checkpoint of most work done in the line's round, and Round how often a worker
	// could not go on from that: as Row.Best and Row.Round, of a task that has no replicas.
	Best  *Checkpoint `cbor:"2,keyasint,omitempty"`
	Round uint64      `cbor:"3,keyasint,omitempty"`
}

// Root returns the worker with whom the line of a checkpoint began; "" where that is not known:
// nobody vouches for it, or its chain is cut short. A line that went on from what replicas agree on began there.
func (c *Checkpoint) Root() task.PeerID {
	if c.Voucher == nil || len(c.Before) == 0 && len(c.Voucher.Prior) > 0 {
		return ""
	}
	by, whole := task.AnsweredBy(c.Voucher.Worker, c.Before)
	if !whole {
		return ""
	}
	return by[len(by)-1]
}

// Answers returns the workers that answer for a checkpoint, the root of its line last.
func (c *Checkpoint) Answers() []task.PeerID {
	if c.Voucher == nil {
		return nil
	}
	workers, _ := task.AnsweredBy(c.Voucher.Worker, c.Before)
	return workers
}

// compareLines orders what may be known of lines; of one line the larger is kept, and of all the
// MaxLines that are largest.
func compareLines(a, b *Line) int {
	c := cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(flag(a.Best != nil), flag(b.Best != nil)))
	if c == 0 && a.Best != nil {
		c = compareCheckpoints(a.Best, b.Best)
	}
	return cmp.Or(c, cmp.Compare(b.Root, a.Root))
}

func compareRoot(l Line, root task.PeerID) int { return cmp.Compare(l.Root, root) }

// line returns what is known of the line that began with a worker; nil for nothing.
func (r *Row) line(root task.PeerID) *Line {
	if i, found := slices.BinarySearchFunc(r.Lines, root, compareRoot); found {
		return &r.Lines[i]
	}
	return nil
}

// LineState returns the checkpoint that a line goes on from; nil for none. It is read only.
func (r *Row) LineState(root task.PeerID) *Checkpoint {
	if l := r.line(root); l != nil && l.Best != nil && len(r.Bad) < MaxBad && !r.isBad(l.Best.CID) {
		return l.Best
	}
	return nil
}

// LineStates returns the checkpoints that the task's lines go on from, the one of most work first.
func (r *Row) LineStates() (states []*Checkpoint) {
	for i := range r.Lines {
		if s := r.LineState(r.Lines[i].Root); s != nil {
			states = append(states, s)
		}
	}
	slices.SortFunc(states, func(a, b *Checkpoint) int { return compareCheckpoints(b, a) })
	return states
}

// WantsLine reports whether a checkpoint is one of more work than its line has, as far as is
// known. r may be nil.
func (r *Row) WantsLine(c *Checkpoint) bool {
	root := c.Root()
	if r == nil || root == "" {
		return root != ""
	}
	best := r.LineState(root)
	return len(r.Bad) < MaxBad && !r.isBad(c.CID) && (best == nil || best.Fuel < c.Fuel)
}

// SaveLine takes in a checkpoint of now, as Save does of a task that has no replicas. One of which
// it is not known in whose line it is is not kept.
func (r *Row) SaveLine(c *Checkpoint) bool {
	if c == nil || c.Root() == "" || len(r.Bad) >= MaxBad || r.isBad(c.CID) {
		return false
	}
	l := Line{Root: c.Root(), Best: c}
	if known := r.line(l.Root); known != nil {
		if l.Round = known.Round; known.Best != nil && r.isBad(known.Best.CID) {
			l.Round++
		}
	}
	return r.takeLine(&l)
}

// takeLine merges what is known of a line elsewhere.
func (r *Row) takeLine(l *Line) bool {
	i, found := slices.BinarySearchFunc(r.Lines, l.Root, compareRoot)
	if found && compareLines(l, &r.Lines[i]) <= 0 {
		return false
	}
	lines := slices.Clone(r.Lines)
	if found {
		lines[i] = *l
	} else {
		lines = slices.Insert(lines, i, *l)
	}
	if len(lines) > MaxLines {
		least := 0
		for k := range lines {
			if compareLines(&lines[k], &lines[least]) < 0 {
				least = k
			}
		}
		if least == i {
			return false
		}
		lines = slices.Delete(lines, least, least+1)
	}
	r.Lines = lines
	return true
}

// voidLine takes in that a worker could not go on from the checkpoint of a line, by its word.
func (r *Row) voidLine(l *Line, bad *task.Voucher) bool {
	next := Line{Root: l.Root, Round: l.Round + 1}
	return r.addBad(bad) && r.takeLine(&next)
}

// StateNamed returns the checkpoint with that name, of those that the task goes on from; nil for none.
func (r *Row) StateNamed(c task.CID) *Checkpoint {
	if s := r.State(); s != nil && s.CID == c {
		return s
	}
	for _, s := range r.LineStates() {
		if s.CID == c {
			return s
		}
	}
	return nil
}

// coversLines reports whether the row has a state of each line of which another has one.
func (r *Row) coversLines(o *Row) bool {
	return len(r.Lines) >= MaxLines || !slices.ContainsFunc(o.Lines, func(l Line) bool {
		ours := r.line(l.Root)
		return l.Best != nil && (ours == nil || ours.Best == nil)
	})
}

// checkLines checks what a row that arrived says of lines.
func (r *Row) checkLines() error {
	if len(r.Lines) > MaxLines {
		return errors.New("ledger: row beyond its bounds")
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		switch {
		case i > 0 && r.Lines[i-1].Root >= l.Root:
			return errors.New("ledger: lines of a row are out of order")
		case l.Best != nil && (!l.Best.Valid() || l.Best.Root() != l.Root || len(l.Best.With) > 0),
			l.Best == nil && l.Round == 0:
			return errors.New("ledger: row has a line that is none")
		case l.Round > uint64(len(r.Bad)):
			return errors.New("ledger: line of a row is in a later round than there are bad states")
		}
	}
	return nil
}

// VetLines takes out of a row that came from elsewhere the checkpoints of lines that good does not
// bear out; what ours, which may be nil, has as well is not looked at again. It returns why one was
// taken out. It comes after Vet.
func (r *Row) VetLines(ours *Row, good func(*Checkpoint) error) (why error) {
	var known Row
	if ours != nil {
		known = *ours
	}
	kept := make([]Line, 0, len(r.Lines))
	for _, l := range r.Lines {
		l.Round = min(l.Round, uint64(len(r.Bad)))
		was := known.line(l.Root)
		if news := was == nil || compareLines(&l, was) > 0; news && l.Best != nil {
			if err := good(l.Best); err != nil {
				l.Best, why = nil, err
			}
		}
		if l.Best != nil || l.Round > 0 {
			kept = append(kept, l)
		}
	}
	if r.Lines = kept; len(kept) == 0 {
		r.Lines = nil
	}
	return why
}
