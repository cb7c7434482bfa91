package task

// A task that moved was run by several workers, one after the other: what one of them ran of it is its
// leg. Each vouched for the state in which its leg ended, and for the boundaries on the way there, so
// that an interval of any leg can be run again alone, and shows whose it is.

// MaxParts bounds the intervals of all legs together, of a result that is audited by them. A task of a
// day that moves each half an hour has 150.
const MaxParts = 256

// Leg returns the trail of the leg that ended in a state of the chain, counted from 1, the last first:
// as if the task had ended there. Leg 0 is that of who signed the end, and the trail itself.
func (t *Trail) Leg(k int) *Trail {
	if k == 0 {
		return t
	}
	l := &t.Began[k-1]
	v := &l.Voucher
	return &Trail{Pass: v.Pass, Fuel: l.Fuel, Last: v.Hash, Boundaries: v.Boundaries, Root: v.Root, Began: t.Began[k:],
		Engine: v.Engine}
}

// Leg returns the leg of a run as a result of who ran it: see Trail.Leg. It is not signed as such, and has
// no outputs.
func (r *Result) Leg(k int) *Result {
	if k == 0 {
		return r
	}
	v := &r.Trail.Began[k-1].Voucher
	return &Result{Task: r.Task, Worker: v.Worker, Outcome: Completed, Receipt: &v.Receipt, Trail: r.Trail.Leg(k)}
}

// Legs says how many intervals each leg of a task has of which several workers ran a leg, in a job with
// that spacing, by the numbers that Leg knows them by. It is nil where the task cannot be audited so: it did not
// move, or it is not known where it began, what ran it before, or each boundary on the way. So no leg, nor much work
// in one interval, is hidden from the draw. t may be nil.
func (t *Trail) Legs(spacing uint64) []int {
	if t == nil || len(t.Began) == 0 || CutShort(t.Began) {
		return nil
	}
	legs, all := make([]int, len(t.Began)+1), 0
	for k := range legs {
		leg := t.Leg(k)
		if leg.Pass != t.Pass || !leg.regular(spacing) {
			return nil
		}
		legs[k] = int(leg.Boundaries) + 1
		all += legs[k]
	}
	if all < MinIntervals || all > MaxParts {
		return nil
	}
	return legs
}

// Parts is of how many intervals some can be drawn, and run again alone, of a job with that spacing: of
// all legs together, else of the last alone; 0 where the task can be run again as a whole alone. They are numbered
// from the task's beginning. t may be nil.
func (t *Trail) Parts(spacing uint64) (n int) {
	legs := t.Legs(spacing)
	if legs == nil {
		return t.Intervals(spacing)
	}
	for _, of := range legs {
		n += of
	}
	return n
}

// LegIntervals is in how many intervals a leg can be audited, of a job with that spacing; 0 for none.
func (t *Trail) LegIntervals(leg int, spacing uint64) int {
	switch legs := t.Legs(spacing); {
	case leg >= 0 && leg < len(legs):
		return legs[leg]
	case leg == 0:
		return t.Intervals(spacing)
	}
	return 0
}
