package chunk

import (
	"fmt"
	"math"
	"time"
)

// A member is one that joined, as the policies know it.
type member struct {
	slots, cores int32
	speed        float64 // 1 if unknown
	here         bool
	served       bool      // has been given a chunk
	held         int       // runs it was given that have not come back
	begun        time.Time // when it began what it holds: given it, or reported part of it
	round        int64     // the policy's, in which it was served

	// What it does is measured chunk by chunk: due are the runs of the one that is
	// measured, acc those that came back done, in took.
	due, acc int
	took     time.Duration
	npp      float64 // node process power: runs a second of the last chunk; 0 not measured

	// As ratios keeps them.
	ratio, since float64
	updates      uint64

	copyOf Node // whose runs it does again; none
	copier Node // who does its runs again; none
}

const none Node = -1

// A pool knows the members and what they hold. Policies embed it: it is what they do
// when they do nothing of their own.
//
// Invariant: out is the sum of held over all members; slots that of their slots.
type pool struct {
	job     Job
	members []member
	free    []Node // Nodes that left, the last at the end
	here    int
	slots   int64
	out     int64
}

func (p *pool) at(n Node) *member {
	if n < 0 || int(n) >= len(p.members) || !p.members[n].here {
		panic(fmt.Sprintf("chunk: node %d has not joined, or has left", n))
	}
	return &p.members[n]
}

// Join implements Policy.
func (p *pool) Join(m Member) Node {
	slots := max(m.Slots, 1)
	speed := m.Speed
	if !(speed > 0) || math.IsInf(speed, 1) {
		speed = 1
	}
	cores := m.Cores
	if cores < 1 {
		cores = slots
	}
	var n Node
	if last := len(p.free) - 1; last >= 0 {
		n, p.free = p.free[last], p.free[:last]
	} else {
		n = Node(len(p.members))
		p.members = append(p.members, member{})
	}
	p.members[n] = member{slots: clampInt32(slots), cores: clampInt32(cores), speed: speed, here: true, copyOf: none,
		copier: none}
	p.here++
	p.slots += int64(p.members[n].slots)
	return n
}

func clampInt32(n int) int32 { return int32(min(n, math.MaxInt32)) }

// Leave implements Policy.
func (p *pool) Leave(n Node) {
	m := p.at(n)
	p.unlink(n)
	p.out -= int64(m.held)
	p.slots -= int64(m.slots)
	p.here--
	*m = member{}
	p.free = append(p.free, n)
}

// give books what Size answers: want, within what it was asked with. While nothing is
// out it gives at least a run: else all might wait for one another.
func (p *pool) give(now time.Time, n Node, want int64, ask Ask) int {
	m := p.at(n)
	if p.out == 0 {
		want = max(want, 1)
	}
	runs := int(max(0, min(want, ask.Remaining, MaxChunk)))
	if ask.Most > 0 {
		runs = min(runs, ask.Most)
	}
	p.hold(now, m, runs)
	return runs
}

func (p *pool) hold(now time.Time, m *member, runs int) {
	if runs == 0 {
		return
	}
	if m.held == 0 {
		m.begun, m.due, m.acc, m.took = now, runs, 0, 0
	}
	m.served = true
	m.held += runs
	p.out += int64(runs)
}

// Done implements Policy.
func (p *pool) Done(now time.Time, n Node, runs int, elapsed time.Duration) {
	p.done(now, n, runs, elapsed)
}

// done books runs that were done. When the chunk that is being measured is over with
// them it returns how many of it were done and in what time.
func (p *pool) done(now time.Time, n Node, runs int, elapsed time.Duration) (of int, took time.Duration,
	measured bool) {
	m := p.at(n)
	runs = min(runs, m.held)
	if runs <= 0 {
		return 0, 0, false
	}
	m.acc += runs
	m.took += max(elapsed, 0)
	p.release(now, n, runs)
	if m.acc < m.due && m.held > 0 {
		return 0, 0, false
	}
	of, took = m.acc, m.took
	m.due, m.acc, m.took = m.held, 0, 0
	// A clock that cannot tell the chunk from nothing gives no speed.
	return of, took, took > 0
}

// Back implements Policy.
func (p *pool) Back(now time.Time, n Node, runs int) {
	m := p.at(n)
	if runs = min(runs, m.held); runs <= 0 {
		return
	}
	m.due = max(0, m.due-runs)
	p.release(now, n, runs)
}

func (p *pool) release(now time.Time, n Node, runs int) {
	m := &p.members[n]
	m.held -= runs
	m.begun = now
	p.out -= int64(runs)
	if m.held == 0 {
		p.unlink(n)
	}
}

// unlink ends a copy that n has part in.
func (p *pool) unlink(n Node) {
	m := &p.members[n]
	if m.copyOf != none {
		p.members[m.copyOf].copier = none
		m.copyOf = none
	}
	if m.copier != none {
		p.members[m.copier].copyOf = none
		m.copier = none
	}
}

// quantum is the least number of runs whose trials fill the member's slots to the
// last: P/gcd(P, M). The thesis has it for some numbers of slots where M is a
// multiple of 10 (section 3.3.1); this is the same, of any.
func (p *pool) quantum(m *member) int64 {
	a, b := int64(m.slots), int64(p.job.Trials)
	for b != 0 {
		a, b = b, a%b
	}
	return int64(m.slots) / a
}

// atOnce is how many runs keep all slots of the member busy: a run's trials are on as
// many slots as there are.
func (p *pool) atOnce(m *member) int64 {
	t := int64(p.job.Trials)
	return (int64(m.slots) + t - 1) / t
}

// Rounding takes what is a whole number but for the last digits as that number: a
// ratio of 0.4 of 20 runs is 8, not 9, however 0.4 was come by. The bound is far
// above the error of a sum of ratios, and far below what a chunk could show.
const rounding = 1e-9

func ceil(x float64) int64  { return whole(math.Ceil(x - rounding*max(1, x))) }
func floor(x float64) int64 { return whole(math.Floor(x + rounding*max(1, x))) }

// whole converts what may be too large, or no number.
func whole(x float64) int64 {
	if !(x > 0) {
		return 0
	}
	return int64(min(x, 1<<62))
}
