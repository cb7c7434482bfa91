package swarm

import (
	"time"

	"godwit/internal/heap"
)

// A rank orders what happens at one instant: see the package's rules.
type rank uint8

const (
	ending   rank = iota // of runs; checkpoints
	coming               // hosts, and their changes
	arriving             // jobs
	talking              // messages and timers
	going                // hosts
)

// An event is something that happens at a time, after Start by the machines'
// clock.
type event struct {
	at  time.Duration
	seq uint64 // the rank in the highest byte, then the order in which they were arranged
	do  func()
}

const rankShift = 56

// byTime is the order of events.
var byTime = heap.Order[event]{Before: func(a, b *event) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}}

// A queue is a heap of events.
type queue struct {
	heap []event
	made uint64
}

// add arranges an event.
func (q *queue) add(at time.Duration, r rank, do func()) {
	q.made++
	byTime.Push(&q.heap, event{at, uint64(r)<<rankShift | q.made, do})
}

// next takes out the first event up to end, and false when there is none.
func (q *queue) next(end time.Duration) (event, bool) {
	if len(q.heap) == 0 || q.heap[0].at > end {
		return event{}, false
	}
	return byTime.Pop(&q.heap), true
}
