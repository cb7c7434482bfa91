package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// An agenda gives events in their order, however they come, as long as none
// comes before what has happened.
func TestAgendaOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		var want []event // sorted
		last := event{}
		add := func(when int64) {
			e := event{max(0, when), uint64(len(want) % 10)}
			if e.before(last) {
				e = last
			}
			a.push(e)
			i, _ := slices.BinarySearchFunc(want, e, compareEvents)
			want = slices.Insert(want, i, e)
		}
		take := func() {
			e, ok := a.first()
			if ok != (len(want) > 0) || ok && e != want[0] {
				t.Fatalf("first is %v, %v of %d events, want %v", e, ok, len(want), want[:min(1, len(want))])
			}
			if ok {
				a.take()
				last, want = want[0], want[1:]
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			width := int64(1) << rapid.IntRange(0, 62).Draw(t, "width")
			base := last.when
			if rapid.Bool().Draw(t, "late") {
				base = min(1<<62, base+width)
			}
			for k := range rapid.IntRange(0, 3*nearMost).Draw(t, "pushes") {
				add(base + int64(uint64(k)*0x9E3779B97F4A7C15>>1)%width)
				if k%5 == 4 {
					take()
				}
			}
			for range rapid.IntRange(0, 2*nearMost).Draw(t, "takes") {
				take()
			}
		}
		for len(want) > 0 {
			take()
		}
		take()
	})
}

func compareEvents(a, b event) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}
