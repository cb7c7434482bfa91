package shares

import (
	"time"

	"godwit/internal/heap"
)

// An agenda is what is to come, in order: of equal times, what was put there first.
type agenda struct {
	events []event
	pushed uint64
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

func (a *agenda) push(at time.Duration, do func()) {
	a.pushed++
	byTime.Push(&a.events, event{at, a.pushed, do})
}

func (a *agenda) pop() (event, bool) {
	if len(a.events) == 0 {
		return event{}, false
	}
	return byTime.Pop(&a.events), true
}

// byTime is the order of the agenda.
var byTime = heap.Order[event]{Before: func(a, b *event) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}}
