package predictor

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

func TestScore(t *testing.T) {
	qs := []Question{
		{Host: 0, Group: 0, P: .9, Stayed: true, Known: true},
		{Host: 1, Group: 0, P: .9, Stayed: false, Known: true},
		{Host: 0, Group: 1, P: .4, Stayed: true, Known: true},
		{Host: 1, Group: 1, P: .1, Stayed: false, Known: false},
	}
	s := NewScorer(qs, .5).Score()
	// Pairs: .9 with .9 half, .9 with .1, .4 with .1; .4 is below .9.
	for name, c := range map[string][2]float64{
		"AUC": {s.AUC, 2.5 / 4}, "Brier": {s.Brier, (.01 + .81 + .36 + .01) / 4}, "base rate": {s.BaseRate, .5},
		"pick": {s.Pick, .75}, "no history": {s.NoHistory, .25},
		"log loss":  {s.LogLoss, -(math.Log(.9) + math.Log(.1) + math.Log(.4) + math.Log(.9)) / 4},
		"detection": {s.Detection, .5}, "correct": {s.Correct, .5},
	} {
		if math.Abs(c[0]-c[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	want := []Bin{{.1, 0, 1, 0}, {.4, 1, 1, 0}, {.9, .5, 2, 0}}
	// Of .1 and .4 one host each is off; of .9 one by -.1, the other by .9.
	for i, off := range []float64{.1, .6, math.Hypot(.1, .9) / 2} {
		if c := s.Reliability[i].Chance; math.Abs(c-1.96*off) > 1e-12 {
			t.Errorf("chance of bin %d: %v, want %v", i, c, 1.96*off)
		}
		s.Reliability[i].Chance = 0
	}
	if !slices.Equal(s.Reliability, want) {
		t.Errorf("reliability %v, want %v", s.Reliability, want)
	}
}

// The AUC agrees with counting all pairs, hosts weighed.
func TestAUCCountsPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "questions")
		qs := make([]Question, n)
		w := []float64{1, 0, 2}
		var right, pairs float64
		for i := range qs {
			qs[i] = Question{Host: rapid.IntRange(0, 2).Draw(t, "host"), P: float64(rapid.IntRange(0, 4).Draw(t, "p")) / 4,
				Stayed: rapid.Bool().Draw(t, "stayed")}
		}
		for _, a := range qs {
			for _, b := range qs {
				if !a.Stayed || b.Stayed {
					continue
				}
				v := w[a.Host] * w[b.Host]
				pairs += v
				switch {
				case a.P > b.P:
					right += v
				case a.P == b.P:
					right += v / 2
				}
			}
		}
		got := NewScorer(append(qs, Question{Host: 2}), 1)
		got.order = got.order[:0]
		s := NewScorer(qs, 1)
		s.hosts = 3
		if got, want := s.auc(w), right/pairs; !(math.Abs(got-want) < 1e-9 || math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestBootstrap(t *testing.T) {
	var good, bad []Question
	for i := range 200 {
		q := Question{Host: i % 20, Group: i / 10, Stayed: i%3 != 0, P: .2}
		if q.Stayed {
			q.P = .8
		}
		good = append(good, q)
		q.P = .5
		bad = append(bad, q)
	}
	a, b := NewScorer(good, .5).Bootstrap(50, 1), NewScorer(bad, .5).Bootstrap(50, 1)
	if low, high := a.Difference(&b, Brier); !(low < high+1e-12 && math.Abs(low-(.04-.25)) < 1e-9) {
		t.Errorf("difference of Brier scores %v to %v, want -.21 whichever hosts are drawn", low, high)
	}
	if low, high := b.Interval(Pick); !(low > .5 && low < high && high < .8) {
		t.Errorf("interval of picks at random: %v to %v", low, high)
	}
}

// synthetic is a set of a kind with closing hours taken for departures.
func synthetic(t testing.TB, kind string, hosts int, seed uint64) *Backtest {
	set, err := trace.Synthesize(kind, trace.SynthConfig{Hosts: hosts, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	set = set.Assume(trace.Unavailable)
	b := &Backtest{Horizon: time.Hour, End: set.End, Questions: 4000, Seed: seed}
	b.From = set.Start.Add(set.End.Sub(set.Start) * 55 / 100)
	for _, h := range set.Hosts {
		b.Histories = append(b.Histories, h.History)
	}
	return b
}

func forwards(n int, host func(int)) {
	for i := range n {
		host(i)
	}
}

func backwards(n int, host func(int)) {
	for i := range n {
		host(n - 1 - i)
	}
}

func run(t testing.TB, b *Backtest, qs []Question, spec string, each func(int, func(int))) []Question {
	m, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Run(m, qs, each)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a question is answered depends neither on the order in which hosts are
// followed nor on anything that happens after it.
func TestBacktestKeepsTimeOrder(t *testing.T) {
	b := synthetic(t, "sdsc", 40, 5)
	qs, err := b.Ask()
	if err != nil {
		t.Fatal(err)
	}
	last := slices.MaxFunc(qs, func(a, b Question) int { return a.At.Compare(b.At) }).At
	cut := b.From.Add(last.Sub(b.From) / 2)
	past := *b
	past.Histories = nil
	for _, h := range b.Histories {
		var short trace.History
		for i := range h.Len() {
			if s := h.Spell(i); !s.Start.After(cut) {
				if err := short.Append(s.Start, s.State, s.CPU); err != nil {
					t.Fatal(err)
				}
			}
		}
		short.Extend(cut)
		past.Histories = append(past.Histories, &short)
	}
	early := slices.DeleteFunc(slices.Clone(qs), func(q Question) bool { return q.At.After(cut) })
	for _, spec := range []string{"blend", "blend442", "tde5", "history"} {
		all := run(t, b, qs, spec, forwards)
		if !slices.Equal(all, run(t, b, qs, spec, backwards)) {
			t.Errorf("%s: another order of hosts, other answers", spec)
		}
		all = slices.DeleteFunc(all, func(q Question) bool { return q.At.After(cut) })
		if !slices.Equal(all, run(t, &past, early, spec, forwards)) {
			t.Errorf("%s: without the future, other answers", spec)
		}
	}
}

func TestAskNothingToAsk(t *testing.T) {
	b := &Backtest{Histories: []*trace.History{{}}, Horizon: time.Hour, From: start, End: start.Add(24 * time.Hour),
		Questions: 10}
	if _, err := b.Ask(); !errors.Is(err, ErrNoQuestions) {
		t.Errorf("an empty history: %v", err)
	}
}

// Nobody knows the answer to a question that runs into unwatched time.
func TestAskOnlyWhatWasWatched(t *testing.T) {
	var h trace.History
	for d := range 10 {
		day := start.Add(time.Duration(d) * 24 * time.Hour)
		if err := errors.Join(h.Append(day.Add(9*time.Hour), trace.Available, 1), h.Gap(day.Add(17*time.Hour))); err != nil {
			t.Fatal(err)
		}
	}
	b := &Backtest{Histories: []*trace.History{&h}, Horizon: time.Hour, From: start, End: start.Add(240 * time.Hour),
		Questions: 200}
	qs, err := b.Ask()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range qs {
		if !q.Stayed || q.At.Hour() >= 16 {
			t.Errorf("asked at %v, stayed: %v", q.At, q.Stayed)
		}
	}
}

// The promise, lean: on generated sets that no constant was fitted to, the
// default ranks better than TDE over five days and errs at most .75 as much, and
// is no worse than the blend that does not learn.
func TestDefaultBeatsTDE(t *testing.T) {
	for _, kind := range []string{"ucb", "sdsc", "deug"} {
		b := synthetic(t, kind, 160, 77)
		qs, err := b.Ask()
		if err != nil {
			t.Fatal(err)
		}
		mine := NewScorer(run(t, b, qs, "blend", forwards), .5).Score()
		tde := NewScorer(run(t, b, qs, "tde:n=5", forwards), .5).Score()
		fixed := NewScorer(run(t, b, qs, "blend442", forwards), .5).Score()
		t.Logf("%s: AUC %.3f, %.3f, %.3f; Brier %.3f, %.3f, %.3f", kind, mine.AUC, tde.AUC, fixed.AUC, mine.Brier,
			tde.Brier, fixed.Brier)
		if mine.AUC <= tde.AUC || mine.Brier > .75*tde.Brier || mine.Brier > fixed.Brier {
			t.Errorf("%s: AUC %.3f beside %.3f, Brier %.3f beside %.3f, and %.3f of the fixed blend", kind, mine.AUC, tde.AUC,
				mine.Brier, tde.Brier, fixed.Brier)
		}
	}
}
