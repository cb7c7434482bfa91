package shares

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"godwit/scheduler/share"
)

// growth is how many nodes of each cluster each bag holds after the first scan, which
// finds so many nodes of each cluster busy.
func growth(t *testing.T, policy string, clusters []Cluster, busy []int, bags int) [][]int {
	t.Helper()
	sc := &Scenario{Clusters: clusters, Policy: policy, Scan: time.Hour, Poll: time.Hour, Until: s, Seed: 1}
	for i := range bags {
		sc.Bags = append(sc.Bags, Bag{Name: string(rune('a' + i)), Tasks: 1000, Work: 10 * time.Hour})
	}
	for i, n := range busy {
		if n > 0 {
			sc.Higher = append(sc.Higher, Higher{Cluster: i, Parts: 1, Nodes: n, Run: 10 * time.Hour})
		}
	}
	if err := sc.validate(); err != nil {
		t.Fatal(err)
	}
	p, err := share.Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	// Bags and local jobs come at 0, as the first scan does; what comes is made first.
	w := newWorld(sc, p, share.Random)
	w.run()
	var out [][]int
	for _, b := range w.bags {
		var held []int
		for _, ls := range b.launchers {
			held = append(held, len(ls))
		}
		out = append(out, held)
	}
	return out
}

// TestEquiPartition is Grundeken's section 3.7.1: of 9 and 6 idle nodes three bags get 5
// each. SEP gives all the same mix of sites, GEP does not look at sites.
func TestEquiPartition(t *testing.T) {
	clusters := []Cluster{{Name: "A", Nodes: 9}, {Name: "B", Nodes: 6}}
	for policy, want := range map[string]string{
		"sep:guard=gate": "[[3 2] [3 2] [3 2]]", "gep:guard=gate": "[[5 0] [4 1] [0 5]]",
	} {
		if got := fmt.Sprint(growth(t, policy, clusters, nil, 3)); got != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
}

// TestGuard is the overload guard of section 3.6.1 on DAS-3: with so many nodes of a
// cluster in use, or of the grid, nothing grows there; with one fewer it does.
func TestGuard(t *testing.T) {
	for _, tt := range []struct{ nodes, full int }{{85, 68}, {32, 26}, {41, 33}, {68, 55}, {46, 37}} {
		for _, busy := range []int{tt.full - 1, tt.full} {
			held := growth(t, "sep:guard=gate", []Cluster{{Name: "A", Nodes: tt.nodes}}, []int{busy}, 1)[0][0]
			want := tt.nodes - busy // a gate lets all of them grow at once
			if busy == tt.full {
				want = 0
			}
			if held != want {
				t.Errorf("%d of %d nodes in use: a bag grows by %d, want %d", busy, tt.nodes, held, want)
			}
		}
	}
	das3 := []Cluster{{Nodes: 85}, {Nodes: 32}, {Nodes: 41}, {Nodes: 68}, {Nodes: 46}}
	for busy, want := range map[int]int{217: 55, 218: 0} {
		left, used := busy, make([]int, len(das3))
		for i, c := range das3 {
			used[i] = min(left, c.Nodes)
			left -= used[i]
		}
		held := 0
		for _, n := range growth(t, "gep:guard=gate", das3, used, 1)[0] {
			held += n
		}
		if held != want {
			t.Errorf("%d of 272 nodes in use: a bag grows by %d, want %d", busy, held, want)
		}
	}
}

// TestGiveUpNoMoreThanHeld: a bag gives back as many as are wanted, or all that it has
// (section 3.7.2).
func TestGiveUpNoMoreThanHeld(t *testing.T) {
	for _, tt := range []struct{ held, wanted, gone int }{{3, 5, 3}, {8, 5, 5}, {8, 8, 8}, {5, 6, 5}, {8, 1, 1}} {
		sc := one(tt.held, 1)
		sc.Clusters[0].Nodes = max(tt.held, tt.wanted)
		sc.Bounded, sc.Bags[0].Tasks = true, tt.held
		sc.Together = true
		sc.Higher = []Higher{{At: 1000 * s, Parts: 1, Nodes: tt.wanted, Run: time.Hour}}
		sc.Costs.Stop = 20 * s
		sc.Until = 1015 * s
		if got := mustRun(t, sc).Preempted(); got != tt.gone {
			t.Errorf("%d held, %d wanted: %d gone, want %d", tt.held, tt.wanted, got, tt.gone)
		}
	}
}

// TestDispatch: a local scheduler starts one part after the other, in the order of
// arrival, and nobody goes before the first that waits.
func TestDispatch(t *testing.T) {
	sc := &Scenario{Clusters: []Cluster{{Nodes: 10}}, Policy: "sep", Scan: s, Poll: s,
		Costs: Costs{Dispatch: 2 * s, Start: 5 * s}}
	sc.Higher = []Higher{
		{At: 0, Parts: 1, Nodes: 6, Run: 60 * s},       // runs from 7 to 67
		{At: s, Parts: 1, Nodes: 6, Run: 60 * s},       // waits for the first: dispatched at 67, from 74 to 134
		{At: 2 * s, Parts: 1, Nodes: 2, Run: 10 * s},   // fits, and waits behind the second: 67, after it, from 76 to 86
		{At: 100 * s, Parts: 2, Nodes: 2, Run: 10 * s}, // one after the other: 102+5+10, 104+5+10
	}
	r := mustRun(t, sc)
	for i, want := range []HigherReport{{0, 67 * s}, {66 * s, 133 * s}, {65 * s, 84 * s}, {0, 19 * s}} {
		if r.Higher[i] != want {
			t.Errorf("job %d: got %+v, want %+v", i, r.Higher[i], want)
		}
	}
	if r.Length != 134*s {
		t.Errorf("it takes %v", r.Length)
	}
}

// TestNodeTime: idle, held and higher work are all of the nodes' time.
func TestNodeTime(t *testing.T) {
	sc := &Scenario{Clusters: []Cluster{{Nodes: 4}}, Policy: "sep", Scan: 1000 * s, Poll: 1000 * s, Until: 100 * s}
	sc.Higher = []Higher{{At: 20 * s, Parts: 1, Nodes: 1, Run: 40 * s}}
	r := mustRun(t, sc)
	if math.Abs(r.Above-.1) > 1e-9 || math.Abs(r.Idle-.9) > 1e-9 || r.Held != 0 {
		t.Errorf("without bags: %+v", r)
	}
	sc.Higher = nil
	sc.Bags = []Bag{{Tasks: 2, Work: 50 * s}}
	sc.Bounded = true
	r = mustRun(t, sc)
	if math.Abs(r.Held-.25) > 1e-9 || r.Bags[0].Held != 100*s || r.Bags[0].Makespan != 50*s {
		t.Errorf("a bag of two tasks: %+v", r)
	}
}

// TestSpeed: a task is as long as its work by its cluster's speed.
func TestSpeed(t *testing.T) {
	for speed, want := range map[float64]time.Duration{0: 60 * s, 1: 60 * s, 2: 30 * s, .5: 120 * s} {
		sc := &Scenario{Clusters: []Cluster{{Nodes: 1, Speed: speed}}, Bags: []Bag{{Tasks: 1, Work: 60 * s}}, Scan: s,
			Poll: s}
		if got := mustRun(t, sc).Bags[0].Makespan; got != want {
			t.Errorf("speed %v: %v, want %v", speed, got, want)
		}
	}
}

// TestVary: lengths of tasks follow from the seed and the task's number alone, lie within
// Vary of Work, and have Work as their mean.
func TestVary(t *testing.T) {
	sc := &Scenario{Clusters: []Cluster{{Nodes: 1}}, Scan: s, Poll: s, Seed: 5}
	for range 2 {
		sc.Bags = append(sc.Bags, Bag{Tasks: 10_000, Work: 100 * s, Vary: .5})
	}
	w := newWorld(sc, nil, share.Random)
	sum := time.Duration(0)
	var lengths []time.Duration
	for k := range 10_000 {
		d := w.bags[0].work(k)
		if d != w.bags[1].work(k) || d < 50*s || d > 150*s {
			t.Fatalf("task %d: %v and %v", k, d, w.bags[1].work(k))
		}
		sum += d
		lengths = append(lengths, d)
	}
	if mean := sum / 10_000; mean < 99*s || mean > 101*s {
		t.Errorf("the mean is %v", mean)
	}
	if slices.Max(lengths)-slices.Min(lengths) < 99*s {
		t.Errorf("from %v to %v", slices.Min(lengths), slices.Max(lengths))
	}
}

// TestDirect: where each task is submitted by itself, it waits for the local scheduler; a
// launcher that stays is started once (section 4.2).
func TestDirect(t *testing.T) {
	for direct, want := range map[bool]time.Duration{true: 4 * 13 * s, false: 13*s + 3*10*s} {
		sc := &Scenario{Clusters: []Cluster{{Nodes: 1}}, Bags: []Bag{{Tasks: 4, Work: 10 * s}}, Scan: s, Poll: s,
			Direct: direct, Bounded: true, Costs: Costs{Start: 3 * s}}
		if got := mustRun(t, sc).Bags[0].Makespan; got < want || got > want+3*s {
			t.Errorf("direct %v: %v, want %v and what scans take", direct, got, want)
		}
	}
}

func TestTally(t *testing.T) {
	var y tally
	if got := y.times(); got != (Times{}) {
		t.Errorf("nothing counted: %+v", got)
	}
	for _, d := range []time.Duration{s, 2 * s, 6 * s} {
		y.add(d)
	}
	if got := y.times(); got != (Times{3, 3 * s, 6 * s}) {
		t.Errorf("got %+v", got)
	}
}
