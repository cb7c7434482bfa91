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

// mostCompared bounds the last tasks, and the idle members, that are compared at one
// look: all pairs of them.
const mostCompared = 16

// Slow copies a task that is expected to take twice as long where it runs as a copy
// would: the rule by which coordinators copy tasks that cannot move.
type Slow struct {
	last []lastRun
	idle []int32
	out  []Move
}

// A lastRun is one of the last tasks where it runs.
type lastRun struct {
	host, run int32
	end       time.Duration // from now on, as far as is expected
	stay      float64       // probability that its host stays for what it has left
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
		best, by, stays := -1, time.Duration(0), 0.0
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
		if !CopyPays(l.end, by) {
			continue
		}
		c.out = append(c.out, Move{Task: from.Tasks[l.run], From: from.Peer, To: hosts[idle[best]].Peer,
			words: slowWords, ends: [2]float64{float64(by), float64(l.end)}, stays: [2]float64{stays, l.stay}})
		idle[best] = -1
	}
	return c.out
}

func slowWords(m *Move) string {
	return fmt.Sprintf("nothing else waits, and a copy is expected to end in %v, the first run in %v",
		time.Duration(m.ends[0]).Round(time.Second), time.Duration(m.ends[1]).Round(time.Second))
}

// withoutHelp is how long a run is expected to take on a host (Alone), and the probability that the
// host stays for what the run has left.
func withoutHelp(now time.Time, h *Host, left, unsaved time.Duration, f Forecast) (end time.Duration, stay float64) {
	end = Alone(left, unsaved, speedOf(h), func(d time.Duration) float64 {
		stay, _ = f.Stay(h.Peer, now, d)
		return stay
	})
	return end, stay
}
