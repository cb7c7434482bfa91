package predictor

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/trace"
)

func newLogistic(t testing.TB, name string) *logistic {
	t.Helper()
	m, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return m.New(&Pool{}).(*logistic)
}

// TestLogisticMovesDownTheGradient: an answer moves every weight by the rate times the
// slope of the logarithmic loss, which is measured here by small differences; and no
// weight leaves its bounds.
func TestLogisticMovesDownTheGradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const rate, nudge = 1e-3, 1e-5
		l := &logistic{rate: rate}
		var x [features]float64
		for i := range x {
			x[i] = rapid.Float64Range(-1, 1).Draw(t, "feature")
			l.weights[i] = rapid.Float64Range(.1, 1).Draw(t, "weight")
		}
		l.weights[featureHorizon] = -l.weights[featureHorizon]
		l.weights[features] = rapid.Float64Range(-2, 2).Draw(t, "bias")
		y := float64(rapid.IntRange(0, 1).Draw(t, "stayed"))
		loss := func(i int, by float64) float64 {
			m := *l
			m.weights[i] += by
			p := m.answer(&x)
			return -y*math.Log(p) - (1-y)*math.Log1p(-p)
		}
		var want [features + 1]float64
		for i := range want {
			slope := (loss(i, nudge) - loss(i, -nudge)) / (2 * nudge)
			want[i] = l.weights[i] - rate*slope
		}
		l.learn(&x, y)
		for i := range want {
			if math.Abs(l.weights[i]-want[i]) > 1e-7 {
				t.Fatalf("weight %d is %v, down the slope it is %v", i, l.weights[i], want[i])
			}
		}
	})
}

func TestLogisticWeightsKeepTheirBounds(t *testing.T) {
	var up, down [features]float64
	for i := range up {
		up[i], down[i] = 100, -100
	}
	for _, x := range [][features]float64{up, down} {
		for _, y := range []float64{0, 1} {
			l := &logistic{rate: 1}
			for range 50 {
				l.learn(&x, y)
			}
			for i, w := range l.weights[:features] {
				switch {
				case math.Abs(w) > mostWeight:
					t.Errorf("feature %v, stayed %v: weight %d is %v, at most %v", x[0], y, i, w, mostWeight)
				case i < experts && w < 0:
					t.Errorf("feature %v, stayed %v: expert %d counts against itself: %v", x[0], y, i, w)
				case i == featureHorizon && w > 0:
					t.Errorf("feature %v, stayed %v: staying longer is more likely: %v", x[0], y, w)
				}
			}
		}
	}
}

// TestLogisticJudges: a question is answered with yes when its horizon is reached, with
// no when the host leaves before, and not at all when nobody looks any more.
func TestLogisticJudges(t *testing.T) {
	hour := func(h float64) time.Time { return start.Add(minutes(60 * h)) }
	for _, c := range []struct {
		name string
		then func(*logistic)
		bias int // which way what was learnt points
		left int // questions that wait
	}{
		{"still there", func(l *logistic) { l.Tick(hour(.5)) }, 0, 1},
		{"stayed", func(l *logistic) { l.Tick(hour(1)) }, +1, 1},
		{"left", func(l *logistic) { l.Observe(hour(.5), trace.UserPresent) }, -1, 0},
		{"left when it was reached", func(l *logistic) { l.Observe(hour(1), trace.Leaving) }, +1, 0},
		{"lost from sight", func(l *logistic) { l.Blind(hour(.5)) }, 0, 0},
		{"reached when nobody looked any more", func(l *logistic) { l.Blind(hour(1)) }, +1, 0},
	} {
		l := newLogistic(t, "logistic")
		l.Observe(start, trace.Available)
		l.Tick(start) // asks whether it stays for an hour
		c.then(l)
		left := 0
		for _, q := range l.pending {
			if q.until != 0 {
				left++
			}
		}
		if bias := l.weights[features]; bias*float64(c.bias) < 0 || (bias != 0) != (c.bias != 0) || left != c.left {
			t.Errorf("%s: bias %v, %d questions wait, want the sign %d and %d", c.name, bias, left, c.bias, c.left)
		}
	}
}

// TestLogisticLearnsItsHost: of two hosts that were alike the one that always leaves
// after two hours is expected to go, and whatever was learnt, staying longer is less
// likely.
func TestLogisticLearnsItsHost(t *testing.T) {
	after := func(stay time.Duration) *logistic {
		l := newLogistic(t, "logistic:rate=.05")
		at := start
		for range 60 {
			l.Observe(at, trace.Available)
			for end := at.Add(stay); at.Before(end); at = at.Add(20 * time.Minute) {
				l.Tick(at)
			}
			l.Observe(at, trace.UserPresent)
			at = at.Add(time.Hour)
		}
		l.Observe(at, trace.Available)
		last := 1.0
		for d := time.Minute; d < 200*time.Hour; d += d / 2 {
			p, known := l.Stay(at.Add(time.Hour), d)
			if !known || !(p >= 0 && p <= last) {
				t.Errorf("stays of %v: %v for %v, known %v, after %v", stay, p, d, known, last)
			}
			last = p
		}
		return l
	}
	short, long := after(2*time.Hour), after(40*time.Hour)
	ask := func(l *logistic) float64 {
		p, _ := l.Stay(time.UnixMilli(l.spell.since).Add(time.Hour), 3*time.Hour)
		return p
	}
	if s, g := ask(short), ask(long); !(s < .3 && g > .7) {
		t.Errorf("3 h more: %v of the host that stays for 2 h, %v of the one that stays for 40 h", s, g)
	}
}

// TestFullCountsAreHalved: a host that comes and goes for years keeps its proportions,
// and nothing that the record has no room for.
func TestFullCountsAreHalved(t *testing.T) {
	r := NewRecorder(&Pool{})
	at, before := start, uint8(0)
	for i := range 4000 {
		r.Observe(at, trace.Available)
		stay := 3 * time.Minute // three of four sessions, the others an octave of hours
		if i%4 == 3 {
			stay = 3 * time.Hour
		}
		at = at.Add(stay)
		r.Observe(at, trace.UserPresent)
		at = at.Add(7 * time.Minute)
		got := r.Record().Ends[2] // 2 to 4 min
		if got < before && math.Abs(float64(got)-float64(before)/2) > 1 {
			t.Fatalf("session %d: %d were remembered, %d are", i, before, got)
		}
		before = got
	}
	rec := r.Record()
	brief, long := float64(rec.Ends[2]), float64(rec.Ends[8]) // 2 to 4 h
	if brief <= 64 || math.Abs(brief/long-3) > .3 {
		t.Errorf("%v short and %v long sessions are remembered, three to one happened", brief, long)
	}
	for range 40 { // losses count up to 15
		r.Observe(at, trace.Available)
		at = at.Add(3 * time.Minute)
		r.Blind(at)
		at = at.Add(3 * time.Minute)
		if lost := r.Record().Lost[2]; lost > 15 {
			t.Fatalf("%d losses are in a record that has room for 15", lost)
		}
	}
}
