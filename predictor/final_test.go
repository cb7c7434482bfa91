package predictor

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// trueShare is how often hosts stay of which a forecast that is too cautious says p.
func trueShare(p float64) float64 { return odds(1.5*logOdds(p) + .4) }

// calibrated has a final correction learn from answers that come true by trueShare.
func calibrated(f *final, random *rand.Rand, answers int, share func(float64) float64) {
	for k := range answers {
		p, y := random.Float64(), 0.0
		if random.Float64() < share(p) {
			y = 1
		}
		if f.learn(p, y); k%solveEvery == 0 {
			f.settle()
		}
	}
	f.settle()
}

// TestFinalComesTrue: forecasts that come true less or more often than they say are set right
// within .03 in each tenth; and again, once what comes true has changed for some thousand
// answers.
func TestFinalComesTrue(t *testing.T) {
	f, random := newFinal(), rand.New(rand.NewPCG(4, 4))
	check := func(what string, share func(float64) float64) {
		for p := .05; p < 1; p += .1 {
			if got := f.answer(p); math.Abs(got-share(p)) > .03 {
				t.Errorf("%s: %.2f is set to %.3f, %.3f come true", what, p, got, share(p))
			}
		}
	}
	if got := f.answer(.3); math.Abs(got-.3) > 1e-9 {
		t.Errorf("a correction that learnt nothing makes %v of .3", got)
	}
	calibrated(&f, random, finalMemory/2, trueShare)
	check("at first", trueShare)
	back := func(p float64) float64 { return odds(.7*logOdds(p) - .3) }
	calibrated(&f, random, 4*finalMemory, back)
	check("after a change", back)
}

// TestFinalRises: whatever came true, what is said rises with what the parts came to, is a
// probability, and loses at most 2 ln(2) more than leaving things as they are.
func TestFinalRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, lost, uncorrected := newFinal(), 0.0, 0.0
		for range rapid.IntRange(1, 60).Draw(t, "answers") {
			p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1})).Draw(t, "said")
			y := float64(rapid.IntRange(0, 1).Draw(t, "stayed"))
			got := f.answer(p)
			lost += (got - y) * (got - y)
			uncorrected += (p - y) * (p - y)
			f.learn(p, y)
			f.settle()
		}
		if lost > uncorrected+math.Ln2/meanRate+1e-3 {
			t.Fatalf("%v were lost, uncorrected %v", lost, uncorrected)
		}
		last := 0.0
		for i := range 1001 {
			p := f.answer(float64(i) / 1000)
			if !(p >= last-1e-12 && p <= 1) {
				t.Fatalf("of %v it makes %v, of less %v", float64(i)/1000, p, last)
			}
			last = p
		}
	})
}
