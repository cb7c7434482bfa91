package ledger

import (
	"cmp"
	"errors"
	"slices"

	"godwit/task"
)

// MaxBad bounds the states of a task that workers could not go on from. With so many it has
// no states any more: it begins anew wherever it runs.
const MaxBad = 16

// BadState is what a worker says of a state that it could not go on from.
func BadState(id task.TaskID, v *task.Voucher) task.State {
	return task.State{Task: id, CID: v.Receipt.From, Bad: true}
}

// State returns the checkpoint that the task goes on from, nil for none: Best, unless a worker
// could not. It is read only.
func (r *Row) State() *Checkpoint {
	if r.Best == nil || len(r.Bad) >= MaxBad || r.isBad(r.Best.CID) {
		return nil
	}
	return r.Best
}

// Wants reports whether a checkpoint is one of more work than the row has, as far as is known.
// r may be nil.
func (r *Row) Wants(c *Checkpoint) bool {
	if r == nil {
		return true
	}
	best := r.State()
	return len(r.Bad) < MaxBad && !r.isBad(c.CID) && (best == nil || best.Fuel < c.Fuel)
}

// Save takes in a checkpoint of now. The one of more work done is kept, so that copies of a row
// agree in whatever order they hear; one that is known to be bad is not. It says whether the
// row changed. The row keeps c.
func (r *Row) Save(c *Checkpoint) bool {
	if c == nil || len(r.Bad) >= MaxBad || r.isBad(c.CID) {
		return false
	}
	if r.Best != nil && r.isBad(r.Best.CID) {
		r.nextRound()
	}
	return r.take(c)
}

// take merges a checkpoint of the row's round.
func (r *Row) take(c *Checkpoint) bool {
	if c == nil || r.Best != nil && compareCheckpoints(c, r.Best) <= 0 {
		return false
	}
	r.Best = c
	return true
}

// nextRound forgets the checkpoint: any that is saved from now on takes its place.
func (r *Row) nextRound() { r.Round, r.Best = r.Round+1, nil }

// VoidState takes in that a worker could not go on from the checkpoint, by its word: nobody is
// offered that again, and one of less work takes its place. It says whether the row changed.
func (r *Row) VoidState(bad task.Voucher) bool {
	for i := range r.Lines {
		if s := r.LineState(r.Lines[i].Root); s != nil && s.CID == bad.Receipt.From {
			return r.voidLine(&r.Lines[i], &bad)
		}
	}
	if best := r.State(); best == nil || best.CID != bad.Receipt.From || !r.addBad(&bad) {
		return false
	}
	r.nextRound()
	return true
}

func (r *Row) addBad(v *task.Voucher) bool {
	i, found := slices.BinarySearchFunc(r.Bad, v.Receipt.From, compareBad)
	switch {
	case r.hasWord(v) || i >= MaxBad:
		return false
	case found:
		r.Bad = slices.Clone(r.Bad)
		r.Bad[i] = *v
		return true
	}
	all := slices.Insert(slices.Clip(r.Bad), i, *v)
	r.Bad = all[:min(len(all), MaxBad)] // the first of them, whatever comes first
	return true
}

func compareBad(v task.Voucher, c task.CID) int { return cmp.Compare(v.Receipt.From, c) }

// compareWords orders what workers say of one state; the smaller is kept.
func compareWords(a, b *task.Voucher) int {
	return cmp.Or(slices.Compare(a.Signature, b.Signature), cmp.Compare(a.Worker, b.Worker))
}

func (r *Row) isBad(c task.CID) bool {
	_, bad := slices.BinarySearchFunc(r.Bad, c, compareBad)
	return bad
}

// hasWord reports whether a word on a state would change nothing.
func (r *Row) hasWord(v *task.Voucher) bool {
	i, found := slices.BinarySearchFunc(r.Bad, v.Receipt.From, compareBad)
	return found && compareWords(v, &r.Bad[i]) >= 0
}

// mergeStates takes in which states another copy knows to be bad, and its checkpoint. Each
// round has its own; the later one's counts.
func (r *Row) mergeStates(o *Row) bool {
	changed := false
	for i := range o.Bad {
		changed = r.addBad(&o.Bad[i]) || changed
	}
	for i := range o.Lines {
		changed = r.takeLine(&o.Lines[i]) || changed
	}
	switch {
	case o.Round > r.Round:
		r.Round, r.Best = o.Round, o.Best
		return true
	case o.Round < r.Round:
		return changed
	}
	return r.take(o.Best) || changed
}

// checkStates checks what a row that arrived says of states.
func (r *Row) checkStates() error {
	if r.Best != nil && !r.Best.Valid() {
		return errors.New("ledger: row has a checkpoint that is none")
	}
	if r.Round > uint64(len(r.Bad)) {
		return errors.New("ledger: row is in a later round than it has bad states")
	}
	for i := range r.Bad {
		if i > 0 && r.Bad[i-1].Receipt.From >= r.Bad[i].Receipt.From {
			return errors.New("ledger: bad states of a row are out of order")
		}
	}
	return r.checkLines()
}

// Vet takes out of a row that came from elsewhere what it says of states and good does not
// bear out; what ours, which may be nil, has as well is not looked at again. It returns why
// the checkpoint was taken out.
func (r *Row) Vet(ours *Row, good func(*Checkpoint) error, bad func(*task.Voucher) error) error {
	var known Row
	if ours != nil {
		known = *ours
	}
	r.Bad = slices.DeleteFunc(r.Bad, func(v task.Voucher) bool { return !known.hasWord(&v) && bad(&v) != nil })
	r.Round = min(r.Round, uint64(len(r.Bad)))
	if r.Best == nil || r.Round < known.Round || r.Round == known.Round && !known.take(r.Best) {
		return nil
	}
	err := good(r.Best)
	if err != nil {
		r.Best = nil
	}
	return err
}
