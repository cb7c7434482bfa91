package sim

import "time"

// An Arriving is a task that comes. A job of several tasks is as many of them, one
// after the other, at one time.
type Arriving struct {
	At            time.Duration // after Start
	Class         int           // of Workload.Classes; -1 for a task of the log
	Work          time.Duration // on the reference core; more than 0
	Memory, State int64         // bytes
}

// Arrivals give a workload's tasks, for engines outside this package. The
// workload is part of a valid Scenario.
type Arrivals struct{ source *source }

// NewArrivals begins a workload that goes on for span from Start.
func NewArrivals(w *Workload, span time.Duration, seed uint64) *Arrivals {
	return &Arrivals{newSource(w, span, seed)}
}

func (a arrival) out() Arriving { return Arriving{a.at, int(a.class), a.work, a.memory, a.state} }

// Next returns the next task that comes at a time known beforehand, and false
// when there are no more.
func (a *Arrivals) Next() (Arriving, bool) {
	next, ok := a.source.next()
	return next.out(), ok
}

// Refill returns a task of a saturated class that is open at a time, and false
// where none is.
func (a *Arrivals) Refill(at time.Duration) (Arriving, bool) {
	next, ok := a.source.refill(at)
	return next.out(), ok
}

// Opens returns when, after a time, the next saturated class opens, and false
// when none does.
func (a *Arrivals) Opens(at time.Duration) (time.Duration, bool) { return a.source.opens(at) }
