package sweep

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/chunk"
)

// Where the thesis's example has its strongest node last, nothing is copied.
func TestNoCopy(t *testing.T) {
	r, err := Run(worked("issse:peak=1,k=3,m=2.3"))
	if err != nil || r.Copies != 0 || r.Makespan != 38*time.Second {
		t.Errorf("%+v, %v", r, err)
	}
}

// A copy that ends first ends the slow node's chunk: what that had done is redundant.
func TestCopyEndsFirst(t *testing.T) {
	s := &Scenario{Policy: "issse:peak=3,k=2,least=1", Runs: 24, Trace: true, Nodes: []Node{
		{Name: "fast", Slots: 1, Time: time.Second}, {Name: "slow", Slots: 1, Time: 10 * time.Second},
	}}
	r, err := Run(s)
	if err != nil {
		t.Fatal(err)
	}
	fast, slow := r.Nodes[0], r.Nodes[1]
	if r.Copies == 0 || fast.Duplicate == 0 || slow.Redundant == 0 || fast.Runs+slow.Runs != 24 {
		t.Errorf("%s\n%+v", traceOf(s, r), r)
	}
}

func TestSlowed(t *testing.T) {
	w := Slowed{40 * time.Second, 30 * time.Second, 0.5}
	for _, tt := range []struct{ begin, work, want float64 }{
		{0, 15, 30}, {0, 25, 40}, {0, 20, 35}, {30, 10, 40}, {30, 11, 42}, {35, 55, 120}, {10, 10, 30}, {0, 250, 400},
	} {
		if got := w.elapsed(time.Duration(tt.begin*1e9), time.Duration(tt.work*1e9)); math.Abs(got.Seconds()-tt.want) > 1e-6 {
			t.Errorf("%v s of work from %v: until %v, want %v s", tt.work, tt.begin, got, tt.want)
		}
		if got := w.does(time.Duration(tt.begin*1e9), time.Duration(tt.want*1e9)); math.Abs(got-tt.work) > 1e-6 {
			t.Errorf("from %v to %v: %v s of work, want %v", tt.begin, tt.want, got, tt.work)
		}
	}
}

// Trials have the mean and the spread that are asked for.
func TestLengths(t *testing.T) {
	for _, cv := range []float64{0.2, 0.5, 1, 2} {
		s := &Scenario{Spread: cv, Seed: 7}
		sum, sq := 0.0, 0.0
		const n = 100_000
		rng := s.random(1)
		for range n {
			x := s.length(rng)
			sum, sq = sum+x, sq+x*x
		}
		mean := sum / n
		if got := math.Sqrt(sq/n-mean*mean) / mean; math.Abs(mean-1) > 0.03 || math.Abs(got-cv) > 0.05*cv {
			t.Errorf("spread %v: mean %v, spread %v", cv, mean, got)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, tt := range []struct {
		change func(s *Scenario)
		want   string
	}{
		{func(s *Scenario) { s.Runs = 0 }, "there can be 1"},
		{func(s *Scenario) { s.Nodes = nil }, "no nodes"},
		{func(s *Scenario) { s.Policy = "best" }, "no policy"},
		{func(s *Scenario) { s.Nodes[1].Time = 0 }, "node 1 (B)"},
		{func(s *Scenario) { s.Nodes[1].Slowed = Slowed{Every: 1, For: 1} }, "above 0"},
		{func(s *Scenario) { s.Spread = math.NaN() }, "spread"},
		{func(s *Scenario) {
			for i := range s.Nodes {
				s.Nodes[i].Leaves = time.Second
			}
		}, "60 runs are left"},
	} {
		s := worked("one")
		tt.change(s)
		if _, err := Run(s); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// Whatever the policy and the nodes, every run is done once, nodes' times add up, nobody
// beats the bound, and the same scenario has the same report.
func TestAnySweep(t *testing.T) { rapid.Check(t, anySweep) }

func anySweep(t *rapid.T) {
	s := &Scenario{
		Policy: rapid.SampledFrom(chunk.Names()).Draw(t, "policy"), Runs: rapid.Int64Range(1, 300).Draw(t, "runs"),
		Trials: rapid.IntRange(0, 12).Draw(t, "trials"),
		Chunk:  time.Duration(rapid.IntRange(0, 3).Draw(t, "chunk")) * time.Second,
		Serve:  time.Duration(rapid.IntRange(0, 3).Draw(t, "serve")) * time.Second / 4,
		Each:   rapid.Bool().Draw(t, "each"), Spread: rapid.SampledFrom([]float64{0, 0.5, 2}).Draw(t, "spread"), Seed: 3,
		Trace: true,
	}
	for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
		n := Node{Slots: rapid.IntRange(1, 16).Draw(t, "slots"),
			Time: time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond}
		if i > 0 { // the first stays
			n.Joins = time.Duration(rapid.IntRange(0, 50).Draw(t, "joins")) * time.Second
			if rapid.Bool().Draw(t, "goes") {
				n.Leaves = n.Joins + time.Duration(rapid.IntRange(1, 100).Draw(t, "stays"))*time.Second
			}
		}
		if rapid.Bool().Draw(t, "slowed") {
			n.Slowed = Slowed{40 * time.Second, 30 * time.Second, 0.5}
		}
		s.Nodes = append(s.Nodes, n)
	}
	r, err := Run(s)
	if err != nil {
		t.Fatal(err)
	}
	done := int64(0)
	for i, n := range r.Nodes {
		done += n.Runs
		for _, d := range []time.Duration{n.Busy, n.Duplicate, n.Redundant, n.Lost, n.Waiting, n.Idle} {
			if d < 0 {
				t.Fatalf("node %d: %+v", i, n)
			}
		}
	}
	if done != s.Runs {
		t.Fatalf("%d runs done of %d", done, s.Runs)
	}
	// Each trial is rounded to a nanosecond.
	if rounding := time.Duration(s.Runs * int64(max(s.Trials, 1)) * 2); r.Makespan < r.Bound-rounding {
		t.Fatalf("%v, the bound is %v", r.Makespan, r.Bound)
	}
	given := int64(0)
	for _, c := range r.Trace {
		if !c.Copy {
			given += int64(c.Runs)
		}
		if c.End < c.Start {
			t.Fatalf("%+v", c)
		}
	}
	if given != s.Runs+r.Lost {
		t.Fatalf("%d runs given, of %d with %d lost", given, s.Runs, r.Lost)
	}
	again, _ := Run(s)
	if !reflect.DeepEqual(r, again) {
		t.Fatal("another report of the same scenario")
	}
}
