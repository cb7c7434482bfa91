package sweep

import (
	"container/heap"
	"time"
)

// What may happen.
const (
	joins  = iota
	leaves // and what it has is lost
	ends   // a node's next runs are done, and it tells
	hears  // the coordinator has heard of them
)

// An event is what happens to a node at a time.
type event struct {
	at     time.Duration
	order  int // in which events were made: those of one instant happen so
	kind   int
	node   int
	serial int           // of the chunk that it is of
	runs   int           // that are heard of
	took   time.Duration // by the node, for those
}

// agenda has the events to come, the next first.
type agenda struct {
	events []event
	made   int
}

// Len implements heap.Interface.
func (a *agenda) Len() int { return len(a.events) }

// Less implements heap.Interface.
func (a *agenda) Less(i, j int) bool {
	if a.events[i].at != a.events[j].at {
		return a.events[i].at < a.events[j].at
	}
	return a.events[i].order < a.events[j].order
}

// Swap implements heap.Interface.
func (a *agenda) Swap(i, j int) { a.events[i], a.events[j] = a.events[j], a.events[i] }

// Push implements heap.Interface.
func (a *agenda) Push(x any) { a.events = append(a.events, x.(event)) }

// Pop implements heap.Interface.
func (a *agenda) Pop() any {
	last := len(a.events) - 1
	e := a.events[last]
	a.events = a.events[:last]
	return e
}

// at puts an event on the agenda.
func (w *world) at(t time.Duration, e event) {
	w.agenda.made++
	e.at, e.order = t, w.agenda.made
	heap.Push(&w.agenda, e)
}
