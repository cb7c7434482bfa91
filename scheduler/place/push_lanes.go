package place

import (
	"math"
	"slices"
	"time"
)

// Push looks for the member where a task would end first. Among thousands of alike
// tasks the members are the same each time, and only the one that was given a task is
// another after it: so a lane keeps them as a heap by the time until the end. Package
// heap, which calls a function to compare two, makes a round of 1,000 hosts take 5 %
// longer.

// mostPushLanes of alike tasks are kept at once; beyond, the one used longest ago is made
// anew for others. Tasks come job by job, so a few are enough.
const mostPushLanes = 16

// pushLanes are those of a round, and the memory for the next.
type pushLanes struct {
	list []*pushLane
	used int // of list, in this round
	tick uint64
}

// A pushLane is the members among which tasks choose that are alike: of one class, one need
// for memory and, where no rates are known, one amount of work.
type pushLane struct {
	class  string
	memory int64
	work   time.Duration
	last   uint64 // tick of its last use

	order []int32     // of its class
	after int         // of order, the first that is not in heap and not left out before it
	heap  []candidate // the best; by ends, then by place
	aside []candidate // memory
}

// A candidate is a member that may be given a task.
type candidate struct {
	member int32 // as in the order
	host   int32 // of those offered; none
	place  int32 // in the order
	rate   float64
	ends   float64 // seconds until the task would have ended; it may have grown since
}

func (a *candidate) before(b *candidate) bool {
	return a.ends < b.ends || a.ends == b.ends && a.place < b.place
}

func (ls *pushLanes) begin() { ls.used, ls.tick = 0, 0 }

// lane is that of a task.
func (p *Push) lane(t *Task) *pushLane {
	ls := &p.lanes
	work := time.Duration(0)
	if p.rates == nil {
		work = t.Work
	}
	ls.tick++
	oldest := 0
	for i, l := range ls.list[:ls.used] {
		if l.class == t.Class && l.memory == t.Memory && l.work == work {
			l.last = ls.tick
			return l
		}
		if l.last < ls.list[oldest].last {
			oldest = i
		}
	}
	if ls.used < mostPushLanes {
		if oldest = ls.used; ls.used == len(ls.list) {
			ls.list = append(ls.list, &pushLane{})
		}
		ls.used++
	}
	l := ls.list[oldest]
	l.class, l.memory, l.work, l.last = t.Class, t.Memory, work, ls.tick
	p.fill(l, t)
	return l
}

// fill takes the best members into a lane: so many of the order as percent says, and those that are as fast as the last of
// them. Members that could never run the task are left out.
func (p *Push) fill(l *pushLane, t *Task) {
	l.order, l.heap, l.after = p.order(t.Class), l.heap[:0], 0
	most := max(1, int(math.Ceil(p.percent/100*float64(len(l.order)))))
	for l.after < len(l.order) {
		at := l.after
		c, ok := p.next(l, &l.after, t)
		if !ok {
			continue
		}
		if len(l.heap) >= most && !(c.rate >= asFast*l.heap[most-1].rate) {
			l.after = at
			break
		}
		l.heap = append(l.heap, c)
	}
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		l.sink(i)
	}
}

// next is the candidate at a place of the order, which it moves on to the one after;
// false if that could never run the task.
func (p *Push) next(l *pushLane, place *int, t *Task) (candidate, bool) {
	c := p.candidate(t, l.order[*place])
	c.place = int32(*place)
	*place++
	if math.IsNaN(c.ends) {
		c.ends = math.Inf(1)
	}
	return c, p.suits(c.host, t)
}

// first is the candidate where a task would end first, of equal ones the first in the
// order. Members that must not run it are left out, and those next in the order take
// their places among the best.
func (p *Push) first(l *pushLane, t *Task) (candidate, bool) {
	best, found := candidate{}, false
	l.aside = l.aside[:0]
	for len(l.heap) > 0 {
		p.settle(l)
		if len(t.Avoid) == 0 || !slices.Contains(t.Avoid, p.peer(&l.heap[0])) {
			best, found = l.heap[0], true
			break
		}
		l.aside = append(l.aside, l.pop())
	}
	for i := range l.aside {
		l.push(l.aside[i])
	}
	left := 0
	if len(t.Avoid) > 0 && l.after < len(l.order) {
		left = p.avoided(l, t)
	}
	for place := l.after; left > 0 && place < len(l.order); {
		c, ok := p.next(l, &place, t)
		if !ok || slices.Contains(t.Avoid, p.peer(&c)) {
			continue
		}
		left--
		if !found || c.before(&best) {
			best, found = c, true
		}
	}
	return best, found && best.ends < math.Inf(1)
}

// avoided is how many of a lane's members must not run a task.
func (p *Push) avoided(l *pushLane, t *Task) (n int) {
	for i := range l.heap {
		if slices.Contains(t.Avoid, p.peer(&l.heap[i])) {
			n++
		}
	}
	return n
}

// settle brings the first of the heap up to date. Ends only grow, so that the first
// is right when it has not grown.
func (p *Push) settle(l *pushLane) {
	for {
		c := &l.heap[0]
		ends := p.ends(c)
		if math.IsNaN(ends) {
			ends = math.Inf(1)
		}
		if ends == c.ends {
			return
		}
		c.ends = ends
		l.sink(0)
	}
}

func (l *pushLane) sink(i int) {
	for {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(l.heap); k++ {
			if l.heap[k].before(&l.heap[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		l.heap[i], l.heap[least] = l.heap[least], l.heap[i]
		i = least
	}
}

func (l *pushLane) pop() candidate {
	c, last := l.heap[0], len(l.heap)-1
	l.heap[0] = l.heap[last]
	if l.heap = l.heap[:last]; last > 0 {
		l.sink(0)
	}
	return c
}

func (l *pushLane) push(c candidate) {
	l.heap = append(l.heap, c)
	for i := len(l.heap) - 1; i > 0 && l.heap[i].before(&l.heap[(i-1)/2]); i = (i - 1) / 2 {
		l.heap[i], l.heap[(i-1)/2] = l.heap[(i-1)/2], l.heap[i]
	}
}
