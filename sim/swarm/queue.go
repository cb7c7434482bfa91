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
	at  time.Duration
	seq uint64 // the rank in the highest byte, then the order in which they were arranged
	do  func()
}

const rankShift = 56

func (e *event) before(o *event) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	return e.seq < o.seq
}

// A queue is a binary heap of events.
type queue struct {
	heap []event
	made uint64
}

// add arranges an event.
func (q *queue) add(at time.Duration, r rank, do func()) {
	q.made++
	e := event{at, uint64(r)<<rankShift | q.made, do}
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = e
}

// next takes out the first event up to end, and false when there is none.
func (q *queue) next(end time.Duration) (event, bool) {
	if len(q.heap) == 0 || q.heap[0].at > end {
		return event{}, false
	}
	first, last := q.heap[0], q.heap[len(q.heap)-1]
	q.heap[len(q.heap)-1] = event{}
	q.heap = q.heap[:len(q.heap)-1]
	if n := len(q.heap); n > 0 {
		i := 0
		for {
			down := 2*i + 1
			if down >= n {
				break
			}
			if down+1 < n && q.heap[down+1].before(&q.heap[down]) {
				down++
			}
			if !q.heap[down].before(&last) {
				break
			}
			q.heap[i] = q.heap[down]
			i = down
		}
		q.heap[i] = last
	}
	return first, true
}
