package sim

import (
	"math/rand/v2"
	"time"

	"godwit/scheduler/place"
	"godwit/task"
)

// classes are what is kept of tasks and hosts where execution rates matter: they
// are imposed (Scenario.Rates), or the policy goes by them (place.Traits). nil
// elsewhere, so that nobody else pays for it.
//
// It is the place.Rates that a policy is told. Rates that are not imposed are those
// of hosts' speeds: Speed/Work.
type classes struct {
	w       *world
	imposed *Rates // nil: none
	pace    []float64
	mean    []float64 // of pace, by host
	unit    float64   // of imposed, in seconds
	seen    []sampled // of executions, by host and then by class; nil: rates are known
	timeout float64   // times what is expected; 0 none

	known   []place.Class // of the workload; tasks of the log are of class ""
	numbers map[string]int32
	lines   []line // of those that wait, by class, the log's last
	extra   []taskExtra
	tallies []classTally
	redraws []*rand.Rand // by class; nil: none are drawn anew
	draws   []Draw       // of work, by class, of redraws

	version   uint64
	names     []task.PeerID // who is there
	stale     bool          // names are to be found anew
	idleSince []int64       // by host; busy while it is not idle
}

// A taskExtra belongs to the task of the same slot.
type taskExtra struct {
	sent, begun int64 // last
	due         int64 // when the present run is given up; 0 never
	next, prev  int32 // in the line of its class
}

// A sampled is how long tasks took.
type sampled struct {
	n       int
	seconds float64 // of all together
}

// unsent is the sent of a task that was not sent yet.
const unsent = -1

// busy is the idleSince of a host that is not idle.
const busy = -1

// newClasses is nil where rates do not matter.
func newClasses(w *world, rated bool) *classes {
	s := w.scenario
	if s.Rates == nil && !rated {
		return nil
	}
	n := len(s.Workload.Classes)
	c := &classes{
		w: w, imposed: s.Rates, numbers: map[string]int32{"": int32(n)}, lines: make([]line, n+1),
		tallies: make([]classTally, n+1),
		stale:   true, idleSince: make([]int64, len(s.Trace.Hosts)),
	}
	for i := range c.lines {
		c.lines[i] = line{none, none}
	}
	for i := range c.idleSince {
		c.idleSince[i] = busy
	}
	for i := range s.Workload.Classes {
		class := &s.Workload.Classes[i]
		name := nameOf(i, class)
		c.numbers[name] = int32(i)
		c.known = append(c.known, place.Class{Name: name, Arrival: class.rate(time.Duration(w.end))})
		if s.Workload.Redraw {
			c.redraws = append(c.redraws, streamRand(s.Seed, i, class.Name, "redraws"))
			c.draws = append(c.draws, class.WorkLaw.mustDraw())
		}
	}
	if s.Rates != nil {
		c.impose()
		c.timeout = s.Rates.Timeout
		if s.Rates.Measured {
			c.seen = make([]sampled, len(s.Trace.Hosts)*n)
		}
	}
	if patience := w.traits.Patience; patience > 0 {
		c.timeout = patience
	}
	return c
}

// impose makes the paces: the work on the reference core that a host does of a
// class in a unit of time, by host and then by class.
func (c *classes) impose() {
	s, n := c.w.scenario, len(c.known)
	c.unit = c.imposed.unit().Seconds()
	hosts := len(s.Trace.Hosts)
	c.pace, c.mean = make([]float64, hosts*n), make([]float64, hosts)
	for j := range hosts {
		for i := range n {
			p := c.imposed.Of[i][j] * c.imposed.at(j) * s.Workload.Classes[i].Work.Seconds() / c.unit
			c.pace[j*n+i] = p
			c.mean[j] += p / float64(n)
		}
	}
}

// rate is how many tasks of a class come in a second of a run of span; 0 where that
// is not known beforehand.
func (c *Class) rate(span time.Duration) float64 {
	if c.Arrival == Saturated || span <= 0 {
		return 0
	}
	if c.Arrival == AtTimes {
		return c.expected(span) / span.Seconds()
	}
	return float64(max(1, c.Tasks)) / c.Interval.Seconds()
}

// number is that of a task's class in lines.
func (c *classes) number(t *simTask) int32 {
	if t.class < 0 {
		return int32(len(c.known))
	}
	return t.class
}

// paceOf is how fast a host works on a task, of its speed; 1 where no rates are
// imposed.
func (c *classes) paceOf(i int32, class int32) float64 {
	if c.pace == nil {
		return 1
	}
	return c.pace[int(i)*len(c.known)+int(class)]
}

// wait puts a task, which was put in the queue, in the line of its class.
func (c *classes) wait(k int32) {
	for int(k) >= len(c.extra) {
		c.extra = append(c.extra, taskExtra{})
	}
	ts := c.w.tasks.slots
	l, x := &c.lines[c.number(&ts[k])], &c.extra[k]
	if ts[k].placed < 0 {
		x.sent = unsent
	}
	after := l.tail
	for c.w.inOrder && after != none && ts[after].id > ts[k].id {
		after = c.extra[after].prev
	}
	x.prev, x.next = after, l.head
	if after == none {
		l.head = k
	} else {
		x.next = c.extra[after].next
		c.extra[after].next = k
	}
	if x.next == none {
		l.tail = k
	} else {
		c.extra[x.next].prev = k
	}
}

// leave takes a task out of its line.
func (c *classes) leave(k int32) {
	l, x := &c.lines[c.number(&c.w.tasks.slots[k])], &c.extra[k]
	if x.prev == none {
		l.head = x.next
	} else {
		c.extra[x.prev].next = x.next
	}
	if x.next == none {
		l.tail = x.prev
	} else {
		c.extra[x.next].prev = x.prev
	}
}

// redraw draws the work of a task anew that lost all it had.
func (c *classes) redraw(t *simTask) {
	if c.redraws != nil && t.class >= 0 && t.saved == 0 {
		t.work = max(1, int64(draw(c.w.scenario.Workload.Classes[t.class].Work, c.draws[t.class], c.redraws[t.class])))
	}
}

// sent notes that a host was given a task.
func (c *classes) sent(k, i int32, h *simHost) {
	x, t := &c.extra[k], &c.w.tasks.slots[k]
	if t.early && x.sent == unsent {
		c.tallies[c.number(t)].arrived--
	}
	x.sent = c.w.now
	if h.load >= c.w.slots {
		c.idleSince[i] = busy
	}
}

// begin notes that a host begins with a task, and adds the time that it takes
// beside its own.
func (c *classes) begin(k, i int32, h *simHost, t *simTask) {
	c.extra[k].begun = c.w.now
	if c.imposed != nil && c.imposed.Overhead > 0 {
		t.endWork += float64(c.imposed.Overhead) * h.speed * c.paceOf(i, t.class)
	}
	c.watch(k, i, h, t)
}

// end counts a task that ends.
func (c *classes) end(k int32, t *simTask) {
	c.extra[k].due = 0
	if c.seen != nil && t.class >= 0 {
		m := &c.seen[int(t.host)*len(c.known)+int(t.class)]
		m.n++
		m.seconds += float64(c.w.now-c.extra[k].begun) / 1e9
	}
	if !t.early {
		x := &c.extra[k]
		c.tallies[c.number(t)].succeed(t.arrived, x.sent, x.begun, c.w.now)
	}
}

// touched notes that a host which may be given tasks is idle, or is not.
func (c *classes) touched(i int32, h *simHost) {
	switch {
	case h.load >= c.w.slots:
		c.idleSince[i] = busy
	case c.idleSince[i] == busy:
		c.idleSince[i] = c.w.now
	}
}

// changed notes that a host comes or goes: what policies go by is another. All are
// offered anew, as some that were idle may be given something now.
func (c *classes) changed(i int32) {
	c.idleSince[i] = busy
	c.version++
	c.stale, c.w.widened = true, true
}

// describe adds to what a policy is told of a host.
func (c *classes) describe(o *place.Host, i int32) {
	if at := c.idleSince[i]; at != busy {
		o.IdleFor = time.Duration(c.w.now - at)
	}
	if c.mean != nil && c.seen == nil {
		o.Speed *= c.mean[i]
	}
}

// reports are what came of each class.
func (c *classes) reports() (out []ClassReport) {
	for i := range c.known {
		out = append(out, c.tallies[i].of(c.known[i].Name))
	}
	return out
}
