package sweep

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// TestModel is Karaduman's section 3.1: r runs of 10 trials take a node of P slots
// ceil(10 r / P) tau seconds, for the five nodes of the example.
func TestModel(t *testing.T) {
	s := worked("one")
	for i, want := range [][10]float64{
		{2, 3, 4, 5, 7, 8, 9, 10, 12, 13},                   // A: 8 slots of 1 s
		{7.5, 12.5, 20, 25, 32.5, 37.5, 45, 50, 57.5, 62.5}, // B: 4 of 2.5 s
		{3, 5, 8, 10, 13, 15, 18, 20, 23, 25},               // C: 4 of 1 s
		{10, 20, 30, 40, 50, 60, 70, 80, 90, 100},           // D: 1 of 1 s
		{5, 10, 15, 20, 25, 30, 35, 40, 45, 50},             // E: 1 of 0.5 s
	} {
		for k, seconds := range want {
			runs := k + 1
			p := &piece{runs: make([]int64, runs), done: make([]bool, runs), left: runs}
			places := make([]int, runs)
			for i := range places {
				places[i] = i
			}
			_, ends := s.schedule(&s.Nodes[i], p, places)
			if got := ends[runs-1].Seconds(); got != seconds {
				t.Errorf("node %s, %d runs: %v s, want %v", s.Nodes[i].Name, runs, got, seconds)
			}
		}
	}
}

// TestBound: work that can be divided at will takes as long as all speeds together need,
// those of nodes that are there.
func TestBound(t *testing.T) {
	node := func(slots int, tau, joins, leaves float64) Node {
		at := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
		return Node{Slots: slots, Time: at(tau), Joins: at(joins), Leaves: at(leaves)}
	}
	for _, tt := range []struct {
		runs  int64
		nodes []Node
		want  float64
	}{
		{100, []Node{node(1, 1, 0, 0)}, 100},
		{100, []Node{node(4, 1, 0, 0)}, 25},
		{90, []Node{node(1, 1, 0, 0), node(1, 0.5, 0, 0)}, 30},
		{90, []Node{node(1, 1, 0, 0), node(1, 0.5, 15, 0)}, 40},
		{90, []Node{node(1, 1, 0, 0), node(1, 0.5, 0, 15)}, 60},
	} {
		s := &Scenario{Runs: tt.runs, Nodes: tt.nodes}
		if got := s.bound().Seconds(); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("%d runs on %+v: %v s, want %v", tt.runs, tt.nodes, got, tt.want)
		}
	}
	slow := node(1, 1, 0, 0)
	slow.Slowed = Slowed{40 * time.Second, 30 * time.Second, 0.5} // 25 s of work in each 40
	if got := (&Scenario{Runs: 250, Nodes: []Node{slow}}).bound().Seconds(); math.Abs(got-400) > 1e-6 {
		t.Errorf("disturbed: %v s, want 400", got)
	}
	// The example's nodes do 8 + 1.6 + 4 + 1 + 2 trials a second.
	if got := worked("one").bound().Seconds(); math.Abs(got-600/16.6) > 1e-6 {
		t.Errorf("the example: %v s, want %v", got, 600/16.6)
	}
}

// TestEfficiencies: of the example, what each scheduler makes of the bound of 36.1 s, and
// how far nodes' last jobs are apart.
func TestEfficiencies(t *testing.T) {
	for _, tt := range []struct {
		policy                string
		efficiency            float64
		first, last, makespan float64
	}{
		{"amrs:rounds=3", 36.145 / 65, 40, 65, 65}, {"amra:rounds=3", 36.145 / 45, 30, 45, 45},
		{"samra:rounds=3", 36.145 / 40, 35, 40, 40}, {"ssse:peak=1,k=3,m=2.3", 36.145 / 38, 30, 38, 38},
	} {
		r, err := Run(worked(tt.policy))
		if err != nil {
			t.Fatal(err)
		}
		f := r.finishes()
		if math.Abs(r.Efficiency()-tt.efficiency) > 1e-4 || slices.Min(f).Seconds() != tt.first ||
			slices.Max(f).Seconds() != tt.last || r.Makespan.Seconds() != tt.makespan {
			t.Errorf("%s: efficiency %.4f, from %v to %v of %v", tt.policy, r.Efficiency(), slices.Min(f), slices.Max(f),
				r.Makespan)
		}
		if got := r.RelativeSpread(); math.Abs(got-(tt.last-tt.first)/tt.last) > 1e-9 ||
			r.Spread().Seconds() != tt.last-tt.first {
			t.Errorf("%s: spread %v, %v", tt.policy, r.Spread(), got)
		}
		if o := r.Optimality(); o <= tt.first/tt.last || o > 1 {
			t.Errorf("%s: optimality %v", tt.policy, o)
		}
	}
}

// TestMoreRounds: ten rounds of AMRS are worse than three (section 5.2: 70 s and 65 s).
func TestMoreRounds(t *testing.T) {
	r, err := Run(worked("amrs:rounds=10"))
	if err != nil || r.Makespan <= 65*time.Second {
		t.Errorf("%v, %v", r.Makespan, err)
	}
}

// TestCosts: a chunk costs its node, a message its coordinator, who serves one after the
// other.
func TestCosts(t *testing.T) {
	for _, tt := range []struct {
		name         string
		chunk, serve float64
		each         bool
		makespan     float64
		messages     int
	}{
		{"nothing costs", 0, 0, false, 6, 4},       // two nodes, 12 runs of 1 s in two chunks
		{"chunks cost", 2, 0, false, 8, 4},         // 2 + 6
		{"messages cost", 0, 1, false, 9, 4},       // the second chunk leaves at 2, ends at 8, is heard of at 9
		{"each result is told", 0, 0, true, 6, 14}, // 2 chunks and 12 results
	} {
		s := &Scenario{Policy: "static", Runs: 12, Each: tt.each, Chunk: time.Duration(tt.chunk * 1e9),
			Serve: time.Duration(tt.serve * 1e9)}
		for range 2 {
			s.Nodes = append(s.Nodes, Node{Slots: 1, Time: time.Second})
		}
		r, err := Run(s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Makespan.Seconds() != tt.makespan || r.Messages != tt.messages || r.Chunks != 2 {
			t.Errorf("%s: %v, %d messages, %d chunks", tt.name, r.Makespan, r.Messages, r.Chunks)
		}
	}
}

// TestComeAndGo: a node that comes late is given nothing before, and what one has that
// leaves is done again.
func TestComeAndGo(t *testing.T) {
	s := &Scenario{Policy: "one", Runs: 20, Trace: true, Nodes: []Node{
		{Name: "stays", Slots: 1, Time: time.Second},
		{Name: "late", Slots: 1, Time: time.Second, Joins: 5 * time.Second},
		{Name: "gone", Slots: 1, Time: 4 * time.Second, Leaves: 10 * time.Second},
	}}
	r, err := Run(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Trace {
		switch name := s.Nodes[c.Node].Name; {
		case name == "late" && c.Start < 5*time.Second, name == "gone" && c.Start >= 10*time.Second:
			t.Errorf("%s is given a chunk at %v", name, c.Start)
		case c.Over != (c.End-c.Start == s.Nodes[c.Node].Time):
			t.Errorf("%s: %+v", name, c)
		}
	}
	gone := r.Nodes[2]
	if r.Lost != 1 || gone.Runs != 2 || gone.Lost != 2*time.Second || gone.Busy != 8*time.Second || gone.Idle != 0 {
		t.Errorf("lost %d, %+v", r.Lost, gone)
	}
	busy := func(n *NodeReport) time.Duration { return n.Busy }
	if got := r.Sum(busy); got != 8*time.Second+18*time.Second {
		t.Errorf("all were busy for %v", got)
	}
}

// TestAgenda: what is to come goes by time, and at one instant in the order in which it
// was made.
func TestAgenda(t *testing.T) {
	var w world
	for i, at := range []time.Duration{3, 1, 2, 1} {
		w.at(at, event{kind: hears, node: i})
	}
	var got []string
	for len(w.agenda.events) > 0 {
		e := byTime.Pop(&w.agenda.events)
		got = append(got, fmt.Sprint(int64(e.at), ":", e.node))
	}
	if want := []string{"1:1", "1:3", "2:2", "3:0"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
