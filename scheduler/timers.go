package scheduler

import (
	"container/heap"
	"time"
)

// timers is what is to be looked at later, by time. An entry is only a hint to
// look: whoever takes it checks whether there still is something to do, so
// that nothing need ever be taken out early.
type timers[K any] struct {
	entries timerHeap[K]
	n       uint64 // entries ever made: equal times go off in the order set
}

type timerEntry[K any] struct {
	at  time.Time
	seq uint64
	key K
}

// set makes key come up at the given time.
func (t *timers[K]) set(at time.Time, key K) {
	t.n++
	heap.Push(&t.entries, timerEntry[K]{at, t.n, key})
}

// due takes out the next key whose time has come.
func (t *timers[K]) due(now time.Time) (key K, ok bool) {
	if len(t.entries) == 0 || t.entries[0].at.After(now) {
		return key, false
	}
	return heap.Pop(&t.entries).(timerEntry[K]).key, true
}

// next returns when the next key comes up.
func (t *timers[K]) next() (time.Time, bool) {
	if len(t.entries) == 0 {
		return time.Time{}, false
	}
	return t.entries[0].at, true
}

type timerHeap[K any] []timerEntry[K]

func (h timerHeap[K]) Len() int { return len(h) }
func (h timerHeap[K]) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].seq < h[j].seq
}
func (h timerHeap[K]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timerHeap[K]) Push(x any)   { *h = append(*h, x.(timerEntry[K])) }
func (h *timerHeap[K]) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// earlier returns the earlier of two times, of which each may be missing.
func earlier(a time.Time, okA bool, b time.Time, okB bool) (time.Time, bool) {
	if !okA || okB && b.Before(a) {
		return b, okB
	}
	return a, okA
}
