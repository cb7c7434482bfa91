package simpetek

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/spectable"
	"godwit/reproduce"
	"godwit/reproduce/simpetek/sweep"
	"godwit/scheduler/chunk"
)

// TestNodes: the thesis lists 15 nodes of 103 slots, and six for group 3.
func TestNodes(t *testing.T) {
	for _, tt := range []struct {
		cluster      cluster
		nodes, slots int
	}{{allNodes, 15, 5*15 + 6*4 + 4}, {group3Nodes, 6, 3*15 + 2*4 + 1}} {
		nodes := tt.cluster.nodes()
		slots := 0
		for _, n := range nodes {
			slots += n.Slots
			if want := map[int]int{16: 15, 4: 4, 2: 1}[n.Cores]; n.Slots != want {
				t.Errorf("a node of %d cores has %d slots, want %d", n.Cores, n.Slots, want)
			}
			tau := map[int]float64{16: tau16, 4: tau4, 2: tau2}[n.Cores]
			if off := n.Time.Seconds()/tau - 1; math.Abs(off) > nodesDiffer+1e-9 {
				t.Errorf("a node of %d cores takes %v for a trial", n.Cores, n.Time)
			}
		}
		if len(nodes) != tt.nodes || slots != tt.slots {
			t.Errorf("%d nodes, %d slots, want %d and %d", len(nodes), slots, tt.nodes, tt.slots)
		}
	}
}

// TestGroup1Cases: 41 configurations of the five schedulers, by 6 cases 246 executions;
// what is published as best is the specification's.
func TestGroup1Cases(t *testing.T) {
	rows := spectable.Read(t, "../..", "simpetek.md", "5.2.2.1")[0][1:]
	configurations := 0
	for i, f := range families("") {
		configurations += len(f.policies)
		if len(f.rounds) != len(f.policies) || !slices.IsSorted(f.rounds) {
			t.Errorf("%s: rounds %v of %v", f.name, f.rounds, f.policies)
		}
		for _, p := range f.policies {
			if err := chunk.Check(p); err != nil || !strings.HasPrefix(p, f.name+":") {
				t.Errorf("%s: %v", p, err)
			}
		}
		row := rows[min(i, len(rows)-1)]
		if !strings.Contains(strings.ToLower(row[0]), f.name) {
			t.Errorf("%s is specified as %s", f.name, row[0])
		}
		if best := strings.Split(f.published, ", "); i < 3 {
			for k, want := range row[1:] {
				want, _, _ = strings.Cut(want, " (")
				if !strings.HasPrefix(best[k], want) {
					t.Errorf("%s: the best is %q, specified is %q", f.name, best[k], want)
				}
			}
		}
	}
	cases := len(group1Trials) * len(group1Runs)
	if configurations != 41 || cases != 6 || configurations*cases != 246 {
		t.Errorf("%d configurations, %d cases", configurations, cases)
	}
	if got := fmt.Sprint(largeCases); got != "[[1000 50] [2000 50] [2000 80] [2000 100]]" {
		t.Errorf("the cases of Fig 5.8 are %s", got)
	}
}

func TestTriples(t *testing.T) {
	var got []string
	for _, p := range triples {
		got = append(got, p.of("issse", ",least=1"))
	}
	want := []string{
		"issse:peak=1,k=3,m=2,least=1", "issse:peak=1,k=5,m=3.3,least=1", "issse:peak=2,k=15,m=10.5,least=1",
		"issse:peak=3,k=30,m=20.3,least=1", "issse:peak=5,k=50,m=33,least=1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// Figs 5.7 and 5.8 have 15 rounds of each.
	if got := fmt.Sprint(fifteen("")); got != "[issse:peak=2,k=15,m=10.5 ssse:peak=2,k=15,m=10.5 samra:rounds=15 "+
		"amra:rounds=15]" {
		t.Errorf("got %s", got)
	}
}

// rounds makes up what came of a family: at 100, 400 and 800 runs the given number of
// rounds is best, and each step away costs so many percent.
func rounds(f family, best [3]int, cost float64) map[request]swept {
	got := map[request]swept{}
	for k, s := range group1Runs {
		at := slices.Index(f.rounds, best[k])
		for i, p := range f.policies {
			x := 1.1 + cost/100*math.Abs(float64(i-at))
			for _, m := range group1Trials {
				got[request{policy: p, runs: s, trials: m}] = swept{makespan: x * 50, bound: 50}
			}
		}
	}
	return got
}

func TestBestRounds(t *testing.T) {
	all := families("")
	for _, tt := range []struct {
		family       int
		best         [3]int
		cost         float64
		obtained     string
		number       reproduce.Verdict // "" where no number is published
		grows, rises bool
	}{
		{0, [3]int{2, 5, 5}, 10, "2, 5, 5", reproduce.Equal, true, true},
		{1, [3]int{3, 8, 20}, 5, "3, 8, 20", reproduce.Equal, true, true},
		{1, [3]int{3, 8, 30}, .9, "3, 8, 30", reproduce.Within, true, true},
		{2, [3]int{3, 5, 8}, 5, "3, 5, 8", reproduce.Differs, true, true},
		{2, [3]int{10, 10, 10}, 5, "10, 10, 10", reproduce.Differs, false, true},
		{3, [3]int{3, 5, 15}, .1, "3, 5, 15", "", true, false},
		{4, [3]int{3, 50, 15}, 5, "3, 50, 15", "", false, false},
	} {
		b := &bench{&reproduce.Bench{}, 1}
		f := all[tt.family]
		b.bestRounds(f, rounds(f, tt.best, tt.cost))
		cells := b.Cells
		if tt.number != "" {
			if c := cells[0]; c.Verdict != tt.number || c.Obtained != tt.obtained || c.Published != f.published ||
				c.Unexplained() {
				t.Errorf("%s: %+v, want %s", f.name, c, tt.number)
			}
			cells = cells[1:]
		}
		grow, past := cells[0], cells[1]
		if len(cells) != 2 || grow.Obtained != tt.obtained || (grow.Verdict == reproduce.Direction) != tt.grows ||
			grow.Unexplained() {
			t.Errorf("%s: %+v", f.name, grow)
		}
		if (past.Verdict == reproduce.Direction) != tt.rises || past.Published != "rises" {
			t.Errorf("%s: %+v", f.name, past)
		}
		fig := b.Figures[0]
		if len(fig.Curves) != 3 || len(fig.Curves[0].X) != len(f.rounds) || fig.Curves[2].Name != "800 runs" {
			t.Errorf("%s: %+v", f.name, fig)
		}
	}
}

// times15 makes up makespans and spreads of ISSSE, SSSE, SAMRA and AMRA in all cases.
func times15(makespans, spreads [4]float64) map[request]swept {
	got := map[request]swept{}
	put := func(s, m int) {
		for i, p := range fifteen("") {
			x := makespans[i]
			got[request{policy: p, runs: s, trials: m}] = swept{makespan: x, low: x - 1, high: x + 1, spread: spreads[i]}
		}
	}
	for _, m := range group1Trials {
		for _, s := range group1Runs {
			put(s, m)
		}
	}
	for _, c := range largeCases {
		put(c[0], c[1])
	}
	return got
}

func TestOrderOfSchedulers(t *testing.T) {
	for _, tt := range []struct {
		name                string
		makespans, spreads  [4]float64
		first, order, close bool
		obtained            string
	}{
		{"as published", [4]float64{100, 101, 102, 103}, [4]float64{.02, .03, .1, .2}, true, true, true,
			"ISSSE 100.0, SSSE 101.0, SAMRA 102.0, AMRA 103.0 s"},
		{"SSSE first", [4]float64{101, 100, 102, 103}, [4]float64{.2, .03, .1, .2}, false, false, false,
			"ISSSE 101.0, SSSE 100.0, SAMRA 102.0, AMRA 103.0 s"},
		{"AMRA before SAMRA", [4]float64{100, 101, 103, 102}, [4]float64{.02, .03, .2, .1}, true, false, false,
			"ISSSE 100.0, SSSE 101.0, SAMRA 103.0, AMRA 102.0 s"},
	} {
		b := &bench{&reproduce.Bench{}, 1}
		got := times15(tt.makespans, tt.spreads)
		b.atFifteen(got, "")
		b.atLarge(got, "")
		b.spreads(got, "")
		if len(b.Cells) != 7 {
			t.Fatalf("%d cells", len(b.Cells))
		}
		holds := func(c reproduce.Cell) bool { return c.Verdict == reproduce.Direction }
		if holds(b.Cells[0]) != tt.first || holds(b.Cells[1]) != tt.order || holds(b.Cells[6]) != tt.close {
			t.Errorf("%s: %+v", tt.name, b.Cells)
		}
		if b.Cells[1].Cell != "Fig 5.8, MC50NumberOfRuns1000" || b.Cells[4].Cell != "Fig 5.8, MC100NumberOfRuns2000" ||
			b.Cells[1].Obtained != tt.obtained {
			t.Errorf("%s: %+v", tt.name, b.Cells[1])
		}
	}
	// The reading of small shares is chosen by whether nodes end nearly together.
	for spread, want := range map[float64]reproduce.Verdict{.09: reproduce.Fitted, .11: reproduce.Differs} {
		b := &bench{&reproduce.Bench{}, 1}
		b.spreads(times15([4]float64{}, [4]float64{.02, spread, .2, .3}), "")
		if c := b.Cells[0]; c.Verdict != want || c.Unexplained() {
			t.Errorf("a spread of %v: %+v", spread, c)
		}
	}
	for _, tt := range []struct {
		xs   []float64
		want float64
	}{{[]float64{1, 2, 3}, 0}, {[]float64{1, 2, 1.6}, .25}, {[]float64{3, 2, 1}, 2}, {nil, 0}} {
		if got := disorder(tt.xs); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", tt.xs, got, tt.want)
		}
	}
}

func TestPlansAndIdleTime(t *testing.T) {
	plans := triples[2:]
	for _, tt := range []struct {
		gains map[int][]float64 // of each plan, by runs
		want  reproduce.Verdict
	}{
		{map[int][]float64{500: {.1, .1, .05}, 1000: {.1, .1, .1}, 1500: {.1, .1, .12}}, reproduce.Direction},
		{map[int][]float64{500: {.1, .1, .12}, 1000: {.1, .1, .1}, 1500: {.1, .1, .12}}, reproduce.Differs},
		// a loss that becomes less
		{map[int][]float64{500: {.7, .1, .1}, 1000: {.3, .1, .1}, 1500: {.2, .1, .1}}, reproduce.Differs},
	} {
		b := &bench{&reproduce.Bench{}, 1}
		b.growingPlans([]int{500, 1000, 1500}, plans, tt.gains)
		c := b.Cells[0]
		if c.Verdict != tt.want || c.Unexplained() || !strings.HasPrefix(c.Published, "grows with the runs") {
			t.Errorf("%+v", c)
		}
	}
	for idle, want := range map[[2]float64]reproduce.Verdict{{.1, .01}: reproduce.Direction, {.1, .2}: reproduce.Differs,
		{.1, .05}: reproduce.Differs, {.01, .01}: reproduce.Differs} {
		b := &bench{&reproduce.Bench{}, 1}
		b.idleOf(map[request]swept{
			{policy: "calibrated", runs: 1000, trials: 100}:             {idle: idle[0]},
			{policy: plans[0].of("issse", ""), runs: 1000, trials: 100}: {idle: idle[1]},
		}, plans, "")
		if c := b.Cells[0]; c.Verdict != want || !strings.Contains(c.Cell, "MC100NumberOfRuns1000") {
			t.Errorf("%v idle: %+v", idle, c)
		}
	}
}

// TestRounds: rounds are the published budgets, and what floors leave over is in the last.
func TestRounds(t *testing.T) {
	for _, tt := range []struct {
		runs int64
		plan triple
		want string
	}{
		{100, triple{1, 3, 2}, "[50 43 7]"}, {100, triple{1, 5, 3.3}, "[30 28 24 17 1]"},
		{400, triple{2, 15, 10.5}, "[26 38 37 37 36 34 32 30 28 25 22 19 15 11 7 3]"},
		{60, triple{1, 3, 2.3}, "[26 22 12]"}, {100, triple{2, 2, 10}, "[7 10 83]"},
	} {
		if got := fmt.Sprint(tt.plan.rounds(tt.runs)); got != tt.want {
			t.Errorf("%d runs, %v: %s, want %s", tt.runs, tt.plan, got, tt.want)
		}
	}
}

// TestFixedShares: each node does its share of all runs by cores, however slow it is, unless
// copies do its last chunk again, and a rival that takes the next chunk does not keep to it.
func TestFixedShares(t *testing.T) {
	nodes := []sweep.Node{{Name: "16", Slots: 15, Cores: 16, Time: time.Second},
		{Name: "4", Slots: 4, Cores: 4, Time: 4 * time.Second}, {Name: "2", Slots: 1, Cores: 2, Time: time.Second}}
	for _, tt := range []struct {
		rival rival
		want  [3]int64 // runs of 400 by node; 0 is not checked
		slow  bool     // the second node sets the makespan
	}{
		{rival{"", "ssse", true}, [3]int64{291, 73, 36}, true},
		{rival{"", "issse", true}, [3]int64{}, true},
		{rival{"", "ssse", false}, [3]int64{}, false},
	} {
		r, err := sweep.Run(tt.rival.of(request{runs: 400, trials: 20}, triples[2], ",least=1").scenario(nodes, 1))
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for i, n := range r.Nodes {
			sum += n.Runs
			if tt.want[i] > 0 && n.Runs != tt.want[i] {
				t.Errorf("%+v: node %s did %d runs, want %d", tt.rival, n.Name, n.Runs, tt.want[i])
			}
		}
		if off := math.Abs(float64(r.Nodes[1].Runs)/73 - 1); sum != 400 || off < .25 != tt.slow {
			t.Errorf("%+v: %d runs in all, %d on the slow node", tt.rival, sum, r.Nodes[1].Runs)
		}
		if copies := r.Copies > 0; copies != (tt.rival.policy == "issse") {
			t.Errorf("%+v: %d copies", tt.rival, r.Copies)
		}
	}
}

// reportOf is a sweep of two nodes, one of which was idle for a part of the makespan.
func reportOf(seconds, idle float64, lost int64) *sweep.Report {
	at := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	return &sweep.Report{
		Makespan: at(seconds), Bound: at(seconds * .9), Chunks: 10, Copies: 2, Lost: lost,
		Nodes: []sweep.NodeReport{
			{Busy: at(seconds), Finish: at(seconds)},
			{Busy: at(seconds - idle), Idle: at(idle), Finish: at(seconds - idle)},
		},
	}
}

func TestMeans(t *testing.T) {
	o := meanSwept([]*sweep.Report{reportOf(100, 20, 0), reportOf(50, 10, 0)})
	want := swept{makespan: 75, bound: 67.5, low: 50, high: 100, spread: .2, optimal: .9, chunks: 10, copies: 2, busy: .9,
		idle: .1}
	for _, tt := range []struct{ got, want float64 }{
		{o.makespan, want.makespan}, {o.bound, want.bound}, {o.low, want.low}, {o.high, want.high}, {o.spread, want.spread},
		{o.optimal, want.optimal}, {o.chunks, want.chunks}, {o.copies, want.copies}, {o.busy, want.busy}, {o.idle, want.idle},
		{o.dup, 0}, {o.redun, 0}, {o.waiting, 0},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9 {
			t.Errorf("got %+v, want %+v", o, want)
		}
	}
	worse := reportOf(100, 20, 6)
	worse.Bound = 80 * time.Second
	mean, least, chunks, lost := efficiency([]*sweep.Report{reportOf(100, 20, 0), worse})
	if math.Abs(mean-.85) > 1e-9 || math.Abs(least-.8) > 1e-9 || chunks != 10 || lost != 3 {
		t.Errorf("got %v, %v, %v, %v", mean, least, chunks, lost)
	}
}

// TestLive: every policy of the live experiment can be made, the default first, and what
// may befall nodes is what the worlds say.
func TestLive(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range livePolicies {
		if err := chunk.Check(p); err != nil || seen[p] {
			t.Errorf("%s: %v, twice %v", p, err, seen[p])
		}
		seen[p] = true
	}
	for _, name := range chunk.Names() {
		if !slices.ContainsFunc(livePolicies, func(p string) bool { return p == name || strings.HasPrefix(p, name+":") }) {
			t.Errorf("%s is not compared", name)
		}
	}
	if livePolicies[0] != chunk.Default {
		t.Errorf("%s is first, not the default", livePolicies[0])
	}
	var got []string
	for _, w := range liveWorlds {
		nodes := make([]sweep.Node, len(liveSpeeds))
		w.change(nodes)
		slowed, late, gone := 0, 0, 0
		for _, n := range nodes {
			if n.Slowed.Every > 0 {
				slowed++
			}
			if n.Joins > 0 {
				late++
			}
			if n.Leaves > 0 {
				gone++
			}
		}
		got = append(got, fmt.Sprint(w.name, " ", slowed, " ", late, " ", gone))
	}
	if want := []string{"quiet 0 0 0", "slowed 4 0 0", "churn 0 2 2"}; !slices.Equal(got, want) {
		t.Errorf("slowed, late and gone: %v, want %v", got, want)
	}
}

// TestExampleTables: the worked example's cells and traces, by instant, are those of
// docs/spec/simpetek.md.
func TestExampleTables(t *testing.T) {
	r, err := Experiments()[0].Run(reproduce.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"0 A8 B4 C4 D2 E2; 25 A9 B3 C5 D2 E3; 45 A10 B3 C5",
		"0 A8 B4 C4 D2 E2; 10 A8 C4 E2; 20 A8 C4 E2 D2; 25 B3; 30 A7",
		"0 A4 B2 C2 D1 E1; 5 A8 C4 E2; 10 D2; 12.5 B2; 15 A8 C4 E2; 25 A8 C4 E2 B2; 30 D1; 35 A1",
		"0 A8 B4 C4 D2 E2; 10 A8 C4 E2; 20 A8 C4 E2 D1; 25 B2; 30 A4 C2 E1; 35 A2",
		"0 A8 B4 C4 D2 E2; 10 A8 C4 E2; 20 A8 C4 E2 D1; 25 B2; 30 A4 C2 E1; 35 A2",
	} {
		var got strings.Builder
		last, runs := "", 0
		for _, row := range r.Tables[i].Rows {
			if row[0] != last {
				if last != "" {
					got.WriteString("; ")
				}
				got.WriteString(row[0])
				last = row[0]
			}
			got.WriteString(" " + row[1] + row[2])
			n := 0
			fmt.Sscan(row[2], &n)
			runs += n
		}
		if got.String() != want || runs != 60 {
			t.Errorf("%s: %d runs, %s, want %s", r.Tables[i].Title, runs, got.String(), want)
		}
	}
	for i, want := range []struct {
		published, obtained string
		verdict             reproduce.Verdict
	}{
		{"65 s", "65 s", reproduce.Equal}, {"45 s", "45 s", reproduce.Equal}, {"40 s", "40 s", reproduce.Equal},
		{"39 s", "38 s", reproduce.Within}, {"39 s", "38 s", reproduce.Within},
		{"70 s, worse than with 3", "76.5 s", reproduce.Direction}, {"a figure", "-", reproduce.Unrecoverable},
	} {
		if c := r.Cells[i]; c.Published != want.published || c.Obtained != want.obtained || c.Verdict != want.verdict {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
}
