package sim

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawLaw draws any law, of its usual parameters.
func drawLaw(t *rapid.T, what string) Law { return Law(rapid.SampledFrom(LawNames()).Draw(t, what)) }

// drawClass draws a class that is valid in a run of span.
func drawClass(t *rapid.T, span time.Duration) Class {
	c := Class{
		Arrival: Arrival(rapid.IntRange(0, int(Renewal)).Draw(t, "arrival")),
		Tasks:   rapid.IntRange(0, 3).Draw(t, "tasks"),
		Work:    time.Duration(rapid.Int64Range(1, int64(longest)).Draw(t, "work")),
		WorkLaw: drawLaw(t, "law"),
		Memory:  rapid.Int64Range(0, maxBytes).Draw(t, "memory"),
		State:   rapid.Int64Range(0, maxBytes).Draw(t, "state"),
	}
	switch c.Arrival {
	case AtTimes:
		at := time.Duration(0)
		for _, d := range rapid.SliceOfN(rapid.Int64Range(0, int64(span/4)), 1, 10).Draw(t, "times") {
			at += time.Duration(d)
			c.Times = append(c.Times, at)
		}
		return c
	case Every, Poisson, Renewal:
		c.Interval = time.Duration(rapid.Int64Range(int64(span/100)+1, int64(2*span)).Draw(t, "interval"))
	}
	if c.Arrival == Renewal {
		c.Gaps = drawLaw(t, "gaps")
	}
	c.From = time.Duration(rapid.Int64Range(0, int64(span)).Draw(t, "from"))
	if rapid.Bool().Draw(t, "ends") {
		c.To = c.From + time.Duration(rapid.Int64Range(1, int64(span)).Draw(t, "to"))
	}
	return c
}

// Arrivals are in order, within the bounds of their classes and of the run, as
// many as there should be, and a class's do not depend on the others.
func TestArrivalsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := time.Duration(rapid.Int64Range(1000, int64(1000*time.Hour)).Draw(t, "span"))
		w := &Workload{}
		for range rapid.IntRange(1, 5).Draw(t, "classes") {
			w.Classes = append(w.Classes, drawClass(t, span))
		}
		var p problems
		if w.check(&p, span); len(p) > 0 {
			t.Fatalf("not valid: %v", p)
		}
		seed := rapid.Uint64().Draw(t, "seed")
		src := newSource(w, span, seed)
		count := make([]int, len(w.Classes))
		var last arrival
		for n := 0; ; n++ {
			a, ok := src.next()
			if !ok {
				break
			}
			c := &w.Classes[a.class]
			until := span
			if c.To > 0 && c.To < span {
				until = c.To
			}
			switch {
			case n > 0 && (a.at < last.at || a.at == last.at && a.class < last.class):
				t.Fatalf("%+v comes after %+v", a, last)
			case a.at >= until || a.at < c.From || a.work <= 0 || c.Arrival == Saturated:
				t.Fatalf("%+v of %+v in a run of %v", a, *c, span)
			}
			count[a.class]++
			last = a
			if n%7 == 0 { // what fills up does not disturb what comes
				src.refill(a.at)
			}
		}
		for i, c := range w.Classes {
			if want, sure := exactly(&c, span); sure && count[i] != want {
				t.Fatalf("%d tasks of %+v in a run of %v, want %d", count[i], c, span, want)
			}
		}
	})
}

// exactly is how many tasks a class gives, where that is sure.
func exactly(c *Class, span time.Duration) (n int, sure bool) {
	switch c.Arrival {
	case Poisson, Renewal:
		return 0, false
	case AtTimes:
		for _, at := range c.Times {
			if at < span {
				n++
			}
		}
	case Every:
		until := span
		if c.To > 0 {
			until = min(until, c.To)
		}
		for at := c.From; at < until; at += c.Interval {
			n++
		}
	}
	return n * max(1, c.Tasks), true
}
