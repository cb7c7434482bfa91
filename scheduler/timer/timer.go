// Package timer is a queue of keys to be looked at later, by time.
package timer

import (
	"time"

	"godwit/internal/heap"
)

// Queue is what is to be looked at later, by time. An entry is only a hint to
// look: whoever takes it checks whether there still is something to do, so
// that nothing need ever be taken out early.
type Queue[K any] struct {
	entries []timerEntry[K]
	order   heap.Order[timerEntry[K]]
	n       uint64 // entries ever made: equal times go off in the order set
}

type timerEntry[K any] struct {
	at  time.Time
	seq uint64
	key K
}

// Set makes key come up at the given time.
func (t *Queue[K]) Set(at time.Time, key K) {
	if t.order.Before == nil {
		t.order.Before = (*timerEntry[K]).before
	}
	t.n++
	t.order.Push(&t.entries, timerEntry[K]{at, t.n, key})
}

// Due takes out the next key whose time has come.
func (t *Queue[K]) Due(now time.Time) (key K, ok bool) {
	if len(t.entries) == 0 || t.entries[0].at.After(now) {
		return key, false
	}
	return t.order.Pop(&t.entries).key, true
}

// Next returns when the next key comes up.
func (t *Queue[K]) Next() (time.Time, bool) {
	if len(t.entries) == 0 {
		return time.Time{}, false
	}
	return t.entries[0].at, true
}

// Len returns how many keys wait, each as often as it was set.
func (t *Queue[K]) Len() int { return len(t.entries) }

// before reports whether an entry goes off before another.
func (e *timerEntry[K]) before(o *timerEntry[K]) bool {
	if c := e.at.Compare(o.at); c != 0 {
		return c < 0
	}
	return e.seq < o.seq
}

// Earlier returns the earlier of two times, of which each may be missing.
func Earlier(a time.Time, okA bool, b time.Time, okB bool) (time.Time, bool) {
	if !okA || okB && b.Before(a) {
		return b, okB
	}
	return a, okA
}
