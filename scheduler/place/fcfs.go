package place

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/internal/spec"
	"godwit/task"
)

func init() {
	Register("fcfs", Kind{
		Params: "order ahead patience",
		Does: "tasks in order to the fastest idle member, or (order=turn, as published) to the next in turn, or " +
			"(order=idle) to the one idle longest, or (order=worst) to the one with the most idle slots (Worst Fit)",
		Make: func(ps *spec.Params) Policy {
			ahead := ps.Choice("ahead", "no", "yes") == 1
			order, wait := ps.Choice("order", "fastest", "turn", "idle", "worst"), patience(ps)
			if order != 2 && wait > 0 {
				ps.Fail(errors.New("patience goes with order=idle"))
			}
			switch order {
			case 1:
				return &Turn{Ahead: ahead}
			case 2:
				return &Idle{patience: wait}
			}
			return &FCFS{WorstFit: order == 3}
		},
	})
}

// FCFS gives the next task in order to the fastest member that is idle; among
// equals to the one with the fewest tasks, so that work spreads evenly. Only
// when nobody is idle do members get tasks ahead, to start without a round
// trip. It looks at no forecast.
type FCFS struct {
	// WorstFit gives each task to the idle member with the most idle slots, and among equals to the fastest. KOALA has
	// this policy for clusters (Grundeken 2009, section 2.2.3). Members then have about equally many idle slots.
	WorstFit bool

	hosts  []Host // by name
	ranked ranked // those with room, but for aside
	aside  []rank // that the present shape does not fit
	shape  shape
	out    []Placement
	task   Task
}

// maxMisses is how many tasks in a row may fit no host before a round gives
// up. Such tasks wait for a distinct worker; more of them than this are not
// worth looking at each time a slot falls free.
const maxMisses = 64

// Traits implements Policy.
func (p *FCFS) Traits() Traits {
	if p.WorstFit {
		return Traits{}
	}
	return Traits{Rank: p.rank, Alike: true}
}

// Place implements Policy.
func (p *FCFS) Place(_ time.Time, queue Queue, hosts []Host, _ Forecast, _ *rand.Rand) []Placement {
	if len(hosts) == 1 {
		return p.sole(queue, hosts[0])
	}
	p.begin(hosts)
	for misses := 0; len(p.ranked)+len(p.aside) > 0 && misses < maxMisses; {
		var ok bool
		if p.task, ok = queue.Next(); !ok {
			break
		}
		t := &p.task
		k := p.first(t)
		if k < 0 {
			misses++
			if !p.anyHolds(t) {
				queue.SkipJob()
			}
			continue
		}
		misses = 0
		h := &p.hosts[p.ranked[k].at]
		p.out = append(p.out, Placement{t.ID, h.Peer, p.reason(h)})
		h.Take(t)
		p.ranked.changed(k, h, p.WorstFit)
	}
	return p.out
}

// sole is a round of one host, which mostly has just ended a task: there is nobody to
// compare it with.
func (p *FCFS) sole(queue Queue, h Host) []Placement {
	p.out = p.out[:0]
	for misses := 0; h.Free > 0 && misses < maxMisses; {
		t, ok := queue.Next()
		if !ok {
			break
		}
		if !h.Fits(&t) {
			if misses++; !h.holds(&t) {
				queue.SkipJob()
			}
			continue
		}
		misses = 0
		p.out = append(p.out, Placement{t.ID, h.Peer, p.reason(&h)})
		h.Take(&t)
	}
	return p.out
}

// begin takes a copy of the hosts.
func (p *FCFS) begin(hosts []Host) {
	p.hosts, p.out = append(p.hosts[:0], hosts...), p.out[:0]
	sortByName(p.hosts)
	p.ranked, p.aside, p.shape = p.ranked[:0], p.aside[:0], shape{}
	for i := range p.hosts {
		p.ranked = append(p.ranked, rankOf(&p.hosts[i], i, p.WorstFit))
	}
	p.ranked.init()
}

// first is the place in ranked of the first host in order that may run the task,
// or -1. Where tasks of one shape follow each other, hosts that do not fit it are
// put aside, so that all of them together look at each once.
func (p *FCFS) first(t *Task) int {
	again := p.shape.same(t)
	if !again {
		for _, r := range p.aside {
			p.ranked.push(r)
		}
		p.aside = p.aside[:0]
		p.shape = shape{is: true, memory: t.Memory, avoid: t.Avoid}
	}
	for again && len(p.ranked) > 0 && !p.hosts[p.ranked[0].at].Fits(t) {
		p.aside = append(p.aside, p.ranked[0])
		p.ranked.remove(0)
	}
	best := -1
	for k := range p.ranked {
		if p.hosts[p.ranked[k].at].Fits(t) && (best < 0 || p.ranked[k].before(&p.ranked[best])) {
			if best = k; k == 0 {
				break
			}
		}
	}
	return best
}

// anyHolds says whether a host with room has memory for the task, whoever must
// not run it.
func (p *FCFS) anyHolds(t *Task) bool {
	holds := func(r rank) bool { return p.hosts[r.at].holds(t) }
	return slices.ContainsFunc(p.ranked, holds) || slices.ContainsFunc(p.aside, holds)
}

// A shape is what decides whether a host fits a task. In a round a host that does
// not fit a shape does not come to fit it.
type shape struct {
	is     bool
	memory int64
	avoid  []task.PeerID
}

func (s *shape) same(t *Task) bool {
	return s.is && s.memory == t.Memory && len(s.avoid) == len(t.Avoid) &&
		(len(s.avoid) == 0 || &s.avoid[0] == &t.Avoid[0] || slices.Equal(s.avoid, t.Avoid))
}

// better orders hosts: idle ones first, then the faster, then those with fewer
// tasks, then by name.
func better(a, b *Host) int {
	if c := -cmp.Compare(min(a.Idle(), 1), min(b.Idle(), 1)); c != 0 {
		return c
	}
	if c := -cmp.Compare(a.Speed, b.Speed); c != 0 {
		return c
	}
	if c := cmp.Compare(a.Running, b.Running); c != 0 {
		return c
	}
	return cmp.Compare(a.Peer, b.Peer)
}

// sortByName sorts hosts by name. Mostly they are.
func sortByName(hosts []Host) {
	for i := 1; i < len(hosts); i++ {
		if hosts[i-1].Peer > hosts[i].Peer {
			slices.SortFunc(hosts, func(a, b Host) int { return cmp.Compare(a.Peer, b.Peer) })
			return
		}
	}
}

func (p *FCFS) reason(h *Host) Reason {
	switch {
	case h.Idle() == 0:
		return Because("next in order; nobody is idle, so it waits here for a slot")
	case p.WorstFit:
		return Reason{words: worstFitWords, n: int64(h.startable()), m: int64(h.Slots)}
	}
	return Reason{words: idleWords, x: h.Speed, n: int64(h.Running), m: int64(h.Slots)}
}

func worstFitWords(r *Reason) string {
	return fmt.Sprintf("next in order; the member with the most idle slots (%d of %d)", r.n, r.m)
}

func idleWords(r *Reason) string {
	const found = "next in order; the fastest idle member with the fewest tasks (speed "
	if r.x > 0 {
		return fmt.Sprintf(found+"%.3g, %d of %d slots in use)", r.x, r.n, r.m)
	}
	return fmt.Sprintf(found+"unknown, %d of %d slots in use)", r.n, r.m)
}
