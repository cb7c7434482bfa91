package sandbox

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"godwit/task"
)

// A drawn way of a task: the fuel at each of its polls, and at its end.
type drawnWay struct {
	spacing, end uint64
	polls        []uint64
}

func drawWay(t *rapid.T) drawnWay {
	w := drawnWay{spacing: rapid.Uint64Range(1, 1000).Draw(t, "spacing")}
	far := rapid.SampledFrom([]uint64{1, 10, 100, 5000}).Draw(t, "far")
	for range rapid.IntRange(0, 2000).Draw(t, "polls") {
		w.end += 1 + rapid.Uint64Range(0, far).Draw(t, "step")
		w.polls = append(w.polls, w.end)
	}
	w.end += rapid.Uint64Range(0, far).Draw(t, "rest")
	return w
}

// naive is the trail by its definition: for each multiple of the spacing the first poll at or after it.
func (w drawnWay) naive(from, to uint64) []task.Boundary {
	spacing := w.spacing
	for to/spacing > task.MaxBoundaries {
		spacing *= 2
	}
	var out []task.Boundary
	for at := spacing; at <= to; at += spacing {
		k, _ := slices.BinarySearch(w.polls, at)
		if k < len(w.polls) && w.polls[k] > from && w.polls[k] <= to {
			out = append(out, task.Boundary{Fuel: w.polls[k]})
		}
	}
	return slices.Compact(out)
}

// walk is a run from one fuel to another: what the child notes, and the parent keeps.
func (w drawnWay) walk(t *rapid.T, from, to uint64, ended bool) []task.Boundary {
	known, noted := trail{spacing: w.spacing, base: from}, from
	every := spacingAfter(w.spacing, from)
	next := (from/every + 1) * every
	for _, fuel := range w.polls {
		if fuel <= from || fuel > to || fuel < next {
			continue
		}
		before := noted
		noted, every = fuel, spacingAfter(w.spacing, fuel)
		next = (fuel/every + 1) * every
		if !task.Crosses(before, fuel, task.SpacingAt(w.spacing, fuel)) {
			continue
		}
		if err := known.add(task.Boundary{Fuel: fuel}, 0); err != nil {
			t.Fatal(err)
		}
		if len(known.kept) > task.MaxBoundaries {
			t.Fatalf("%d boundaries are kept at fuel %d", len(known.kept), fuel)
		}
	}
	rep := Report{Fuel: to}
	if err := known.finish(&rep, ended); err != nil {
		t.Fatal(err)
	}
	return rep.Trail
}

// TestTrailIsItsDefinition: what is kept depends on the fuel that was used alone, a run that goes on has the end of it,
// and parts make the whole.
func TestTrailIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWay(t)
		want := w.naive(0, w.end)
		if w.end/w.spacing < task.MinIntervals {
			want = nil // it is short
		}
		if got := w.walk(t, 0, w.end, true); !slices.Equal(got, want) || len(got) > task.MaxBoundaries {
			t.Fatalf("spacing %d, fuel %d: got %v, want %v", w.spacing, w.end, got, want)
		}
		from := uint64(0)
		var parts []task.Boundary
		for len(w.polls) > 0 && rapid.Bool().Draw(t, "moves") {
			to := rapid.SampledFrom(w.polls).Draw(t, "to")
			if to <= from {
				break
			}
			part := w.walk(t, from, to, false)
			if tail := w.naive(from, to); !slices.Equal(part, tail) {
				t.Fatalf("spacing %d, from %d to %d: got %v, want %v", w.spacing, from, to, part, tail)
			}
			parts, from = append(parts, part...), to
		}
		parts = append(parts, w.walk(t, from, w.end, false)...)
		if got := ThinTrail(parts, w.spacing, w.end); !slices.Equal(got, want) {
			t.Fatalf("spacing %d, fuel %d: parts make %v, want %v", w.spacing, w.end, got, want)
		}
	})
}

// TestThinTrail: 33 boundaries are one too many, and what is left of them is every other.
func TestThinTrail(t *testing.T) {
	all := func(n, step uint64) (out []task.Boundary) {
		for k := step; k <= n; k += step {
			out = append(out, task.Boundary{Fuel: k * 100})
		}
		return out
	}
	for _, c := range []struct{ spacings, step uint64 }{{0, 1}, {7, 8}, {8, 1}, {32, 1}, {33, 2}, {65, 2}, {66, 4},
		{1000, 32}} {
		got, want := ThinTrail(all(c.spacings, 1), 100, c.spacings*100), all(c.spacings, c.step)
		if !slices.Equal(got, want) {
			t.Errorf("after %d spacings: got %v, want %v", c.spacings, got, want)
		}
	}
	if got := ThinTrail(all(9, 1), 0, 900); got != nil {
		t.Errorf("without a spacing: %v", got)
	}
}
