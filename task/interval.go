package task

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"
)

// An interval is what a worker ran between two boundaries of a task that follow each other: it can
// be run again alone, from the state at the first, and has to end in the state at the second. The
// first one begins with the task, whoever ran that, and the last one ends with it.

// ReferenceFuel is about how much fuel a program uses in a second of the reference core.
const ReferenceFuel = 4_000_000_000

// MinSpacing is the least spacing: a task should be stopped seldom, and few safe points lie
// further apart.
const MinSpacing = 1 << 20

// maxSpacing bounds what a job may say, so that no multiple is beyond what fuel can be.
const maxSpacing = 1 << 50

// Spacing is how much fuel lies between two boundaries of the job's tasks at first.
func (j *Job) Spacing() uint64 {
	if j.Verify == nil || j.Verify.Spacing == 0 {
		return DefaultSpacing
	}
	return j.Verify.Spacing
}

// SpacingOf is the spacing of boundaries that lie about so long apart on the reference core; at
// least MinSpacing.
func SpacingOf(d time.Duration) uint64 {
	return max(MinSpacing, uint64(max(0, d.Seconds())*ReferenceFuel))
}

// SpacingAt is how far boundaries lie apart when a task has used so much fuel: the least doubling
// of the spacing, which is above 0, of which that has at most MaxBoundaries multiples.
func SpacingAt(spacing, fuel uint64) uint64 {
	for fuel/spacing > MaxBoundaries {
		spacing *= 2
	}
	return spacing
}

// Crosses reports whether the way from one fuel to another leads over a multiple of a spacing.
func Crosses(from, to, spacing uint64) bool { return to/spacing > from/spacing }

// Base is the fuel at which the run began: 0 for the beginning of the task.
func (t *Trail) Base() uint64 {
	if len(t.Began) == 0 {
		return 0
	}
	return t.Began[0].Fuel
}

// Intervals is in how many intervals a run can be audited, of a job with that spacing; 0 where it
// can be as a whole alone: it has fewer than MinIntervals, or its boundaries are not one for each
// multiple of the spacing. So nobody can put much of a task into an interval that is seldom drawn.
// t may be nil.
func (t *Trail) Intervals(spacing uint64) int {
	if t == nil || t.Boundaries+1 < MinIntervals || !t.regular(spacing) {
		return 0
	}
	return int(t.Boundaries) + 1
}

// regular reports whether a run has one boundary for each multiple of the spacing that it should know.
func (t *Trail) regular(spacing uint64) bool {
	if spacing == 0 || t.Fuel < t.Base() {
		return false
	}
	now := SpacingAt(spacing, t.Fuel)
	return t.Fuel/now-t.Base()/now == uint64(t.Boundaries)
}

// CheckBoundaries checks boundaries that a worker says are those of its trail: that it has signed
// them, and that they lie where they have to, of a job with that spacing.
func (t *Trail) CheckBoundaries(of []Boundary, spacing uint64) error {
	if !t.regular(spacing) || int(t.Boundaries) != len(of) || !bytes.Equal(TrailRoot(of), t.Root) {
		return errors.New("the boundaries are not those that the worker signed")
	}
	now := SpacingAt(spacing, t.Fuel)
	for i, b := range of {
		if b.Fuel/now != t.Base()/now+1+uint64(i) || b.Fuel > t.Fuel {
			return fmt.Errorf("boundary %d lies at fuel %d: the spacing is %d", i, b.Fuel, now)
		}
	}
	return nil
}

// ThinBoundaries returns those of a larger spacing, of the boundaries that a run from base came to.
func ThinBoundaries(of []Boundary, base, spacing uint64) []Boundary {
	return slices.DeleteFunc(slices.Clone(of), func(b Boundary) bool {
		keep := Crosses(base, b.Fuel, spacing)
		base = b.Fuel
		return !keep
	})
}

// IntervalFuel returns where an interval begins and ends in fuel, by the boundaries of a trail.
func (t *Trail) IntervalFuel(of []Boundary, k int) (from, to uint64) {
	if k > 0 {
		from = of[k-1].Fuel
	}
	if to = t.Fuel; k < len(of) {
		to = of[k].Fuel
	}
	return from, to
}
