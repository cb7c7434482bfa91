package shares

import (
	"container/heap"
	"time"
)

// An agenda is what is to come, in order: of equal times, what was put there first.
type agenda struct {
	events eventHeap
	pushed uint64
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

func (a *agenda) push(at time.Duration, do func()) {
	a.pushed++
	heap.Push(&a.events, event{at, a.pushed, do})
}

func (a *agenda) pop() (event, bool) {
	if len(a.events) == 0 {
		return event{}, false
	}
	return heap.Pop(&a.events).(event), true
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*h = old[:len(old)-1]
	return e
}
