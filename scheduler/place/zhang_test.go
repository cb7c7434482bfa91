package place

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"godwit/task"
	"pgregory.net/rapid"
)

// TestQualified is section 4.2.3's example and the bounds of the threshold.
func TestQualified(t *testing.T) {
	for _, tt := range []struct {
		stay, threshold float64
		want            bool
	}{{.8, .7, true}, {.7, .7, true}, {.69, .7, false}, {1, 1, true}, {1. / 3 * 3, 1, true}, {0, 0, true}} {
		if got := qualifies(tt.stay, tt.threshold); got != tt.want {
			t.Errorf("%v for %v: %v", tt.stay, tt.threshold, got)
		}
	}
}

// TestHeadWaits: the task at the head blocks those behind it, unless told else.
func TestHeadWaits(t *testing.T) {
	forecast := drawn{"a": {0.5, true}}
	queue := append(tasks("long", 2, nil), tasks("none", 1, func(w *Task) { w.Avoid = []task.PeerID{"a"} })...)
	for _, s := range []string{"fcfspp:t=0.6", "fcfspp:t=0.6,blocked=pass"} {
		p, _ := Parse(s)
		q := &list{tasks: queue}
		if got := placed(p.Place(time.Time{}, q, []Host{member("a", 1, 1, 1)}, forecast, nil)); got != "" {
			t.Errorf("%s: got %q", s, got)
		}
		if passed := q.taken == len(queue); passed != p.(*FCFSPP).Skip {
			t.Errorf("%s: took %d tasks", s, q.taken)
		}
	}
}

// TestNoHistoryQualifies: without history FCFSPP and FLP do as FCFS does, and FLP
// does not begin to adjust.
func TestNoHistoryQualifies(t *testing.T) {
	for _, s := range []string{"fcfspp", "flp"} {
		p, _ := Parse(s)
		for _, known := range []bool{false, true} {
			want := map[bool]string{false: "j/0:a", true: ""}[known]
			got := placed(p.Place(time.Time{}, &list{tasks: tasks("j", 1, nil)}, []Host{member("a", 1, 1, 1)},
				drawn{"a": {0.1, known}}, nil))
			if got != want {
				t.Errorf("%s, known %v: got %q", s, known, got)
			}
			if f, ok := p.(*FLP); ok && f.begun != known {
				t.Errorf("known %v: begun %v", known, f.begun)
			}
		}
	}
}

// TestAdjustment has the fuzzy vectors of sections 4.2.4 and B.II.
func TestAdjustment(t *testing.T) {
	for _, tt := range []struct {
		more   int
		lambda float64
		want   float64
	}{
		{1, 1, 1}, {2, 1, 1}, {0, 1, -1}, {-1, 1, -1}, {7 - 12, 1, -1},
		{2, 5, -0.2}, {-2, 5, -0.52}, {1, 2, 0}, {-1, 2, -0.5}, {5, 5, 1}, {0, 5, -1},
	} {
		if got := adjustment(tt.more, tt.lambda); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%d more at lambda %v: got %v, want %v", tt.more, tt.lambda, got, tt.want)
		}
	}
}

// TestThresholdMoves: section 4.2.4's 90 % becomes 89.5 %, and the threshold
// stays within 0 and 100 % however long nobody asks.
func TestThresholdMoves(t *testing.T) {
	p, _ := Parse("flp:t=0.9,lambda=2,interval=1h,from=start")
	flp := p.(*FLP)
	at := time.Unix(0, 0)
	place := func() { flp.Place(at, &list{}, nil, Unknown{}, nil) }
	place()
	flp.lost, flp.before = 0, 1
	at = at.Add(time.Hour)
	place()
	if math.Abs(flp.Threshold-0.895) > 1e-12 {
		t.Errorf("got %v, want 0.895", flp.Threshold)
	}
	at = at.Add(200 * 365 * 24 * time.Hour)
	place()
	if flp.Threshold != 0 || !flp.next.After(at) || flp.next.After(at.Add(time.Hour)) {
		t.Errorf("got %v, next at %v after %v", flp.Threshold, flp.next, at)
	}
}

// TestThresholdAsSlowAsItGoes is by the definition: an interval at a time.
func TestThresholdAsSlowAsItGoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lambda := rapid.Float64Range(0.5, 5).Draw(t, "lambda")
		p, _ := Parse(fmt.Sprintf("flp:interval=1m,from=start,lambda=%v", lambda))
		flp := p.(*FLP)
		start := time.Unix(0, 0)
		flp.Lost(start, 0)
		losses := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 20).Draw(t, "losses")
		gap := rapid.IntRange(0, 300).Draw(t, "silence")
		want, before := 100.0, 0
		for i := range len(losses) + gap {
			n := 0
			if i < len(losses) {
				n = losses[i]
				flp.Lost(start.Add(time.Duration(i)*time.Minute), n)
			}
			want = min(100, max(0, want+adjustment(n-before, lambda)))
			before = n
		}
		flp.Place(start.Add(time.Duration(len(losses)+gap)*time.Minute), &list{}, nil, Unknown{}, nil)
		if math.Abs(flp.percent-want) > 1e-9 {
			t.Fatalf("got %v, want %v", flp.percent, want)
		}
	})
}

// TestFitness has section 4.2.5's example: 0.7 + 1.5/3.
func TestFitness(t *testing.T) {
	p, _ := Parse("psopp")
	forecast := drawn{"a": {0.7, true}, "b": {0.2, false}}
	for _, tt := range []struct {
		name    string
		speed   float64
		slots   int
		running int
		want    float64
	}{
		{"a", 1.5, 1, 2, 1.2},
		{"a", 1.5, 3, 2, 2.2}, // a core for each
		{"b", 1, 1, 0, 2},     // no history
		{"b", 0, 1, 1, 1.5},   // nor speed
		{"b", 2, 1, 0, 3},     // section 7.4.2
	} {
		h := Host{Peer: task.PeerID(tt.name), Speed: tt.speed, Slots: tt.slots, Running: tt.running, Free: 9}
		got := p.(*PSOPP).fitness(time.Time{}, &Task{Work: time.Hour}, &h, forecast)
		if math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

// TestParticleMoves is Eq 4.8 and 4.9 with fixed random numbers.
func TestParticleMoves(t *testing.T) {
	for _, tt := range []struct {
		q                  particle
		best, r1, r2, vmax float64
		n                  int
		velocity, at       float64
	}{
		{particle{at: 3, velocity: 1, best: 5}, 8, 0.5, 0.25, 10, 20, 5.5, 8.5},    // 1 + 2*.5*2 + 2*.25*5
		{particle{at: 3, velocity: 1, best: 5}, 8, 1, 1, 10, 20, 10, 13},           // 15, cut at vmax
		{particle{at: 3, velocity: 0, best: 2}, 1, 0.5, 0.5, 10, 20, -3, 1},        // 0, cut at the first
		{particle{at: 18, velocity: 4, best: 18}, 18, 0.9, 0.9, 10, 20, 4, 20},     // 22, cut at the last
		{particle{at: 9, velocity: -20, best: 9}, 9, 0.9, 0.9, 2.5, 20, -2.5, 6.5}, // cut at -vmax
	} {
		q := tt.q
		q.move(tt.best, tt.r1, tt.r2, tt.vmax, tt.n)
		if math.Abs(q.velocity-tt.velocity) > 1e-12 || math.Abs(q.at-tt.at) > 1e-12 {
			t.Errorf("%+v: got velocity %v, position %v", tt, q.velocity, q.at)
		}
	}
}

func TestPositionsAreMembers(t *testing.T) {
	half, floor := &PSOPP{}, &PSOPP{floor: true}
	for _, tt := range []struct {
		at          float64
		half, floor int
	}{{1, 0, 0}, {1.49, 0, 0}, {1.5, 1, 0}, {2.99, 2, 1}, {3, 2, 2}} {
		if half.member(tt.at, 3) != tt.half || floor.member(tt.at, 3) != tt.floor {
			t.Errorf("%v: got %d and %d", tt.at, half.member(tt.at, 3), floor.member(tt.at, 3))
		}
	}
}

// TestSearchCost: a search never asks more often than it may, ends at the goal
// after a whole sweep, and returns the best that it saw.
func TestSearchCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &PSOPP{
			particles: rapid.IntRange(1, 20).Draw(t, "particles"), iterations: rapid.IntRange(1, 30).Draw(t, "iterations"),
			vmax: rapid.Float64Range(0.1, 10).Draw(t, "vmax"), goal: rapid.Float64Range(0, 2).Draw(t, "goal"),
			floor: rapid.Bool().Draw(t, "floor"),
		}
		fitness := rapid.SliceOfN(rapid.Float64Range(0, 2), 1, 40).Draw(t, "fitness")
		asked, best := 0, math.Inf(-1)
		got := p.search(len(fitness), rand.New(rand.NewPCG(1, 1)), func(k int) float64 {
			if best > p.goal && asked%p.particles == 0 {
				t.Fatal("went on after the goal")
			}
			asked++
			best = max(best, fitness[k])
			return fitness[k]
		})
		if asked > p.particles*p.iterations || fitness[got] != best {
			t.Fatalf("asked %d times; took %v of %v", asked, fitness[got], best)
		}
	})
}

// TestMoreIterationsFindBetter: on a slope of a thousand members a longer search
// gets higher, so that the iterations do something.
func TestMoreIterationsFindBetter(t *testing.T) {
	mean := func(iterations int) (sum float64) {
		p := &PSOPP{particles: 10, iterations: iterations, vmax: 100, goal: 1e6}
		for seed := range 50 {
			sum += float64(p.search(1000, rand.New(rand.NewPCG(1, uint64(seed))),
				func(k int) float64 { return float64(k) })) / 50
		}
		return sum
	}
	if one, twenty := mean(1), mean(20); twenty < one+20 {
		t.Errorf("mean rank %v after 1 iteration, %v after 20", one, twenty)
	}
}
