package place

import (
	"math"
	"time"

	"godwit/task"
)

// A lane is the hosts for tasks of about one length, the best first.
type lane struct {
	length  float64 // nanoseconds on the reference core
	guessed bool    // nobody knows: then no task waits for it beside an idle host
	state   int64
	heap    []runner
}

// A runner is a host in a lane.
type runner struct {
	end     float64 // expected, in nanoseconds
	steps   float64 // end in whole steps of alike: an order, where nearness is none
	stay    float64 // to the task's end
	running int32
	host    int32
}

// alike is the share of a task's length below which expected ends are the same: half
// of a thousandth. Survivals nearer to each other than a thousandth tell nobody apart
// (no expert of the forecast says that it is surer than about that), and who leaves
// loses half of the length.
//
// Measured on relays (five draws of 120 hosts for 13 days, 270,000 questions about an
// hour): the four fifths that are foretold to leave with probability .0003 to .0013
// left with .0007 to .0019, in no order.
const alike = 1. / 2 / 1000

// lane is the one for a task: made when it is first needed, or, when there are
// enough, the one nearest in length.
func (p *Expected) lane(now time.Time, w *wanting, f Forecast) *lane {
	step := math.Round(laneStep * math.Log2(w.length))
	nearest, off := 0, math.Inf(1)
	for i := range p.used {
		l := &p.lanes[i]
		if l.guessed != w.guessed {
			continue
		}
		d := math.Abs(math.Round(laneStep*math.Log2(l.length)) - step)
		if d == 0 {
			return l
		}
		if d < off {
			nearest, off = i, d
		}
	}
	if p.used == mostLanes {
		return &p.lanes[nearest]
	}
	l := &p.lanes[p.used]
	p.used++
	l.length, l.guessed, l.state, l.heap = w.length, w.guessed, w.task.State, l.heap[:0]
	p.fillLane(now, l, f)
	return l
}

// lengthAt is how long work takes on a host.
func (p *Expected) lengthAt(h *Host, work float64) float64 {
	if h.Speed > 0 {
		work /= h.Speed
	}
	return min(work, float64(longest))
}

// fillLane orders all hosts with an idle slot.
func (p *Expected) fillLane(now time.Time, l *lane, f Forecast) {
	for i := range p.hosts {
		h := &p.hosts[i]
		if h.Idle() == 0 || h.Free <= 0 {
			continue
		}
		r := runner{running: int32(h.Running), host: int32(i)}
		there := 1.
		if r.stay = 1; l.length >= briefWork {
			r.stay, there = p.stays[i].within(l.length / p.most)
		}
		length, mean := p.lengthAt(h, l.length), math.Inf(1)
		if r.stay < 1 {
			mean = length * there / (1 - r.stay)
		}
		redo, safe := p.redone(length, mean, l.state)
		if r.stay <= 0 && !l.guessed && p.sureLoss(now, h, f, min(length, safe)) {
			continue
		}
		r.end = length + length/mean*(redo+float64(p.s.Detect+2*p.s.Delay))
		r.steps = math.Floor(r.end / (l.length * alike))
		l.heap = append(l.heap, r)
	}
	for i := len(l.heap)/2 - 1; i >= 0; i-- {
		p.sink(l.heap, i)
	}
}

// best is the place in the lane of the best host that may run the task.
func (p *Expected) best(l *lane, t *Task) (int, bool) {
	for len(l.heap) > 0 {
		r := &l.heap[0]
		h := &p.hosts[r.host]
		switch {
		case h.Free <= 0 || h.Idle() == 0:
			last := len(l.heap) - 1
			l.heap[0] = l.heap[last]
			l.heap = l.heap[:last]
			p.sink(l.heap, 0)
		case int(r.running) != h.Running: // it got one: of equals others are first
			r.running = int32(h.Running)
			p.sink(l.heap, 0)
		case p.alike || h.Fits(t):
			return 0, true
		default:
			return p.bestFit(l, t)
		}
	}
	return 0, false
}

// bestFit goes through a lane whose first host may not run the task.
func (p *Expected) bestFit(l *lane, t *Task) (int, bool) {
	best := -1
	for i := range l.heap {
		r := &l.heap[i]
		h := &p.hosts[r.host]
		if r.running = int32(h.Running); h.Idle() > 0 && h.Fits(t) && (best < 0 || p.before(r, &l.heap[best])) {
			best = i
		}
	}
	return best, best >= 0
}

// before orders runners: by the expected end, as far as it tells them apart, then those
// with fewer tasks, then those that have been there longest, then by name.
func (p *Expected) before(a, b *runner) bool {
	if a.steps != b.steps {
		return a.steps < b.steps
	}
	if a.running != b.running {
		return a.running < b.running
	}
	if c := longerThere(&p.hosts[a.host], &p.hosts[b.host]); c != 0 {
		return c < 0
	}
	return p.peer(a) < p.peer(b)
}

func (p *Expected) peer(r *runner) task.PeerID { return p.hosts[r.host].Peer }

// sink puts the runner in place i where it belongs below that.
func (p *Expected) sink(heap []runner, i int) {
	for {
		c := 2*i + 1
		if c >= len(heap) {
			return
		}
		if c+1 < len(heap) && p.before(&heap[c+1], &heap[c]) {
			c++
		}
		if !p.before(&heap[c], &heap[i]) {
			return
		}
		heap[i], heap[c] = heap[c], heap[i]
		i = c
	}
}
