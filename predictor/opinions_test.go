package predictor

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

// TestNoAnswersBeatTheBound: whatever opinions say and whatever happens, the mixture's
// square loss is at most that of any opinion and ln(1/its first weight) / 2.
func TestNoAnswersBeatTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var total [opinions]float64
		excess, mixed := firstExcess, 0.0
		says := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, .5, .999}), rapid.Float64Range(0, 1))
		for range rapid.IntRange(1, 200).Draw(t, "answers") {
			var p [opinions]float64
			for i := range p {
				p[i] = says.Draw(t, "p")
			}
			w := weigh(&excess)
			m := aggregate(&w, &p)
			y := 0.0
			switch rapid.IntRange(0, 2).Draw(t, "what happens") {
			case 0:
				y = 1
			case 1: // the worst
				if m < .5 {
					y = 1
				}
			}
			mixed += (m - y) * (m - y)
			for i := range total {
				lost := (p[i] - y) * (p[i] - y)
				total[i], excess[i] = total[i]+lost, excess[i]+lost
			}
		}
		for i, l := range total {
			if mixed > l-math.Log(firstWeights[i])/mixRate+1e-3 { // noWeight leaves a little out
				t.Fatalf("the mixture lost %v, opinion %d %v", mixed, i, l)
			}
		}
	})
}

// TestAggregateHoldsTogether: the answer is within what is said, and rises with each
// opinion.
func TestAggregateHoldsTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var excess, p [opinions]float64
		least, most := 1.0, 0.0
		for i := range p {
			excess[i] = rapid.Float64Range(-9, 9).Draw(t, "excess")
			p[i] = rapid.Float64Range(0, 1).Draw(t, "p")
			least, most = min(least, p[i]), max(most, p[i])
		}
		w := weigh(&excess)
		sum := 0.0
		for _, v := range w {
			sum += v
		}
		got := aggregate(&w, &p)
		if math.Abs(sum-1) > opinions*noWeight || got < least-1e-5 || got > most+1e-5 {
			t.Fatalf("weights %v, of sum %v, make %v of %v", w, sum, got, p)
		}
		i := rapid.IntRange(0, opinions-1).Draw(t, "opinion")
		p[i] = rapid.Float64Range(p[i], 1).Draw(t, "more")
		if more := aggregate(&w, &p); more < got-1e-12 {
			t.Fatalf("opinion %d says more, and the answer falls from %v to %v", i, got, more)
		}
	})
}

// TestExcessIsKept: a byte says an excess within four per cent, with its sign, within
// the bound.
func TestExcessIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(.2, mostExcess).Draw(t, "x") * rapid.SampledFrom([]float64{1, -1}).Draw(t, "sign")
		if got := excessValue(excessStep(x)); math.Abs(got-x) > .04*math.Abs(x) {
			t.Fatalf("%v is kept as %v", x, got)
		}
	})
	for x, want := range map[float64]float64{0: 0, 1e9: mostExcess, -1e9: -mostExcess} {
		if got := excessValue(excessStep(x)); got != want {
			t.Errorf("%v is kept as %v, want %v", x, got, want)
		}
	}
	for b := -excessSteps; b <= excessSteps; b++ {
		if x := excessValue(int8(b)); math.Abs(x) < mostExcess && excessStep(x) != int8(b) {
			t.Errorf("%d is %v, which is kept as %d", b, x, excessStep(x))
		}
	}
}

// TestWhoIsRightIsFollowed: a host that leaves each day at five, and one that comes to
// a pool of such, are spoken of by the opinions that know hours; and a few hosts
// that claim the contrary with all they can do not turn the others' pool.
func TestWhoIsRightIsFollowed(t *testing.T) {
	pool := &Pool{}
	var records []Record
	for i := range 20 {
		r := NewRecorder(pool)
		for d := range 28 {
			day := start.Add(time.Duration(d*24) * time.Hour)
			r.Observe(day.Add(time.Duration(7*60+i)*time.Minute), trace.Available)
			r.Observe(day.Add(17*time.Hour+time.Duration(i)*time.Second), trace.Unavailable)
		}
		records = append(records, r.Record())
	}
	byHours := func(records []Record) float64 {
		pool := &Pool{}
		pool.Renew(records)
		stranger := NewReader(&Record{}, pool)
		w := stranger.weight
		return 1 - w[opinionSteady] - w[opinionLife] - w[opinionEven]
	}
	if got := byHours(records); got < .9 {
		t.Errorf("a stranger's opinions by hours weigh %.3f", got)
	}
	liar := Record{Excess: [opinions - 1]int8{opinionSteady - 1: -127, opinionTwo - 1: -127, opinionLife - 1: -127}}
	if got := byHours(append(records, liar)); got < .5 {
		t.Errorf("with one liar of 21 they weigh %.3f", got)
	}
}

// TestEvenByHand: three sessions of about an hour and one that has lasted for two, with
// a day of the pool's opinion.
func TestEvenByHand(t *testing.T) {
	pool := &Pool{}
	pool.settle()
	r := Record{Up: true, Since: uint32(start.Unix())}
	r.Ends[6] = 3 // 32 to 64 minutes
	n := NewReader(&r, pool)
	lasted := 3 * 32 / math.Ln2 / 60
	want := math.Exp(-(3 + 1) / (lasted + 24 + 2) * 5)
	m := n.moment(start.Add(2 * time.Hour).UnixMilli())
	if got := m.stays(5 * msPerHour); math.Abs(got-want) > 1e-9 {
		t.Errorf("a stay of five hours: %v, want %v", got, want)
	}
}
