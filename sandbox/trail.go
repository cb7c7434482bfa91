package sandbox

import (
	"fmt"
	"time"

	"godwit/sandbox/freeze"
	"godwit/task"
)

// A Trailing has the state of a task noted along its way. The zero value notes none. A boundary is the first safe point
// at or after a multiple of a spacing in fuel. All who run a task come to the same boundaries with the same states: by
// compiler and interpreter, on any architecture, however often it was saved, moved or paused, unless it was not what it
// was to be. Where one safe point is the first after several multiples it is one boundary. Where the task cannot be
// frozen, or its state not be described, there is none.
type Trailing struct {
	// Spacing is the fuel between two boundaries at first, at least MinSpacing; 0: none are noted. It doubles whenever
	// there would be more than task.MaxBoundaries.
	Spacing uint64
	// OnBoundary is called on Run's goroutine with each boundary that the task comes to, before OnCheckpoint with a
	// state of that fuel or more: whoever goes on from that state has to keep those of no more fuel. ThinTrail says
	// which of them remain.
	OnBoundary func(task.Boundary)
	// OnState is called after OnBoundary with the whole state at the boundary, once all that the manifest refers to is
	// in Task.Pages: whoever keeps it can run on from there again. It reports whether it wants the states of later
	// boundaries too. The slice is the callee's. nil wants none. It needs Pages.
	OnState func(at task.Boundary, manifest []byte) (more bool)
}

// MinSpacing is the least spacing: a task should be stopped seldom, and few polls lie further apart.
const MinSpacing = task.MinSpacing

// A BoundaryStat is what noting boundaries cost.
type BoundaryStat struct {
	Count   int           // of the boundaries that were noted, also of those that were forgotten since
	Pause   time.Duration // for which the task stood still at all of them
	Longest time.Duration // at one
}

// ThinTrail gives the trail of a task that ended with so much fuel, out of all boundaries that it came to: those, put
// together, of the runs of which each went on where the one before was frozen. They are the same as if it had made one
// run.
func ThinTrail(trail []task.Boundary, spacing, fuel uint64) []task.Boundary {
	if spacing == 0 || !longEnough(spacing, fuel) {
		return nil
	}
	return task.ThinBoundaries(trail, 0, task.SpacingAt(spacing, fuel))
}

// spacingAfter is how far beyond the last multiple the next boundary lies. It is task.SpacingAt, unless the next would
// be one too many.
func spacingAfter(spacing, fuel uint64) uint64 {
	now := task.SpacingAt(spacing, fuel)
	if fuel/now == task.MaxBoundaries {
		return now * 2
	}
	return now
}

// A trail is what the parent knows of a task's boundaries.
type trail struct {
	spacing uint64
	base    uint64 // fuel at which the run began
	kept    []task.Boundary
	stat    BoundaryStat
}

// newTrail is for a task that is about to run. What it goes on from is looked at by the child, which may refuse it; of
// one that comes in stages the base is known when it runs.
func newTrail(t Task) trail {
	out := trail{spacing: t.Spacing}
	if t.Spacing > 0 && len(t.From) > 0 {
		if man, err := freeze.DecodeManifest(t.From); err == nil {
			out.base = man.State.Fuel
		}
	}
	return out
}

// last is the fuel of the last boundary, or at which the run began.
func (t *trail) last() uint64 {
	if n := len(t.kept); n > 0 {
		return t.kept[n-1].Fuel
	}
	return t.base
}

// add takes a boundary in, unless there can be none.
func (t *trail) add(b task.Boundary, pause time.Duration) error {
	if t.spacing == 0 {
		return fmt.Errorf("the sandbox process sent a boundary that no one asked for")
	}
	now := task.SpacingAt(t.spacing, b.Fuel)
	if b.Fuel <= t.last() || !task.Crosses(t.last(), b.Fuel, now) {
		return fmt.Errorf("the sandbox process sent a boundary at fuel %d after one at %d: the spacing is %d", b.Fuel,
			t.last(), now)
	}
	t.kept = append(task.ThinBoundaries(t.kept, t.base, now), b)
	pause = max(pause, 0)
	t.stat.Count, t.stat.Pause, t.stat.Longest = t.stat.Count+1, t.stat.Pause+pause, max(t.stat.Longest, pause)
	return nil
}

// finish puts the trail into the report of a task that ended, or was frozen.
func (t *trail) finish(rep *Report, ended bool) error {
	if len(t.kept) > 0 && t.last() > rep.Fuel {
		return fmt.Errorf("the sandbox process sent a boundary at fuel %d of a task that used %d", t.last(), rep.Fuel)
	}
	rep.Boundaries, rep.Spacing = t.stat, t.spacing
	if t.spacing > 0 && (!ended || longEnough(t.spacing, rep.Fuel)) {
		rep.Trail = task.ThinBoundaries(t.kept, t.base, task.SpacingAt(t.spacing, rep.Fuel))
	}
	return nil
}

// longEnough reports whether a task that ended has a trail.
func longEnough(spacing, fuel uint64) bool { return fuel/spacing >= task.MinIntervals }
