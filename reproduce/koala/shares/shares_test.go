package shares

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/scheduler/share"
)

const s = time.Second

// mustRun runs a scenario that must run.
func mustRun(t interface{ Fatal(...any) }, sc *Scenario) *Report {
	r, err := Run(sc)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one is a cluster with bags of long tasks.
func one(nodes, bags int) *Scenario {
	sc := &Scenario{Clusters: []Cluster{{Name: "A", Nodes: nodes}}, Policy: "sep", Scan: s, Poll: 10 * s, Until: 2000 * s,
		Seed: 1}
	for i := range bags {
		sc.Bags = append(sc.Bags, Bag{Name: string(rune('a' + i)), Tasks: 100 * nodes, Work: time.Hour})
	}
	return sc
}

// TestIdeal: tasks cannot be divided, so that 1000 of 30 s on 68 nodes take 15
// times 30 s (Grundeken 2009, section 4.2).
func TestIdeal(t *testing.T) {
	r := mustRun(t, &Scenario{Clusters: []Cluster{{Nodes: 68}}, Bags: []Bag{{Tasks: 1000, Work: 30 * s}}, Scan: s, Poll: s,
		Seed: 1})
	b := r.Bags[0]
	if b.Makespan != 450*s || math.Abs(b.Throughput-2.222) > 0.001 || b.Completed != 1000 || b.Lost != 0 {
		t.Errorf("got %+v", b)
	}
}

// TestPipelining: while some nodes are cleared, parts for which there are enough
// start. f(i) = max(f(i-1), i*m*p) + s and the makespan is f(k) + r, for k parts of
// m nodes (Grundeken 2009, Fig. 4.1).
func TestPipelining(t *testing.T) {
	for _, tt := range []struct {
		parts, nodes int
		alone, with  time.Duration
	}{{4, 10, 80 * s, 105 * s}, {1, 40, 65 * s, 105 * s}, {40, 1, 260 * s, 261 * s}} {
		for _, bags := range []int{0, 1} {
			sc := one(40, bags)
			sc.Poll, sc.Together, sc.Costs = 10*time.Millisecond, true, Costs{Dispatch: 5 * s, StopEach: s}
			sc.Higher = []Higher{{At: 1000 * s, Parts: tt.parts, Nodes: tt.nodes, Run: 60 * s}}
			want := tt.alone
			if bags > 0 {
				want = tt.with
			}
			got := mustRun(t, sc).Higher[0].Makespan
			if got < want || got > want+sc.Poll {
				t.Errorf("%d parts of %d nodes, %d bags: got %v, want %v", tt.parts, tt.nodes, bags, got, want)
			}
		}
	}
}

// TestDrastic: three bags that do not ask one another give back three times what is
// wanted, and one lookout for all as much as is wanted.
func TestDrastic(t *testing.T) {
	for _, tt := range []struct {
		policy   string
		together bool
		want     int
	}{{"sep:local=drastic", false, 30}, {"sep:local=proportional", false, 12}, {"sep", true, 10}} {
		sc := one(60, 3)
		sc.Policy, sc.Together = tt.policy, tt.together
		sc.Costs.Stop = 20 * s // longer than until each has looked
		sc.Scan = 500 * s      // no growth meanwhile
		sc.Higher = []Higher{{At: 1000 * s, Parts: 1, Nodes: 10, Run: 60 * s}}
		sc.Until = 1010*s - 1 // each has looked once
		if got := mustRun(t, sc).Preempted(); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.policy, got, tt.want)
		}
	}
}

// TestShrunkToNothing: a bag without a node is still there, and grows again.
func TestShrunkToNothing(t *testing.T) {
	sc := one(4, 1)
	sc.Until, sc.Bags[0].Work = 0, 100*s
	sc.Bags[0].Tasks = 8
	sc.Higher = []Higher{{At: 50 * s, Parts: 4, Nodes: 1, Run: 1000 * s}}
	r := mustRun(t, sc)
	b := r.Bags[0]
	if b.Completed != 8 || b.Preempted != 4 || b.Makespan < 1250*s || b.Makespan > 1265*s || b.Lost < 200*s ||
		b.Lost > 240*s {
		t.Errorf("got %+v", b)
	}
}

// TestCheckpoints: of a task given up only what its last checkpoint has not is done
// again.
func TestCheckpoints(t *testing.T) {
	sc := one(1, 1)
	sc.Until, sc.Bags[0].Work, sc.Bags[0].Tasks = 0, 100*s, 1
	sc.Checkpoint = 20 * s
	sc.Poll = s
	sc.Higher = []Higher{{At: 70 * s, Parts: 1, Nodes: 1, Run: 30 * s}}
	b := mustRun(t, sc).Bags[0]
	if b.Lost < 10*s || b.Lost > 11*s || b.Makespan < 140*s || b.Makespan > 142*s {
		t.Errorf("got %+v", b)
	}
}

// TestGridJob: its parts go where nodes can be had, and bags give back what lacks.
func TestGridJob(t *testing.T) {
	sc := one(20, 2)
	sc.Clusters = append(sc.Clusters, Cluster{Name: "B", Nodes: 6})
	sc.Poll = time.Hour // only the scheduler looks
	sc.Costs = Costs{Claim: 20 * s, Stop: 5 * s}
	sc.Higher = []Higher{{At: 1000 * s, Cluster: Anywhere, Parts: 4, Nodes: 5, Run: 60 * s}}
	r := mustRun(t, sc)
	// 20 nodes and 6: three parts fit the first before the second has as many.
	if got := r.Preempted(); got != 20 {
		t.Errorf("got %d", got)
	}
	if h := r.Higher[0]; h.Makespan < 80*s || h.Makespan > 81*s {
		t.Errorf("got %+v: the nodes were to be free once they are claimed", h)
	}
}

func TestReport(t *testing.T) {
	r := &Report{Bags: []BagReport{{Throughput: 0.0427}, {Throughput: 0.0391}, {Throughput: 0.0360}}}
	if got := r.Spread(); math.Abs(got-0.186) > 0.0005 {
		t.Errorf("got %v", got)
	}
	r.Bags = []BagReport{{Throughput: 0.0858}, {Throughput: 0.0366}, {Throughput: 0.0258}}
	if got := r.Spread(); math.Abs(got-2.326) > 0.0005 {
		t.Errorf("got %v", got)
	}
	if got := (&Report{}).Spread(); got != 0 {
		t.Errorf("got %v", got)
	}
}

func TestValidate(t *testing.T) {
	for problem, change := range map[string]func(*Scenario){
		"no cluster":             func(sc *Scenario) { sc.Clusters = nil },
		"longer than 0":          func(sc *Scenario) { sc.Scan = 0 },
		"negative":               func(sc *Scenario) { sc.Costs.Stop = -1 },
		"cluster 0":              func(sc *Scenario) { sc.Clusters[0].Speed = math.NaN() },
		"bag 0":                  func(sc *Scenario) { sc.Bags[0].Vary = 2 },
		"there is no cluster 7":  func(sc *Scenario) { sc.Higher[0].Cluster = 7 },
		"higher 0":               func(sc *Scenario) { sc.Higher[0].Nodes = 9 },
		"at most":                func(sc *Scenario) { sc.Bags = append(sc.Bags, Bag{Tasks: maxTasks, Work: 1}) },
		`no policy "lottery"`:    func(sc *Scenario) { sc.Policy = "lottery" },
		"no way to give up":      func(sc *Scenario) { sc.GiveUp = "newest" },
		"unknown parameter":      func(sc *Scenario) { sc.Policy = "sep:x=1" },
		"scan is 1s and poll 0s": func(sc *Scenario) { sc.Poll = 0 },
	} {
		sc := one(4, 1)
		sc.Higher = []Higher{{Parts: 1, Nodes: 1, Run: s}}
		change(sc)
		if _, err := Run(sc); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q", err, problem)
		}
	}
}

// TestConservation: every task waits, runs or is completed, every node is in one
// state, and equal scenarios give equal reports.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScenario(t)
		policy, err := share.Parse(sc.Policy)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(sc, policy, share.Random)
		for k := range 40 {
			w.at(time.Duration(k)*20*s, func() { check(t, w) })
		}
		w.run()
		check(t, w)
		r := w.report()
		if r.Idle < 0 || r.Held < 0 || r.Above < -1e-9 {
			t.Fatalf("%+v", r)
		}
		sc.GiveUp = "random"
		if again := mustRun(t, sc); !reflect.DeepEqual(mustRun(t, sc), again) {
			t.Fatal("two runs differ")
		}
	})
}

func drawScenario(t *rapid.T) *Scenario {
	sc := &Scenario{
		Policy: rapid.SampledFrom([]string{"fcfs", "gep:guard=gate", "sep:guard=cap,local=drastic", "equal",
			"weighted:local=proportional", "drf"}).Draw(t, "policy"),
		Scan:     time.Duration(rapid.IntRange(1, 20).Draw(t, "scan")) * s,
		Poll:     time.Duration(rapid.IntRange(1, 20).Draw(t, "poll")) * s,
		Together: rapid.Bool().Draw(t, "together"), Bounded: rapid.Bool().Draw(t, "bounded"),
		Direct: rapid.Bool().Draw(t, "direct"),
		Costs:  Costs{s / 2, 3 * s, 4 * s, s / 10, 2 * s, s / 3},
		Until:  800 * s, Seed: rapid.Uint64().Draw(t, "seed"),
	}
	if rapid.Bool().Draw(t, "saves") {
		sc.Checkpoint = 7 * s
	}
	for range rapid.IntRange(1, 3).Draw(t, "clusters") {
		sc.Clusters = append(sc.Clusters, Cluster{Nodes: rapid.IntRange(1, 12).Draw(t, "nodes"),
			Speed: rapid.Float64Range(0.5, 2).Draw(t, "speed")})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "bags") {
		sc.Bags = append(sc.Bags, Bag{Name: string(rune('a' + i)), At: time.Duration(i*37) * s,
			Tasks: rapid.IntRange(1, 60).Draw(t, "tasks"), Work: 30 * s, Vary: 0.5})
	}
	for range rapid.IntRange(0, 6).Draw(t, "higher") {
		at := rapid.IntRange(Anywhere, len(sc.Clusters)-1).Draw(t, "at")
		room := 1
		if at != Anywhere {
			room = sc.Clusters[at].Nodes
		}
		sc.Higher = append(sc.Higher, Higher{At: time.Duration(rapid.IntRange(0, 700).Draw(t, "when")) * s, Cluster: at,
			Parts: rapid.IntRange(1, 4).Draw(t, "parts"), Nodes: rapid.IntRange(1, room).Draw(t, "part"), Run: 40 * s})
	}
	return sc
}

func check(t *rapid.T, w *world) {
	for _, c := range w.clusters {
		held := 0
		for _, b := range w.bags {
			held += len(b.launchers[c.index])
		}
		if c.free < 0 || c.held != held || c.leaving < 0 || c.claimed < 0 || c.free+c.held+c.leaving > c.Nodes {
			t.Fatalf("%+v: %d held by bags", c, held)
		}
	}
	for _, b := range w.bags {
		n := len(b.tasks) + b.completed
		begins := 0
		for _, ls := range b.launchers {
			for _, l := range ls {
				if l.task >= 0 {
					n++
				}
				if !l.asked {
					begins++
				}
			}
		}
		if n != b.Tasks || begins != b.begins {
			t.Fatalf("%d tasks of %d, %d launchers begin, not %d", n, b.Tasks, begins, b.begins)
		}
	}
}

// TestLateComer: where a bag fills everything, one that comes later gets its part
// only of what falls idle, unless holdings are made equal.
func TestLateComer(t *testing.T) {
	for _, tt := range []struct {
		policy      string
		least, most float64 // of what the later one completes, beside the first
	}{{"sep", 0.2, 0.75}, {"sep:of=holdings", 0.9, 1.1}, {"equal", 0.9, 1.1}, {"fcfs", 0, 0}} {
		sc := one(20, 2)
		sc.Policy, sc.Together, sc.Until = tt.policy, true, 4*time.Hour
		for i := range sc.Bags {
			sc.Bags[i].Work, sc.Bags[i].At = 30*s, time.Duration(i)*10*time.Minute
			sc.Bags[i].Tasks = 20_000
		}
		for k := range 6 { // owners want half of it now and then
			sc.Higher = append(sc.Higher, Higher{At: time.Duration(12+30*k) * time.Minute, Parts: 10, Nodes: 1,
				Run: 5 * time.Minute})
		}
		r := mustRun(t, sc)
		if got := r.Bags[1].Throughput / r.Bags[0].Throughput; got < tt.least || got > tt.most {
			t.Errorf("%s: got %.2f, want %.2f to %.2f", tt.policy, got, tt.least, tt.most)
		}
	}
}
