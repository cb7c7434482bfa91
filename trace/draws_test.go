package trace

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestHyperexponential: the mean of what is drawn, and of what is left of an interval
// that is met at a random time: half the second moment over the first.
func TestHyperexponential(t *testing.T) {
	for i, h := range []hyperexp{{2.66, 0.267, 0.763}, {18, 0.915, 0.38}, {1, 1, 0.5}, {5, 0.01, 0}, {5, 0.01, 1}} {
		rng := hostRand("hyperexp", uint64(i), 0)
		const n = 60_000
		drawn, left := 0.0, 0.0
		for range n {
			drawn += h.draw(rng) / n
			left += h.residual(rng) / n
		}
		mean := h.pShort*h.short + (1-h.pShort)*h.long
		residual := (h.pShort*h.short*h.short + (1-h.pShort)*h.long*h.long) / mean
		if math.Abs(drawn/mean-1) > .04 || math.Abs(left/residual-1) > .04 || h.mean() != mean {
			t.Errorf("%+v: mean %v, want %v; residual %v, want %v", h, drawn, mean, left, residual)
		}
		if s := h.scaled(3); s.mean() != 3*mean && math.Abs(s.mean()/(3*mean)-1) > 1e-12 || s.pShort != h.pShort {
			t.Errorf("%+v scaled by 3 is %+v", h, s)
		}
	}
}

// TestBeta: mean a/(a+b) and variance ab/((a+b)^2 (a+b+1)), for shapes above and far
// below 1.
func TestBeta(t *testing.T) {
	for i, c := range [][2]float64{{1, 1}, {5, 2}, {0.5, 0.5}, {0.03, 0.04}, {1.14, 9.5}} {
		rng := hostRand("beta", uint64(i), 0)
		a, b := c[0], c[1]
		const n = 60_000
		sum, squares := 0.0, 0.0
		for range n {
			x := beta(rng, a, b)
			if !(x >= 0 && x <= 1) {
				t.Fatalf("Beta(%v, %v) drew %v", a, b, x)
			}
			sum, squares = sum+x/n, squares+x*x/n
		}
		mean, variance := a/(a+b), a*b/((a+b)*(a+b)*(a+b+1))
		if math.Abs(sum-mean) > .01 || math.Abs(squares-sum*sum-variance) > .01 {
			t.Errorf("Beta(%v, %v): mean %v, variance %v, want %v, %v", a, b, sum, squares-sum*sum, mean, variance)
		}
	}
}

// TestEveryKindHoldsTogether: whatever is made lies within its trace and its windows,
// on whole seconds, is labelled synthetic with what it takes to make it again, and is
// the same again.
func TestEveryKindHoldsTogether(t *testing.T) {
	for _, k := range SynthKinds() {
		rapid.Check(t, func(t *rapid.T) {
			c := SynthConfig{Hosts: rapid.IntRange(1, 4).Draw(t, "hosts"), Days: rapid.IntRange(1, 6).Draw(t, "days"),
				Seed:  rapid.Uint64().Draw(t, "seed"),
				Start: time.Date(2020, 2, rapid.IntRange(1, 29).Draw(t, "start"), 0, 0, 0, 0, time.UTC)}
			tr, err := Synthesize(k[0], c)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Synthesize(k[0]+"-like", c)
			if err != nil || spells(again) != spells(tr) {
				t.Fatalf("%s: made again it is another, %v", k[0], err)
			}
			if tr.Days() != c.Days || len(tr.Hosts) != c.Hosts ||
				!strings.HasPrefix(tr.Synthetic, "generator "+k[0]+", ") || !strings.Contains(tr.Synthetic, "seed ") {
				t.Fatalf("%s: %d days, %d hosts, %q", k[0], tr.Days(), len(tr.Hosts), tr.Synthetic)
			}
			for _, h := range tr.Hosts {
				if h.History.Len() == 0 || h.History.Since().Before(tr.Start) || h.History.Until().After(tr.End) {
					t.Fatalf("%s: host %s from %v to %v", k[0], h.History.Host, h.History.Since(), h.History.Until())
				}
				for i := range h.History.Len() {
					s := h.History.Spell(i)
					if s.Start.Nanosecond() != 0 || s.End.Nanosecond() != 0 {
						t.Fatalf("%s: a spell of %v to %v", k[0], s.Start, s.End)
					}
					middle := s.Start.Add(s.Length() / 2)
					in := middle.Sub(midnight(middle))
					watched := tr.Window.Whole() || in >= tr.Window.From && in < tr.Window.To
					if s.Length() > 0 && watched == (s.State == Unobserved) {
						t.Fatalf("%s: %v from %v to %v, the window is %v", k[0], s.State, s.Start, s.End, tr.Window)
					}
				}
			}
		})
	}
}

// TestOwnersDays: a day's changes are in order, within the day, and tell a machine that
// goes off that it is leaving first.
func TestOwnersDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := hostRand("office", rapid.Uint64().Draw(t, "seed"), 0)
		o := newOwner(rng)
		first := rapid.Bool().Draw(t, "first")
		day1 := o.day(rapid.Bool().Draw(t, "weekend"), first, rng)
		if first && (len(day1) == 0 || day1[0].at != 0) {
			t.Fatal("the first day does not begin at midnight")
		}
		for i, m := range day1 {
			if m.at < 0 || m.at >= day || i > 0 && m.at < day1[i-1].at {
				t.Fatalf("changes %v", day1)
			}
			if m.state == Leaving && (o.leavesOn || i+1 == len(day1) || day1[i+1].state != Unavailable) {
				t.Fatalf("leaves on %v, and says that it leaves: %v", o.leavesOn, day1)
			}
			if m.state == CPUBusy && !o.leavesOn {
				t.Fatalf("a machine that is off has work at night: %v", day1)
			}
		}
		if n := len(day1); n > 0 && (day1[n-1].state == Available) != o.leavesOn {
			t.Fatalf("leaves on %v, and the day ends %v", o.leavesOn, day1[n-1].state)
		}
	})
}

// FuzzTables: the other tables that are read from files: what is accepted is within its
// bounds, and sampling times are written as they were read.
func FuzzTables(f *testing.F) {
	f.Add("snapshot_s\n0\n10\n20.5\n")
	f.Add("MWAN-2K 179 6851.77\nLPW8 331 13778.19\n")
	f.Fuzz(func(t *testing.T, text string) {
		tr := &Trace{Start: epoch}
		if err := ReadSnapshots(tr, "s", strings.NewReader(text)); err == nil {
			var b strings.Builder
			if err := WriteSnapshots(&b, tr); err != nil {
				t.Fatal(err)
			}
			again := &Trace{Start: epoch}
			if err := ReadSnapshots(again, "s", strings.NewReader(b.String())); err != nil ||
				len(again.Samples) != len(tr.Samples) || again.Sample != tr.Sample {
				t.Fatalf("%q is written %q, and read as %v, %v", text, b.String(), again.Samples, err)
			}
		}
		if all, err := ReadResources("r", strings.NewReader(text)); err == nil {
			for name, r := range all {
				if name == "" || !(r.GHz > 0 && r.GHz <= 1000) || !(r.Cycles > 0 && r.Cycles <= maxCycles) {
					t.Fatalf("%q is %+v", name, r)
				}
			}
		}
	})
}
