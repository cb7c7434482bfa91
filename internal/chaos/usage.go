package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A span is a time of a node's.
type span struct {
	node     int
	from, to time.Time
}

// length is how long it lasts.
func (s span) length() time.Duration { return s.to.Sub(s.from) }

// A disposal is when nodes were to be had for tasks, and there were tasks for all of
// them: they were up, nobody was there, and no fewer results were missing than nodes.
type disposal struct {
	spans []span
	open  map[int]time.Time
}

// note takes in which nodes are to be had now.
func (d *disposal) note(now time.Time, nodes []int) {
	if d.open == nil {
		d.open = map[int]time.Time{}
	}
	for _, n := range nodes {
		if _, ok := d.open[n]; !ok {
			d.open[n] = now
		}
	}
	for _, n := range slices.Sorted(maps.Keys(d.open)) {
		if !slices.Contains(nodes, n) {
			d.spans = append(d.spans, span{n, d.open[n], now})
			delete(d.open, n)
		}
	}
}

// Until returns them all.
func (d *disposal) Until(now time.Time) []span {
	d.note(now, nil)
	return d.spans
}

// standsFor is how long a guest may not advance before it counts as one that stands
// still: one of the lowest priority waits that long for a core of a busy machine.
const standsFor = 300 * time.Millisecond

// Spans returns when guests were there and when they ran, of all nodes.
func (o *odometer) Spans() (there, ran []span) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.trips {
		there = append(there, span{t.node, t.marks[0].at, t.seen})
		s, ok := t.stint(o.rate)
		if !ok {
			continue
		}
		last := s.began
		for _, m := range t.marks {
			if m.at.After(last) && m.at.Sub(last) <= standsFor {
				if n := len(ran); n > 0 && ran[n-1].node == t.node && ran[n-1].to.Equal(last) {
					ran[n-1].to = m.at
				} else {
					ran = append(ran, span{t.node, last, m.at})
				}
			}
			if m.at.After(last) {
				last = m.at
			}
		}
	}
	return there, ran
}

// without returns what is left of spans when others are taken away, by node and time.
func without(spans, taken []span) (left []span) {
	taken = slices.SortedFunc(slices.Values(taken), func(a, b span) int { return a.from.Compare(b.from) })
	for _, s := range spans {
		for _, t := range taken {
			if t.node != s.node || !t.to.After(s.from) || !t.from.Before(s.to) {
				continue
			}
			if t.from.After(s.from) {
				left = append(left, span{s.node, s.from, t.from})
			}
			if s.from = t.to; !s.from.Before(s.to) {
				break
			}
		}
		if s.from.Before(s.to) {
			left = append(left, s)
		}
	}
	return left
}

func total(spans []span) (sum time.Duration) {
	for _, s := range spans {
		sum += s.length()
	}
	return sum
}

// longestShown is how many of the longest times are told in which a node had nothing.
const longestShown = 5

// used adds how much of the time of nodes to be had was used.
func (r *report) used(had, there, ran []span) {
	all := total(had)
	if all <= 0 {
		return
	}
	idle, empty := without(had, ran), without(had, there)
	share := func(d time.Duration) float64 { return 100 * float64(d) / float64(all) }
	r.show("of the time of nodes that were to be had: a guest ran", "", "%.0f %% of %.1f s", share(all-total(idle)),
		all.Seconds())
	r.show("  one was there and stood still; none was there", "", "%.0f %%; %.0f %%", share(total(idle)-total(empty)),
		share(total(empty)))
	slices.SortStableFunc(empty, func(a, b span) int { return cmp.Compare(b.length(), a.length()) })
	var b strings.Builder
	for _, s := range empty[:min(longestShown, len(empty))] {
		fmt.Fprintf(&b, " n%d %s for %.1f s;", s.node, s.from.UTC().Format("15:04:05.0"), s.length().Seconds())
	}
	r.show("  the longest times with none", "", "%s", b.String())
}
