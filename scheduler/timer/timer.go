// Package timer is a queue of keys to be looked at later, by time.
package timer

import "time"

// Queue is what is to be looked at later, by time. An entry is only a hint to
// look: whoever takes it checks whether there still is something to do, so
// that nothing need ever be taken out early.
type Queue[K any] struct {
	entries timerHeap[K]
	n       uint64 // entries ever made: equal times go off in the order set
}

type timerEntry[K any] struct {
	at  time.Time
	seq uint64
	key K
}

// Set makes key come up at the given time.
func (t *Queue[K]) Set(at time.Time, key K) {
	t.n++
	t.entries.push(timerEntry[K]{at, t.n, key})
}

// Due takes out the next key whose time has come.
func (t *Queue[K]) Due(now time.Time) (key K, ok bool) {
	if len(t.entries) == 0 || t.entries[0].at.After(now) {
		return key, false
	}
	return t.entries.pop().key, true
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

// A timerHeap has the first to go off first. Package heap would put each entry
// into memory of its own.
type timerHeap[K any] []timerEntry[K]

func (h timerHeap[K]) before(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].seq < h[j].seq
}

func (h *timerHeap[K]) push(e timerEntry[K]) {
	*h = append(*h, e)
	s := *h
	for k := len(s) - 1; k > 0; {
		parent := (k - 1) / 2
		if !s.before(k, parent) {
			return
		}
		s[k], s[parent] = s[parent], s[k]
		k = parent
	}
}

func (h *timerHeap[K]) pop() timerEntry[K] {
	s := *h
	first, last := s[0], len(s)-1
	s[0] = s[last]
	s[last] = timerEntry[K]{} // it holds no memory of its key
	s = s[:last]
	*h = s
	for k := 0; ; {
		least := k
		for child := 2*k + 1; child <= 2*k+2 && child < len(s); child++ {
			if s.before(child, least) {
				least = child
			}
		}
		if least == k {
			return first
		}
		s[k], s[least] = s[least], s[k]
		k = least
	}
}

// Earlier returns the earlier of two times, of which each may be missing.
func Earlier(a time.Time, okA bool, b time.Time, okB bool) (time.Time, bool) {
	if !okA || okB && b.Before(a) {
		return b, okB
	}
	return a, okA
}
