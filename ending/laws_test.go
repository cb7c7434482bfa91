package ending

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"godwit/predictor"
	"godwit/trace"
)

// TestWorkSeenHalfway: tasks of a law of which many are stopped early are drawn with about the
// law's mean all the same; that of those that ended alone would be half of it.
func TestWorkSeenHalfway(t *testing.T) {
	for _, tt := range []struct {
		name string
		draw func(rng *rand.Rand) float64
	}{
		{"equal", func(*rand.Rand) float64 { return 100 }},
		{"uniform", func(rng *rand.Rand) float64 { return 200 * rng.Float64() }},
		{"exponential", func(rng *rand.Rand) float64 { return 100 * rng.ExpFloat64() }},
	} {
		mean := 0.0
		const sets, draws = 10, 20
		for set := range uint64(sets) {
			rng := rand.New(rand.NewPCG(1, set))
			j := &Job{Waiting: 1}
			for range 200 {
				work, stopped := tt.draw(rng), 150*rng.Float64()
				if stopped < work {
					j.Running = append(j.Running, Attempt{"p", seconds(stopped)})
				} else {
					j.Ended = append(j.Ended, seconds(work))
				}
			}
			k := know(j, &Swarm{})
			for range draws {
				mean += k.law(rng).mean() / (sets * draws)
			}
		}
		if math.Abs(mean-100) > 25 {
			t.Errorf("%s: the mean is %.1f, want about 100", tt.name, mean)
		}
	}
}

// TestLonger: what is left of a task is never less than nothing.
func TestLonger(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, j := range []*Job{{Waiting: 1}, {Declared: time.Minute}, {Ended: ended(20, time.Minute)},
		{Ended: ended(1, time.Minute), Running: []Attempt{{"p", time.Hour}}}} {
		w := know(j, &Swarm{}).law(rng)
		for _, did := range []float64{0, 1, 59, 60, 61, 1e4, 1e9} {
			if got := w.longer(did, rng); got < did || math.IsNaN(got) || math.IsInf(got, 0) {
				t.Errorf("of a task that did %v all is %v", did, got)
			}
		}
	}
}

func TestWeibullOfEqualTasks(t *testing.T) {
	one := []float64{1, 1, 1}
	w := fitted([]seen{{60, true}, {60, true}, {60, true}}, one)
	if mean, _ := w.beyond(leastWork); w.shape < 40 || math.Abs(mean-60) > 2 {
		t.Errorf("of equal tasks it is %+v of mean %v", w, mean)
	}
}

// TestWeek: a member that is there at night alone comes in the evening and leaves in the
// morning, and so it is foretold.
func TestWeek(t *testing.T) {
	r := predictor.NewRecorder(&predictor.Pool{})
	day := 24 * time.Hour
	for d := -10; d < 0; d++ {
		at := noon.Add(time.Duration(d) * day)
		r.Observe(at.Add(8*time.Hour), trace.Available)    // 20 o'clock
		r.Observe(at.Add(20*time.Hour), trace.UserPresent) // 8 o'clock
	}
	r.Tick(noon)
	rec := r.Record()
	w := weekOf(&rec, noon)
	if w.rhythm < 0.9 {
		t.Fatalf("rhythm %v of equal days", w.rhythm)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	if got := w.next(noon, false, rng) / secondsPerHour; got < 7 || got > 9 {
		t.Errorf("it comes in %.1f h, want about 8", got)
	}
	if got := w.next(noon.Add(9*time.Hour), true, rng) / secondsPerHour; got < 10 || got > 12 {
		t.Errorf("it leaves in %.1f h, want about 11", got)
	}
}

func TestAbsences(t *testing.T) {
	h := &trace.History{}
	at := func(hours float64) time.Time { return noon.Add(time.Duration(hours * float64(time.Hour))) }
	_ = h.Append(at(0), trace.Available, 1)
	_ = h.Append(at(1), trace.UserPresent, 0)
	_ = h.Append(at(2), trace.Available, 1)
	_ = h.Append(at(3), trace.Leaving, 0)
	_ = h.Append(at(3.1), trace.Unavailable, 0)
	_ = h.Append(at(5), trace.Available, 1)
	_ = h.Append(at(6), trace.Unavailable, 0) // goes on
	h.Extend(at(7))
	got := absencesOf(h)
	want := []absence{{length: 3600, from: 13, owner: true}, {length: 7200, from: 15}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	var p absences
	for _, a := range got {
		p.add(a)
	}
	for range 100 {
		if left := p.rest(nil, 15, 7000, rng); left <= 0 {
			t.Fatalf("an absence of 7000 s goes on for %v", left)
		}
		if left := p.met(nil, 600, rng); left < 0 || left > 6600 {
			t.Fatalf("of one of 7200 s that was met %v are left", left)
		}
	}
}
