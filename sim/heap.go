package sim

import "math/bits"

// Phases are the order of what happens at one instant: see the package's doc.
const (
	phaseEnds = iota // completions
	phaseUps
	phaseArrivals
	phaseScans // of policies, and what else they do by the clock
	phasePlacements
	phaseLeaves

	phaseBits = 3
)

// maxSpan is how long a run may be: a time and its phase are one number.
const maxSpan = 1<<(63-phaseBits) - 1

// Kinds of events, in the order in which those of one time and phase happen.
const (
	onTimer    = iota // of a host: a task there ends, or its grace
	onDay             // a day, or the warm-up, is over
	onChange          // of a host's state, by its trace
	onArrival         // of the next task of the workload
	onReach           // a task reaches its host
	onFreed           // word of an ended task reaches the scheduler
	onOpening         // of a saturated class
	onScan            // of the migration policy
	onTail            // of the rule of copies
	onAgain           // the placement policy wants to be asked
	onDetect          // a host that vanished is missed
	onReminder        // of hosts on notice that still have tasks
	onTimeout         // a task takes too long at its host
	onCopied          // the state of a task that moves is where it goes
)

// An event is something that will happen.
type event struct {
	when int64  // nanoseconds after Start, times eight, and the phase
	what uint64 // kind and, in the lower half, host or task
}

func (e event) at() int64    { return e.when >> phaseBits }
func (e event) phase() int64 { return e.when & (1<<phaseBits - 1) }
func (e event) kind() int    { return int(e.what >> 32) }
func (e event) index() int32 { return int32(uint32(e.what)) }

func (e event) before(f event) bool {
	return e.when < f.when || e.when == f.when && e.what < f.what
}

// An eventHeap has four children a node: it is half as deep as a heap with two,
// and four events are one line of the processor's cache. What happens mostly
// leads to one event more, which takes the place of the first.
type eventHeap struct {
	events []event
	taken  bool // the first has happened, and is still in its place
}

const fanout = 4

// settle removes the first if it was taken.
func (a *eventHeap) settle() {
	if !a.taken {
		return
	}
	a.taken = false
	n := len(a.events) - 1
	e := a.events[n]
	if a.events = a.events[:n]; n > 0 {
		a.sink(0, e)
	}
}

func (a *eventHeap) push(e event) {
	if a.taken {
		a.taken = false
		a.sink(0, e)
		return
	}
	a.events = append(a.events, e)
	h := a.events
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / fanout
		if !e.before(h[p]) {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = e
}

// order makes a heap of events in any order.
func (a *eventHeap) order() {
	for i := (len(a.events) - 2) / fanout; i >= 0 && len(a.events) > 1; i-- {
		a.sink(i, a.events[i])
	}
}

// firstOf is the place of the first of four events. It branches nowhere: which is
// first nobody can guess, the processor neither.
func firstOf(f *[fanout]event) int {
	a := earlier(&f[1], &f[0])
	b := 2 + earlier(&f[3], &f[2])
	return a + (b-a)&-earlier(&f[b&3], &f[a&3])
}

// earlier is 1 if e is before f, else 0: the borrow of a subtraction.
func earlier(e, f *event) int {
	_, borrow := bits.Sub64(e.what, f.what, 0)
	_, borrow = bits.Sub64(uint64(e.when), uint64(f.when), borrow)
	return int(borrow)
}

// sink puts an event in place i, whose own is no more, and then where it belongs
// below that.
func (a *eventHeap) sink(i int, e event) {
	h := a.events
	for {
		c := fanout*i + 1
		if c >= len(h) {
			break
		}
		l := c
		if c+fanout <= len(h) {
			l += firstOf((*[fanout]event)(h[c : c+fanout]))
		} else {
			for k := c + 1; k < len(h); k++ {
				if h[k].before(h[l]) {
					l = k
				}
			}
		}
		least := h[l]
		if !least.before(e) {
			break
		}
		h[i] = least
		i = l
	}
	h[i] = e
}
