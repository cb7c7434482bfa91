package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Copier says which of the last tasks are run a second time, and where: nothing
// waits, members are idle, and the whole ends with the last of what runs. Whoever runs
// it starts the copies from the last checkpoints that any member can get, takes the
// first result, and ends the other run. It is asked each few seconds while nothing waits.
type Copier interface {
	// Copies names copies as moves: what is run again, where it runs now, and to where.
	// What it returns holds until its next call. It keeps neither hosts nor their tasks.
	Copies(now time.Time, hosts []Host, f Forecast, s Situation) []Move
}

// copiers makes each rule of copies, by name.
var copiers = map[string]func() Copier{
	"slow": func() Copier { return &Slow{} },
}

// CopierOf returns the rule of copies of a name: "slow" of Slow, nil of "" and "none".
func CopierOf(name string) (Copier, error) {
	if name == "" || name == "none" {
		return nil, nil
	}
	if known, ok := copiers[name]; ok {
		return known(), nil
	}
	names := []string{"none"}
	for n := range copiers {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("there is no rule of copies %q: there are %s", name, strings.Join(names, ", "))
}

const (
	// copyGain is how many times as long a task must be expected to take where it runs
	// as its copy: with twice, it ends, expected, before the two members together have
	// spent more than the one would have (Mantri's rule: Ananthanarayanan et al.,
	// "Reining in the outliers in Map-Reduce clusters using Mantri", OSDI 2010, section
	// 5.1).
	copyGain = 2
	// copyLeast is the least gain for which a copy is made: two reports, before which
	// nobody knows what came of it.
	copyLeast = 4 * time.Second
	// mostCompared bounds the last tasks, and the idle members, that are compared at one
	// look: all pairs of them.
	mostCompared = 16
)

// Slow copies a task that is expected to take twice as long where it runs as a copy
// would. It is what rivals are given in comparisons, and what coordinators did before
// they had Tail.
type Slow struct {
	last []lastRun
	idle []int32
	out  []Move
}

// A lastRun is one of the last tasks where it runs.
type lastRun struct {
	host, run int32
	end       float64 // when it is expected to end, in nanoseconds from now
	stay      float64 // probability that its host stays till its end
}

// Copies implements Copier.
func (c *Slow) Copies(now time.Time, hosts []Host, f Forecast, s Situation) []Move {
	c.last, c.idle, c.out = c.last[:0], c.idle[:0], c.out[:0]
	if s.Waiting > 0 || s.Endless {
		return nil
	}
	for i := range hosts {
		h := &hosts[i]
		if h.Idle > 0 && !h.Leaving {
			c.idle = append(c.idle, int32(i))
		}
		for k := range h.Runs {
			if r := &h.Runs[k]; r.Left > 0 && !r.Copied && !h.Leaving {
				end, stay := withoutHelp(now, h, r.Left, r.Unsaved, f)
				c.last = append(c.last, lastRun{int32(i), int32(k), end, stay})
			}
		}
	}
	if len(c.idle) == 0 || len(c.last) == 0 {
		return nil
	}
	slices.SortFunc(c.last, func(a, b lastRun) int {
		return cmp.Or(-cmp.Compare(a.end, b.end), cmp.Compare(a.host, b.host), cmp.Compare(a.run, b.run))
	})
	slices.SortStableFunc(c.idle, func(a, b int32) int { return -cmp.Compare(speedOf(&hosts[a]), speedOf(&hosts[b])) })
	idle := c.idle[:min(len(c.idle), mostCompared)]
	for _, l := range c.last[:min(len(c.last), mostCompared)] {
		from := &hosts[l.host]
		r := &from.Runs[l.run]
		best, by, stays := -1, 0.0, 0.0
		for n, i := range idle {
			if i < 0 {
				continue
			}
			end, stay := withoutHelp(now, &hosts[i], r.Left+r.Unsaved, 0, f)
			if best < 0 || end < by {
				best, by, stays = n, end, stay
			}
		}
		if best < 0 {
			break
		}
		if l.end-by < float64(copyLeast) || l.end < copyGain*by {
			continue
		}
		c.out = append(c.out, Move{Task: from.Tasks[l.run], From: from.Peer, To: hosts[idle[best]].Peer,
			words: slowWords, ends: [2]float64{by, l.end}, stays: [2]float64{stays, l.stay}})
		idle[best] = -1
	}
	return c.out
}

func slowWords(m *Move) string {
	return fmt.Sprintf("nothing else waits, and a copy is expected to end in %v, the first run in %v",
		time.Duration(m.ends[0]).Round(time.Second), time.Duration(m.ends[1]).Round(time.Second))
}

// withoutHelp is when a task with so much left is expected to end on a host, in
// nanoseconds, if all that is not saved, and half of the rest, is done again where the
// host goes first; and the probability that it does not.
func withoutHelp(now time.Time, h *Host, left, unsaved time.Duration, f Forecast) (end, stay float64) {
	length := float64(left) / speedOf(h)
	stay, _ = f.Stay(h.Peer, now, time.Duration(length))
	return length + (1-stay)*(float64(unsaved)+float64(left)/2)/speedOf(h), stay
}
