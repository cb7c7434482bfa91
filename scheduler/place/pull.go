package place

import (
	"cmp"
	"math/bits"
	"slices"
)

// A pulling is a round in which idle members ask for tasks, one after the other, and
// each is given the head of a class: who has been idle longest asks first (Kokaly
// 2008, section 8.1.2). One that may run nothing that waits is passed by, and keeps
// its place. A policy keeps one for its memory.
type pulling struct {
	rates Rates // nil: each task tells, see guess
	heads heads
	hosts []Host
	open  []*Host // that may still be given a task, in their turn
	out   []Placement
}

// A rule says what a member that asks may be given.
type rule struct {
	// may are the classes that it may be given, a bit for each of the first 64 of
	// Rates.Classes; of others it may all. nil: all.
	may func(h *Host) uint64
	// fastest has the pair of a class and any idle member go first that scores
	// most, instead of who asks first.
	fastest bool
	words   func(*Reason) string
}

// run gives tasks until nobody that is idle may be given one that waits.
func (p *pulling) run(queue Queue, hosts []Host, by *rule) []Placement {
	p.begin(queue, hosts)
	for len(p.open) > 0 && p.heads.waiting > 0 {
		if by.fastest {
			p.giveFastest(by)
		} else {
			p.giveEach(by)
		}
	}
	return p.out
}

// begin takes a copy of the idle hosts, in the order in which they ask.
func (p *pulling) begin(queue Queue, hosts []Host) {
	p.hosts, p.open, p.out = p.hosts[:0], p.open[:0], p.out[:0]
	slots, memory := 0, int64(0)
	for i := range hosts {
		if h := &hosts[i]; h.Free > 0 && h.Idle() > 0 {
			p.hosts = append(p.hosts, *h)
			slots += min(h.Free, h.Idle())
			memory = max(memory, min(h.Memory, h.MemoryFree))
		}
	}
	for i := range p.hosts {
		p.open = append(p.open, &p.hosts[i])
	}
	if len(p.open) > 1 {
		slices.SortFunc(p.open, idleLonger)
	}
	var classes []Class
	if p.rates != nil {
		classes = p.rates.Classes()
	}
	p.heads.begin(queue, slots, memory, classes)
}

// idleLonger orders hosts by how long they have been idle.
func idleLonger(a, b *Host) int {
	if c := cmp.Compare(b.IdleFor, a.IdleFor); c != 0 {
		return c
	}
	return cmp.Compare(a.Peer, b.Peer)
}

// giveEach gives each host one task, and leaves out those that may be given none:
// what waits becomes only less.
func (p *pulling) giveEach(by *rule) {
	still := p.open[:0]
	for _, h := range p.open {
		c := p.choose(h, by)
		if c.line < 0 {
			continue
		}
		p.give(h, c, by)
		if h.Free > 0 && h.Idle() > 0 {
			still = append(still, h)
		}
	}
	p.open = still
}

// giveFastest gives one task, to the host that scores most.
func (p *pulling) giveFastest(by *rule) {
	best, at := chosen{line: -1}, -1
	still := p.open[:0]
	for _, h := range p.open {
		c := p.choose(h, by)
		if c.line < 0 {
			continue
		}
		if still = append(still, h); at < 0 || c.beats(&best) {
			best, at = c, len(still)-1
		}
	}
	if p.open = still; at < 0 {
		return
	}
	h := p.open[at]
	p.give(h, best, by)
	if h.Free <= 0 || h.Idle() == 0 {
		p.open = slices.Delete(p.open, at, at+1)
	}
}

// A chosen is the class that a host should be given a task of.
type chosen struct {
	line, at  int // of heads; line is -1 for none
	rate, age float64
	of        int // classes that it was chosen from
}

// beats compares by age times rate, and where that is 0, as when all have just
// come, by the rate.
func (c *chosen) beats(o *chosen) bool {
	if s, t := c.age*c.rate, o.age*o.rate; s != t {
		return s > t
	}
	return c.rate > o.rate
}

// choose is argmax over the classes of D_i(t) mu_ij, of equal ones the first: the
// rule of Gc-mu (Kokaly 2008, section 3.1), which LPAS_DG applies to fewer classes.
// That a_j is common to all classes makes mu as good as the effective rate.
func (p *pulling) choose(h *Host, by *rule) chosen {
	best := chosen{line: -1}
	may := ^uint64(0)
	if by.may != nil {
		may = by.may(h)
	}
	most := 0.0
	for i := range p.heads.lines {
		if i < p.heads.known && i < bits.UintSize && may>>i&1 == 0 {
			continue
		}
		k := p.heads.first(i, h)
		if k < 0 {
			continue
		}
		t := &p.heads.lines[i].tasks[k]
		rate := p.rate(i, t, h)
		if !(rate > 0) {
			continue
		}
		d := max(0, t.Age.Seconds())
		best.of++
		if best.line < 0 || d*rate > most {
			best.line, best.at, best.rate, best.age = i, k, rate, d
			most = d * rate
		}
	}
	return best
}

// rate is that of a line's class at a host.
func (p *pulling) rate(line int, t *Task, h *Host) float64 {
	if p.rates == nil {
		return guess(t, h)
	}
	return p.rates.Of(p.heads.lines[line].class, h.Peer)
}

func (p *pulling) give(h *Host, c chosen, by *rule) {
	t := p.heads.take(c.line, c.at)
	reason := Reason{words: by.words, x: c.age, y: c.rate, n: int64(c.of), m: int64(len(p.open))}
	p.out = append(p.out, Placement{t.ID, h.Peer, reason})
	h.Take(&t)
}
