package swarm

import "time"

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
	at time.Duration
	do func()
}

// A seat is an event in the heap. It has no pointers, so that the collector looks at no
// move of it.
type seat struct {
	at  time.Duration
	seq uint64 // the rank in the highest byte, then the order in which they were arranged
	of  int32  // in does
}

const rankShift = 56

func (a *seat) before(b *seat) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// A queue is a heap of events in which each comes before its four children, those at
// 4k+1 to 4k+4: it is half as deep as one with two. No two events are equal.
type queue struct {
	heap []seat
	does []func()
	free []int32 // of does
	made uint64
}

const fanout = 4

// add arranges an event.
func (q *queue) add(at time.Duration, r rank, do func()) {
	q.made++
	e := seat{at, uint64(r)<<rankShift | q.made, 0}
	if last := len(q.free) - 1; last >= 0 {
		e.of, q.free = q.free[last], q.free[:last]
		q.does[e.of] = do
	} else {
		e.of = int32(len(q.does))
		q.does = append(q.does, do)
	}
	q.heap = append(q.heap, e)
	h, i := q.heap, len(q.heap)-1
	for i > 0 {
		parent := (i - 1) / fanout
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// next takes out the first event up to end, and false when there is none.
func (q *queue) next(end time.Duration) (event, bool) {
	if len(q.heap) == 0 || q.heap[0].at > end {
		return event{}, false
	}
	first, last := q.heap[0], len(q.heap)-1
	e := q.heap[last]
	if q.heap = q.heap[:last]; last > 0 {
		q.sink(e)
	}
	do := q.does[first.of]
	q.does[first.of] = nil // its memory is not held
	q.free = append(q.free, first.of)
	return event{first.at, do}, true
}

// sink puts an event where it belongs, from the first place on, whose own is no more.
func (q *queue) sink(e seat) {
	h, i := q.heap, 0
	for c := 1; c < len(h); c = fanout*i + 1 {
		least := c
		for k := c + 1; k < min(c+fanout, len(h)); k++ {
			if h[k].before(&h[least]) {
				least = k
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}
