package predictor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestFitFindsWeights: of answers that are drawn from known weights a fit finds these, and
// one whose bounds exclude them ends at the bound.
func TestFitFindsWeights(t *testing.T) {
	draw := func(least float64) *fit {
		random := rand.New(rand.NewPCG(3, 3))
		f := &fit{n: 3, memory: fitMemory}
		for i := range f.n {
			f.bound(i, least, 4, 0, 1)
		}
		for k := range 40_000 {
			x := [terms]float64{random.NormFloat64(), random.NormFloat64(), 1}
			y := 0.0
			if random.Float64() < odds(1.5*x[0]-.5*x[1]+.25) {
				y = 1
			}
			f.learn(&x, y)
			if k%solveEvery == 0 {
				f.solve()
			}
		}
		f.solve()
		return f
	}
	free := draw(-4)
	for i, want := range []float64{1.5, -.5, .25} {
		if math.Abs(free.weight[i]-want) > .1 {
			t.Errorf("weight %d is %.3f, drawn with %v", i, free.weight[i], want)
		}
	}
	if w := draw(0).weight; w[1] != 0 || math.Abs(w[0]-1.5) > .2 {
		t.Errorf("with no weight below 0: %.3f", w[:3])
	}
}

// TestFitsStayWithinBounds: whatever a fit is told, its weights are finite and within their
// bounds, and it fades what is more than it remembers.
func TestFitsStayWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLesson(rapid.SampledFrom([]float64{1e-3, 30}).Draw(t, "firm"))
		l.joint.seen = rapid.SampledFrom([]float64{0, fitMemory}).Draw(t, "seen")
		for range rapid.IntRange(0, 40).Draw(t, "answers") {
			l.learn(&Answer{said: drawSaid(t), stayed: rapid.Bool().Draw(t, "stayed")})
			l.settle()
		}
		if l.joint.seen > fitMemory {
			t.Fatalf("it remembers %v answers", l.joint.seen)
		}
		for _, f := range []*fit{&l.joint, &l.right, &l.final.curve} {
			for i := range f.n {
				if w := f.weight[i]; !(w >= f.least[i] && w <= f.most[i]) {
					t.Fatalf("weight %d is %v", i, w)
				}
			}
		}
	})
}

// TestBendIsTheIdentity: with all slopes 1 and the shift of the first knot nothing is
// corrected, as far as knots reach.
func TestBendIsTheIdentity(t *testing.T) {
	l := newLesson(DefaultFirm)
	for z := knots[0]; z <= knots[slopes]; z += .25 {
		var x [terms]float64
		bend(z, &x)
		if got := l.right.odds(&x); math.Abs(got-z) > 1e-9 {
			t.Errorf("%v is corrected to %v", z, got)
		}
	}
}

// TestUsualByHand: three sessions of 32 to 64 minutes, one of three hours that runs, and the
// opinion of an empty pool. Of a stay of 40 minutes more an hour and a half of the first
// three lay ahead, by the integral over the octave's logarithm.
func TestUsualByHand(t *testing.T) {
	pool := &Pool{}
	r := Record{Up: true, Since: uint32(start.Unix())}
	r.Ends[6] = 3
	n := NewReader(&r, pool)
	const more = 40. / 60
	ahead, all := 0.0, 0.0
	for i := range 100_000 {
		length := 32. / 60 * math.Exp2((float64(i)+.5)/100_000)
		ahead, all = ahead+max(0, length-more)/100_000, all+length/100_000
	}
	ahead, all = 3*ahead+3-more, 3*all+3-more
	want := (ahead + usualHours*math.Exp(-more/24)) / (all + usualHours)
	if got := n.usual(start.Add(3*time.Hour).UnixMilli(), 40*msPerMinute); math.Abs(got-want) > 1e-6 {
		t.Errorf("a stay of 40 minutes: %v, want %v", got, want)
	}
}

// TestUsualFalls with what is asked for, for any record.
func TestUsualFalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool, r := &Pool{}, Record{Up: true, Since: uint32(start.Unix())}
		for k := range octaves {
			r.Ends[k] = uint8(rapid.IntRange(0, 255).Draw(t, "ends"))
			pool.lives.Ends[k] = float64(rapid.IntRange(0, 9).Draw(t, "at large"))
		}
		n := NewReader(&r, pool)
		now, last := start.Add(5*time.Hour).UnixMilli(), 1.0
		for d := int64(msPerMinute); d < 100*msPerDay; d += d / 3 {
			got := n.usual(now, d)
			if !(got >= 0 && got <= last+1e-12) {
				t.Fatalf("a stay of %d ms: %v after %v", d, got, last)
			}
			last = got
		}
	})
}

// TestWeekendByHours: the share of a window that is Saturday or Sunday, counted by hours.
func TestWeekendByHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, n := rapid.IntRange(0, 2000).Draw(t, "from"), rapid.IntRange(1, 400).Draw(t, "hours")
		at, want := start.Add(time.Duration(from)*time.Hour), 0
		for i := range n {
			switch at.Add(time.Duration(i) * time.Hour).Weekday() {
			case time.Saturday, time.Sunday:
				want++
			}
		}
		near(t, "weekend", weekend(at.UnixMilli(), int64(n)*msPerHour), float64(want)/float64(n))
	})
}
