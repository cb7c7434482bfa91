// Package heap keeps slices in the order of a binary heap: the first element is first
// in an order of their own, and each comes before those at 2k+1 and 2k+2. Unlike
// container/heap it asks for no methods of the slice and puts no element into memory
// of its own.
//
// Two rooms have heaps of their own, because a call of Before for each comparison is
// too slow for them: sim for its events, and scheduler/place, where a round of 1,000
// hosts takes 5 to 10 % more processor time with this one.
package heap

// An Order says which of two elements comes first. Its methods take slices that were
// made by them, by Init, or that are empty; these belong to whoever keeps them. What
// Before calls equal comes in any order.
type Order[T any] struct {
	// Before reports whether a comes before b. It keeps neither.
	Before func(a, b *T) bool
	// Moved, if it is there, is told the place of each element that was put somewhere,
	// and -1 of one that was taken out.
	Moved func(x *T, place int)
}

// Init makes a heap of elements in any order.
func (o Order[T]) Init(h []T) {
	for k := range h {
		o.tell(h, k)
	}
	for k := len(h)/2 - 1; k >= 0; k-- {
		o.down(h, k)
	}
}

// Push adds an element.
func (o Order[T]) Push(h *[]T, x T) {
	*h = append(*h, x)
	last := len(*h) - 1
	o.tell(*h, last)
	o.up(*h, last)
}

// Pop takes out the first element; there must be one. It is Remove in fewer steps:
// the last element stays where it is until its place is found.
func (o Order[T]) Pop(h *[]T) T {
	s := *h
	if o.Moved != nil {
		o.Moved(&s[0], -1)
	}
	first, last := s[0], len(s)-1
	k := 0
	for child := 1; child < last; child = 2*k + 1 {
		if child+1 < last && o.Before(&s[child+1], &s[child]) {
			child++
		}
		if !o.Before(&s[child], &s[last]) {
			break
		}
		s[k] = s[child]
		o.tell(s, k)
		k = child
	}
	if k < last {
		s[k] = s[last]
		o.tell(s, k)
	}
	var none T
	s[last] = none // its memory is not held
	*h = s[:last]
	return first
}

// Remove takes out the element at place k.
func (o Order[T]) Remove(h *[]T, k int) T {
	s := *h
	last := len(s) - 1
	o.swap(s, k, last)
	if o.Moved != nil {
		o.Moved(&s[last], -1)
	}
	x := s[last]
	var none T
	s[last] = none // its memory is not held
	*h = s[:last]
	if k < last {
		o.Fix(*h, k)
	}
	return x
}

// Fix puts the element at place k where it belongs, since it has changed.
func (o Order[T]) Fix(h []T, k int) {
	o.up(h, k)
	o.down(h, k)
}

func (o Order[T]) up(h []T, k int) {
	for k > 0 {
		parent := (k - 1) / 2
		if !o.Before(&h[k], &h[parent]) {
			return
		}
		o.swap(h, k, parent)
		k = parent
	}
}

func (o Order[T]) down(h []T, k int) {
	for {
		first := k
		for child := 2*k + 1; child <= 2*k+2 && child < len(h); child++ {
			if o.Before(&h[child], &h[first]) {
				first = child
			}
		}
		if first == k {
			return
		}
		o.swap(h, k, first)
		k = first
	}
}

func (o Order[T]) swap(h []T, a, b int) {
	h[a], h[b] = h[b], h[a]
	if o.Moved != nil {
		o.Moved(&h[a], a)
		o.Moved(&h[b], b)
	}
}

func (o Order[T]) tell(h []T, k int) {
	if o.Moved != nil {
		o.Moved(&h[k], k)
	}
}
