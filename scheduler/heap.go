package scheduler

import "godwit/internal/heap"

// A turns is a heap of those that wait for their turn, the first in front. Each
// element knows its place, -1 outside.
type turns[T any] struct {
	items []T
	order heap.Order[T]
}

// newTurns makes one of elements in the order of before; at is where an element
// keeps its place.
func newTurns[T any](before func(a, b T) int, at func(T) *int) turns[T] {
	return turns[T]{order: heap.Order[T]{
		Before: func(a, b *T) bool { return before(*a, *b) < 0 },
		Moved:  func(x *T, place int) { *at(*x) = place },
	}}
}

func (h *turns[T]) len() int { return len(h.items) }

func (h *turns[T]) push(x T) { h.order.Push(&h.items, x) }

// pop takes the first out; there must be one.
func (h *turns[T]) pop() T { return h.order.Pop(&h.items) }

func (h *turns[T]) remove(k int) T { return h.order.Remove(&h.items, k) }

// fix puts the element at a place where it belongs since it has changed.
func (h *turns[T]) fix(k int) { h.order.Fix(h.items, k) }

// second returns the second in order, if there is one: it is a child of the first.
func (h *turns[T]) second() (x T, ok bool) {
	if len(h.items) < 2 {
		return x, false
	}
	if len(h.items) > 2 && h.order.Before(&h.items[2], &h.items[1]) {
		return h.items[2], true
	}
	return h.items[1], true
}
