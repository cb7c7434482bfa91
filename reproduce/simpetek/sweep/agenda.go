package sweep

import (
	"time"

	"godwit/internal/heap"
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

// byTime is the order of the agenda.
var byTime = heap.Order[event]{Before: func(a, b *event) bool {
	return a.at < b.at || a.at == b.at && a.order < b.order
}}

// at puts an event on the agenda.
func (w *world) at(t time.Duration, e event) {
	w.agenda.made++
	e.at, e.order = t, w.agenda.made
	byTime.Push(&w.agenda.events, e)
}
