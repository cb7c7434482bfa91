package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// An odometer keeps how far each guest was when: what internal/chaos/tide shows of
// itself in its memory, read from outside. So it owes nothing to what the nodes
// say of their moves. Time is an argument. It is safe for concurrent use.
type odometer struct {
	rate float64 // rounds that a guest runs in a second of a core that it has alone

	mu    sync.Mutex
	trips []*trip
	open  map[int]*trip // by process: the one it is on
}

// A trip is what one process showed of one task.
type trip struct {
	node, process int
	task          uint64
	seen          time.Time // when it was last looked at
	marks         []milestone
}

// A milestone is when a number of rounds was seen for the first time; before is
// when the process had been looked at last.
type milestone struct {
	at, before time.Time
	rounds     uint64
}

// A stint is a trip on which rounds were run: from is the rounds that it had when it
// was first seen to run, to those that it had in the end. What it ran before that look
// is not told from what was loaded. In between it may have stood still.
type stint struct {
	node         int
	task         uint64
	from, to     uint64
	began, ended time.Time // when it was seen to advance for the first and the last time
	seen         time.Time // when it was last there
}

func newOdometer(rate float64) *odometer { return &odometer{rate: rate, open: map[int]*trip{}} }

// saw takes in that a node's process shows so many rounds of a task.
func (o *odometer) saw(at time.Time, node, process int, task, rounds uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.open[process]
	if t == nil || t.task != task || rounds < t.last().rounds {
		t = &trip{node: node, process: process, task: task, marks: []milestone{{at, at, rounds}}}
		o.trips, o.open[process] = append(o.trips, t), t
	}
	if rounds != t.last().rounds {
		t.marks = append(t.marks, milestone{at, t.seen, rounds})
	}
	t.seen = at
}

// gone says that a process shows nothing any more.
func (o *odometer) gone(process int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, process)
}

func (t *trip) last() milestone { return t.marks[len(t.marks)-1] }

const (
	// fasterAtMost is how much faster than an undisturbed core a guest may seem to
	// run between two looks, and slackRounds how many more rounds: what is beyond was
	// loaded into its memory, not run.
	fasterAtMost = 4
	slackRounds  = 20
)

// stint returns what was run on a trip, if anything was. Memory that is loaded
// before its guest runs shows what another ran: that comes in leaps. A leap seen by a
// late look may pass for an advance, so a guest runs from the first of two advances
// in a row; one that ends between two looks after its first was not seen to run.
func (t *trip) stint(rate float64) (stint, bool) {
	for i := 1; i+1 < len(t.marks); i++ {
		if m := t.marks[i]; t.advanced(i, rate) && t.advanced(i+1, rate) {
			return stint{node: t.node, task: t.task, from: m.rounds, to: t.last().rounds, began: m.at, ended: t.last().at,
				seen: t.seen}, true
		}
	}
	return stint{}, false
}

// advanced says whether a guest can have run the rounds between a milestone, which
// is not the first, and the one before it in the time between the looks.
func (t *trip) advanced(i int, rate float64) bool {
	m := t.marks[i]
	return float64(m.rounds-t.marks[i-1].rounds) <= slackRounds+fasterAtMost*rate*m.at.Sub(m.before).Seconds()
}

// Stints returns what was run of each task so far, in the order in which it began.
func (o *odometer) Stints() map[uint64][]stint {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := map[uint64][]stint{}
	for _, t := range o.trips {
		if s, ok := t.stint(o.rate); ok {
			out[t.task] = append(out[t.task], s)
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b stint) int { return a.began.Compare(b.began) })
	}
	return out
}

// Of returns the stints of one task.
func (o *odometer) Of(task uint64) []stint { return o.Stints()[task] }

// Stillest returns the longest time between two advances of a task at one node,
// between two moments: for its checkpoints, or since the machine had other work.
func (o *odometer) Stillest(task uint64, node int, from, to time.Time) (longest time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.trips {
		if t.task != task || t.node != node {
			continue
		}
		for i := 1; i < len(t.marks); i++ {
			a, b := t.marks[i-1].at, t.marks[i].at
			if !a.Before(from) && !b.After(to) {
				longest = max(longest, b.Sub(a))
			}
		}
	}
	return longest
}

// A strike is when a node was killed.
type strike struct {
	node int
	at   time.Time
}

// lookLate is how long after its death a process may be taken for alive.
const lookLate = 500 * time.Millisecond

// struck says whether a stint ended in a kill of its node.
func (s stint) struck(strikes []strike) bool {
	return slices.ContainsFunc(strikes, func(k strike) bool {
		return k.node == s.node && !k.at.Before(s.began) && !k.at.After(s.seen.Add(lookLate))
	})
}

// killed says whether the i-th of a task's stints ended in a kill of its node: while
// it was there, or before the next began, while its state waited to be fetched.
func killed(stints []stint, i int, strikes []strike) bool {
	s := stints[i]
	return s.struck(strikes) || i+1 < len(stints) && slices.ContainsFunc(strikes, func(k strike) bool {
		return k.node == s.node && k.at.After(s.ended) && k.at.Before(stints[i+1].began)
	})
}

// again returns how many rounds of a task were run more than once, in the order of
// its stints: before and after kills, and otherwise. A stint repeats what it runs
// of what was run before it.
func again(stints []stint, strikes []strike) (struck, other uint64) {
	var done uint64
	hit := false // a stint before ended in a kill and what it lost is not made up for
	for i, s := range stints {
		if lost := min(done, s.to); lost > s.from {
			if hit {
				struck += lost - s.from
			} else {
				other += lost - s.from
			}
		}
		hit = killed(stints, i, strikes) || hit && s.to < done
		done = max(done, s.to)
	}
	return struck, other
}

// fewRounds is the share of a task's rounds below which a stint that begins there
// began from nothing, unless it goes on from just there.
const fewRounds = .01

// unexplained returns how often a task ran from scratch beyond the first time and
// the kills that it met.
func unexplained(stints []stint, rounds uint64, strikes []strike) (scratch, excess int) {
	var done uint64
	kills := 0
	for i, s := range stints {
		if float64(s.from) < fewRounds*float64(rounds) && s.from < done {
			scratch++
		}
		if killed(stints, i, strikes) {
			kills++
		}
		done = max(done, s.to)
	}
	return scratch, max(0, scratch-kills)
}

// story writes a task's stints: the node, from which share to which, and when.
func story(stints []stint, rounds uint64, strikes []strike) string {
	var b strings.Builder
	share := func(n uint64) float64 { return 100 * float64(n) / float64(rounds) }
	for i, s := range stints {
		fmt.Fprintf(&b, " n%d %.1f-%.1f%% %s", s.node, share(s.from), share(s.to), s.ended.UTC().Format("15:04:05"))
		if killed(stints, i, strikes) {
			b.WriteString(" killed")
		}
		b.WriteByte(';')
	}
	return b.String()
}

// A passage is what lies between two stints of a task.
type passage struct {
	task     uint64
	from, to int           // nodes
	still    time.Duration // from the last advance on the one to the first on the other
	repeated uint64        // rounds that the first had run beyond those that the second began with
	struck   bool          // the first ended in a kill
	left     time.Time     // when the first advanced last
	gone     time.Time     // when it was there last: its process ended then, or went to another task
}

// passages returns those of a task, in order. Of stints at the same time, one is
// not the continuation of the other: they have none between them.
func passages(stints []stint, strikes []strike) (out []passage) {
	for i := 1; i < len(stints); i++ {
		a, b := stints[i-1], stints[i]
		if b.began.Before(a.ended) {
			continue
		}
		p := passage{task: a.task, from: a.node, to: b.node, still: b.began.Sub(a.ended), struck: a.struck(strikes),
			left: a.ended, gone: a.seen}
		if a.to > b.from {
			p.repeated = a.to - b.from
		}
		out = append(out, p)
	}
	return out
}

// allPassages returns those of all tasks, by task.
func allPassages(stints map[uint64][]stint, strikes []strike) (out []passage) {
	for _, task := range slices.SortedFunc(maps.Keys(stints), cmp.Compare) {
		out = append(out, passages(stints[task], strikes)...)
	}
	return out
}
