package scheduler

// A heap has the first by before in front. Each element knows its place, -1 outside.
type heap[T any] struct {
	items  []T
	before func(a, b T) int
	at     func(T) *int
}

func (h *heap[T]) len() int { return len(h.items) }

func (h *heap[T]) push(x T) {
	h.items = append(h.items, x)
	*h.at(x) = len(h.items) - 1
	h.fix(len(h.items) - 1)
}

// pop takes the first out; there must be one.
func (h *heap[T]) pop() T { return h.remove(0) }

func (h *heap[T]) remove(k int) T {
	x, last := h.items[k], len(h.items)-1
	h.swap(k, last)
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	if *h.at(x) = -1; k < last {
		h.fix(k)
	}
	return x
}

// fix puts the element at a place where it belongs since it has changed.
func (h *heap[T]) fix(k int) {
	for k > 0 && h.before(h.items[k], h.items[(k-1)/2]) < 0 {
		h.swap(k, (k-1)/2)
		k = (k - 1) / 2
	}
	for {
		first := k
		for child := 2*k + 1; child <= 2*k+2 && child < len(h.items); child++ {
			if h.before(h.items[child], h.items[first]) < 0 {
				first = child
			}
		}
		if first == k {
			return
		}
		h.swap(k, first)
		k = first
	}
}

func (h *heap[T]) swap(a, b int) {
	h.items[a], h.items[b] = h.items[b], h.items[a]
	*h.at(h.items[a]), *h.at(h.items[b]) = a, b
}

// second returns the second in order, if there is one: it is a child of the first.
func (h *heap[T]) second() (x T, ok bool) {
	switch len(h.items) {
	case 0, 1:
		return x, false
	case 2:
		return h.items[1], true
	}
	if h.before(h.items[2], h.items[1]) < 0 {
		return h.items[2], true
	}
	return h.items[1], true
}
