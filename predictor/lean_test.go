package predictor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLeanIsFound: of a host that stays in a share of the times to which its opinions give an
// even chance, the lean comes to the log-odds of that share, the slower the less an answer
// counts; and a record has it within half a step, or its most.
func TestLeanIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(.1, .9).Draw(t, "share")
		counts := rapid.SampledFrom(leanCounts[:]).Draw(t, "counts")
		const answers = 5_000
		var l lean
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		stayed := 0.0
		for range answers {
			y := 0.0
			if random.Float64() < share {
				y = 1
			}
			stayed += y
			l.learn(0, y, counts)
		}
		want := logOdds(stayed / answers)
		if math.Abs(l.value()-want) > .3 { // it is held on to none, and few count for little
			t.Fatalf("a lean of %v, want %v", l.value(), want)
		}
		if got := leanStep * float64(l.steps()); math.Abs(got-l.value()) > leanStep/2+1e-9 &&
			math.Abs(got) < leanStep*leanSteps {
			t.Fatalf("a record has %v of %v", got, l.value())
		}
	})
}

// TestLeanIsHeard: two hosts of which all else is alike, but one stays more often than its
// opinions say, one less often. After some hundred answers the pool tells them apart. A host
// that is the first of its kind to lean is believed half of it.
func TestLeanIsHeard(t *testing.T) {
	const hour = 1
	pool, now := &Pool{}, start.Add(3*time.Hour)
	records := [2]Record{}
	for i, steps := range []int8{leanSteps, -leanSteps} {
		records[i] = Record{Up: true, Since: uint32(start.Unix()), Known: 100, Lean: [leans]int8{leanShort: steps}}
	}
	random := rand.New(rand.NewPCG(3, 3))
	shares := []float64{.95, .5}
	for range 50 {
		var answers []Answer
		for i := range records {
			n := NewReader(&records[i], pool)
			a := Answer{class: hour}
			n.say(&a.said, now.UnixMilli(), anchors[hour])
			for range 10 {
				a.stayed = random.Float64() < shares[i]
				answers = append(answers, a)
			}
		}
		pool.Learn(answers)
	}
	for i, want := range shares {
		n := NewReader(&records[i], pool)
		if p, _ := n.Stay(now, time.Hour); math.Abs(p-want) > .06 {
			t.Errorf("host %d: %.3f, want %.2f", i, p, want)
		}
	}
}

// TestLyingLeanIsBounded: a host that tells of the largest lean moves what is said of it by no
// more than that lean, whatever the pool was taught.
func TestLyingLeanIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &learned(t).lessons[rapid.IntRange(0, classes-1).Draw(t, "class")]
		s := drawSaid(t)
		s[sayLean] = 0
		var x [terms]float64
		s.fill(&x)
		honest := l.joint.odds(&x)
		x[sayLean] = leanStep * leanSteps
		if more := l.joint.odds(&x) - honest; more < 0 || more > mostLean*leanStep*leanSteps {
			t.Fatalf("a lean of %v moves log-odds by %v", x[sayLean], more)
		}
	})
}
