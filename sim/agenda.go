package sim

import (
	"math"
	"math/bits"
)

// An agenda has all events to come: those of the near future in a heap that is
// small enough for the processor's first cache, the others in the slots of a
// wheel of several levels, each as wide as all slots of the level below, in no
// order. As time comes to a slot its events are spread over the levels below,
// until so few are in one that they go to the heap. So an event is moved a few
// times, along with its neighbours, whatever the number of events is.
//
// Every event before horizon is in the heap, and no other. Of an event in the
// wheel, the highest digit in which its time differs from base, in which it is
// greater, is its level, and the digit itself its slot.
type agenda struct {
	near    eventHeap
	base    int64 // begin of the slot that went to the heap
	horizon int64 // its end
	level   int   // its level
	levels  [wheelLevels]wheel
	empty   *bunch
	opened  bool // the heap was filled from the wheel
}

// A wheel is one level.
type wheel struct {
	used  uint64 // a bit for each slot that is not empty
	slots [wheelSlots]*bunch
}

// A bunch is some events of a slot, 1 KiB in all. Empty ones are used again.
type bunch struct {
	next   *bunch
	n      int
	events [63]event
}

const (
	digitBits   = 6
	wheelSlots  = 1 << digitBits
	wheelLevels = (63 + digitBits - 1) / digitBits

	// nearMost is how many events may be in the heap, unless they are of one
	// time: 8 KiB.
	nearMost = 512
)

// first is the next event, if there is one.
func (a *agenda) first() (event, bool) {
	a.near.settle()
	if len(a.near.events) == 0 && !a.open() {
		return event{}, false
	}
	return a.near.events[0], true
}

// take removes what first returned.
func (a *agenda) take() { a.near.taken = true }

// push adds an event, not before the one that was taken last.
func (a *agenda) push(e event) {
	if e.when >= a.horizon {
		a.shelve(e)
		return
	}
	a.near.push(e)
	if len(a.near.events) > 2*nearMost && a.level > 0 {
		a.near.settle()
		a.narrow()
		a.near.order()
	}
}

// shelve puts an event in the wheel.
func (a *agenda) shelve(e event) {
	level := 0
	if differ := uint64(e.when ^ a.base); differ != 0 {
		level = (bits.Len64(differ) - 1) / digitBits
	}
	digit := e.when >> (level * digitBits) & (wheelSlots - 1)
	w := &a.levels[level]
	w.used |= 1 << digit
	b := w.slots[digit]
	if b == nil || b.n == len(b.events) {
		b = a.another(b)
		w.slots[digit] = b
	}
	b.events[b.n] = e
	b.n++
}

// another is an empty bunch, before those of a slot.
func (a *agenda) another(next *bunch) *bunch {
	b := a.empty
	if b == nil {
		b = new(bunch)
	} else {
		a.empty = b.next
	}
	b.next, b.n = next, 0
	return b
}

// open fills the empty heap from the first slot, and says whether there is one.
func (a *agenda) open() bool {
	for len(a.near.events) == 0 {
		level := 0
		for a.levels[level].used == 0 {
			if level++; level == wheelLevels {
				return false
			}
		}
		w := &a.levels[level]
		digit := bits.TrailingZeros64(w.used)
		w.used &^= 1 << digit
		a.spread(w.slots[digit], level)
		w.slots[digit] = nil
	}
	a.near.order()
	a.opened = true
	return true
}

// spread takes a slot's events to the heap or, if they are many, to the levels
// below.
func (a *agenda) spread(slot *bunch, level int) {
	n := 0
	for b := slot; b != nil; b = b.next {
		n += b.n
	}
	a.base, a.level = slot.events[0].when&^(1<<(level*digitBits)-1), level
	if n > nearMost && level > 0 {
		a.level = 0
		a.horizon = a.base // nothing is before it
	} else {
		a.bound()
	}
	for b := slot; b != nil; {
		if a.horizon == a.base {
			for _, e := range b.events[:b.n] {
				a.shelve(e)
			}
		} else {
			a.near.events = append(a.near.events, b.events[:b.n]...)
		}
		next := b.next
		b.next, a.empty = a.empty, b
		b = next
	}
}

// bound sets the horizon to the end of the slot of level that begins at base.
func (a *agenda) bound() {
	if a.horizon = a.base + 1<<(a.level*digitBits); a.horizon < 0 {
		a.horizon = math.MaxInt64 // of the last slot that there is
	}
}

// narrow brings the horizon nearer while too many events are before it: they go
// back to the wheel, all of them where the first part of the slot is empty. What
// is left is in no order.
func (a *agenda) narrow() {
	for len(a.near.events) > nearMost && a.level > 0 {
		a.level--
		a.bound()
		few := a.near.events[:0]
		for _, e := range a.near.events {
			if e.when < a.horizon {
				few = append(few, e)
			} else {
				a.shelve(e)
			}
		}
		a.near.events = few
	}
}
