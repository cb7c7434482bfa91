package policies

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/reproduce"
	"godwit/sim"
	"godwit/trace"
)

func TestStands(t *testing.T) {
	for _, tt := range []struct {
		name  string
		d     Difference
		scale float64
		want  Standing
	}{
		{"more", Difference{10, 50}, 1000, Won},
		{"the same", Difference{0, 0}, 1000, Won},
		{"rounding", Difference{-1e-7, 0}, 1000, Won},
		{"less, within the interval", Difference{-10, 10}, 1000, WithinIt},
		{"less, beyond it", Difference{-10, 9.9}, 1000, Lost},
		{"less, and one run has no interval", Difference{-10, -1}, 1000, Lost},
		{"nobody has anything", Difference{0, 0}, 0, Won},
	} {
		if got := tt.d.stands(tt.scale); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestDifference: the interval is that of the differences, not of the figures.
func TestDifference(t *testing.T) {
	runs := func(xs ...float64) (out []played) {
		for _, x := range xs {
			out = append(out, played{useful: x})
		}
		return out
	}
	useful := func(p *played) float64 { return p.useful }
	d := difference(runs(100, 2000, 30), runs(99, 1998, 27), useful)
	// Differences 1, 2, 3: standard deviation 1, Student's t of two degrees 4.303.
	if d.Mean != 2 || math.Abs(d.Half-4.303/math.Sqrt(3)) > 1e-3 {
		t.Errorf("got %+v", d)
	}
	if d := difference(runs(5), runs(7), useful); d.Mean != -2 || d.Half != -1 {
		t.Errorf("one run: got %+v", d)
	}
}

func TestWhy(t *testing.T) {
	h := 3600.
	for _, tt := range []struct {
		name       string
		ours, best Figures
		want       string
	}{
		{"loses more", Figures{UsefulS: 90 * h, WastedS: 10 * h, Lost: 40}, Figures{UsefulS: 100 * h, Lost: 3},
			"10.0 h less useful (10 %): 10.0 h more work lost or done twice (40 running tasks lost, the rival 3)"},
		{"saves too often", Figures{UsefulS: 99 * h, WastedS: h, Checkpoints: 3600}, Figures{UsefulS: 100 * h},
			"1.0 h less useful (1 %): 1.0 h more in checkpoints (3600 of them, 1 % of its host time)"},
		{"waits, but loses less", Figures{UsefulS: 80 * h, WastedS: 2 * h, IdleS: 28 * h, Moves: 7},
			Figures{UsefulS: 90 * h, WastedS: 5 * h, IdleS: 15 * h},
			"10.0 h less useful (11 %): 13.0 h more idle (7 moves on the way, the rival 0)"},
		{"does not come to an end, and loses", Figures{UsefulS: 80 * h, WastedS: 4 * h, PendingS: 6 * h, Tasks: 20, Done: 15},
			Figures{UsefulS: 90 * h, Tasks: 20, Done: 19},
			"10.0 h less useful (11 %): 6.0 h more in tasks not completed at the end (5, the rival 1); 4.0 h more work lost " +
				"or done twice (0 running tasks lost, the rival 0)"},
	} {
		if got := why(&tt.ours, &tt.best); got != tt.want {
			t.Errorf("%s: got\n%s, want\n%s", tt.name, got, tt.want)
		}
	}
}

// madeUp judges a cell in which all rivals have so much useful work and response
// but for some, by their places among the rivals.
func madeUp(level Level, ours, oracle, rivals played, but map[int]played) Cell {
	g := Grid{Ours: Contender{Placement: "ours", Migration: "none"}}
	all := g.contenders()
	runs := make([][]played, len(all))
	for k := range all {
		p := rivals
		if other, ok := but[k-rivalsAt]; ok {
			p = other
		}
		runs[k] = []played{p, p}
	}
	runs[oursAt], runs[oracleAt] = []played{ours, ours}, []played{oracle, oracle}
	c := Cell{Set: "set", Workload: level.Name, level: level, size: time.Hour}
	c.judge(all, runs)
	return c
}

func TestJudge(t *testing.T) {
	psopp, uptime := 5, 6 // without migration
	c := madeUp(Levels[0], played{useful: 95, came: 10, done: 10, stay: 11}, played{useful: 100},
		played{useful: 90, stay: 20},
		map[int]played{psopp: {useful: 96}, psopp + 7: {useful: 96, stay: 9}, uptime: {useful: 50, stay: 10}})
	if c.Best.Name != "psopp" || c.Ties != 1 || c.FCFS.UsefulS != 90 || c.Gain.Mean != -1 || c.Verdict != Lost ||
		c.Reason == "" {
		t.Errorf("got best %s and %d more, fcfs %v, gain %v: %s %q", c.Best.Name, c.Ties, c.FCFS.UsefulS, c.Gain, c.Verdict,
			c.Reason)
	}
	if c.Response != Lost || c.Delay.Mean <= 0 {
		t.Errorf("response: got %s by %v", c.Response, c.Delay)
	}
	c = madeUp(Levels[2], played{useful: 96}, played{}, played{useful: 90}, nil)
	if c.Verdict != Won || c.Reason != "" || c.Quickest != nil || c.Response != "" || c.Ties != 27 {
		t.Errorf("saturated: got %+v", c)
	}
}

func TestSummary(t *testing.T) {
	low, full := Levels[0], Levels[2]
	cells := []Cell{
		madeUp(low, played{useful: 200, wasted: 2, came: 100, done: 99, stay: 5}, played{useful: 200},
			played{useful: 100, stay: 6}, nil),
		madeUp(full, played{useful: 100, wasted: 10, lost: 50, came: 120, done: 50}, played{useful: 200}, played{useful: 100},
			map[int]played{0: {useful: 101}}),
		madeUp(low, played{useful: 1, came: 100, done: 100, stay: 8}, played{useful: 1}, played{stay: 4}, nil),
	}
	cells[1].Set = "hard"
	var got strings.Builder
	for _, s := range summarise(cells) {
		fmt.Fprintf(&got, "%s | %s | %s | %v | %s\n", s.Name, s.Wanted, s.Obtained, s.Holds, s.Worst)
	}
	want := strings.Join([]string{
		"useful work at least the best rival's, within its interval | every cell | " +
			"2 won, 0 within, 1 LOST of 3 | false | hard, 1h, saturated: -1.0 %",
		"useful work over FCFS's, geometric mean | >= 1.15 | 1.414 (of 2 cells; in 1 it has none) | true | " +
			"hard, 1h, saturated: 1.000",
		"useful work over the oracle's, geometric mean | >= 0.90 | 0.794 | false | hard, 1h, saturated: 0.500",
		"host time wasted, of useful and wasted | <= 3 % | 3.83 % | false | hard, 1h, saturated: 9.09 %",
		"tasks completed, of those that came (low and medium) | >= 99 % | 99.50 % | true | set, 1h, low: 99.00 %",
		"runs of tasks that ended in a result, S/(S+F) |  | 83.28 % | true | hard, 1h, saturated: 50.00 %",
		"mean response at low workload no longer than the quickest rival's | every cell | " +
			"1 won, 0 within, 1 LOST of 2 | false | set, 1h, low: 2.000 times that of random",
		"",
	}, "\n")
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// tiny is a grid of moments.
func tiny(each func(int, func(int))) *Grid {
	return &Grid{
		Sets: LikeSets()[:2], Hosts: 4, Days: 4, Seed: 1, Runs: 1,
		Ours: Contender{Placement: "uptime", Migration: "none", Auto: true}, Each: each,
	}
}

// TestPolicyGrid: equal seeds give equal bytes in whatever order the runs go, and
// the summary is what it was.
func TestPolicyGrid(t *testing.T) {
	one, err := tiny(nil).Run()
	if err != nil {
		t.Fatal(err)
	}
	g := tiny(func(n int, run func(int)) {
		for i := range n {
			run(n - 1 - i)
		}
	})
	g.Sets = g.Sets[1:]
	back, err := g.Run()
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(one.Cells[len(one.Cells)-len(back.Cells):])
	b, _ := json.Marshal(back.Cells)
	if string(a) != string(b) {
		t.Error("the order of the runs makes a difference")
	}
	var got strings.Builder
	for _, s := range one.Summary {
		fmt.Fprintf(&got, "%s: %s\n", s.Name, s.Obtained)
	}
	if want := tinySummary; got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	for i := range one.Cells {
		c := &one.Cells[i]
		if sum := c.Ours.UsefulS + c.Ours.WastedS + c.Ours.IdleS +
			c.Ours.PendingS; math.Abs(sum-(c.FCFS.UsefulS+c.FCFS.WastedS+c.FCFS.IdleS+c.FCFS.PendingS)) > 1 {
			t.Errorf("%s: the default's host time is %v, which is not FCFS's", c, sum)
		}
		if c.level.Load > 0 && c.Ours.Tasks != c.FCFS.Tasks {
			t.Errorf("%s: %v tasks came, under FCFS %v", c, c.Ours.Tasks, c.FCFS.Tasks)
		}
	}
}

const tinySummary = `useful work at least the best rival's, within its interval: 18 won, 0 within, 0 LOST of 18
useful work over FCFS's, geometric mean: 1.329 (of 16 cells; in 2 it has none)
useful work over the oracle's, geometric mean: 1.156 (of 17 cells; in 1 it has none)
host time wasted, of useful and wasted: 5.33 %
tasks completed, of those that came (low and medium): 100.00 %
runs of tasks that ended in a result, S/(S+F): 55.57 %
mean response at low workload no longer than the quickest rival's: 5 won, 0 within, 1 LOST of 6
`

// TestRivals: there are 28, each a policy of its own that can be made.
func TestRivals(t *testing.T) {
	d, err := (&Set{Name: "ucb-like", Kind: "ucb"}).draw(3, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range Rivals(true) {
		if err := d.scenario(time.Hour, Levels[0], c).Validate(); err != nil || seen[c.String()] || !c.Auto {
			t.Errorf("%+v: %v", c, err)
		}
		seen[c.String()] = true
	}
	if len(seen) != 28 {
		t.Errorf("there are %d", len(seen))
	}
}

// TestDrawMeasured: days and hosts are drawn by seed, and no host is drawn that is
// away throughout.
func TestDrawMeasured(t *testing.T) {
	m := &trace.Trace{Name: "m", Start: reproduce.Epoch, End: reproduce.Epoch.Add(20 * reproduce.Day)}
	for i := range 10 {
		h := &trace.History{Host: fmt.Sprint(i)}
		up := reproduce.Epoch.Add(time.Duration(2*i) * reproduce.Day) // a host every two days
		if err := h.Append(up, trace.Available, 1); err != nil {
			t.Fatal(err)
		}
		h.Extend(up.Add(2 * reproduce.Day))
		m.Hosts = append(m.Hosts, trace.Host{History: h})
	}
	s := Set{Name: "m", Measured: m}
	starts := map[time.Time]bool{}
	for seed := range uint64(8) {
		d, err := s.draw(2, 6, seed)
		if err != nil {
			t.Fatal(err)
		}
		if d.end.Sub(d.start) != 6*reproduce.Day || d.start.Before(m.Start) || d.end.After(m.End) || len(d.trace.Hosts) != 2 {
			t.Errorf("seed %d: %v to %v, %d hosts", seed, d.start, d.end, len(d.trace.Hosts))
		}
		if slices.ContainsFunc(d.trace.Hosts, func(h trace.Host) bool { return available(h.History, d.start, d.end) == 0 }) {
			t.Errorf("seed %d: a host is drawn that never comes", seed)
		}
		starts[d.start] = true
	}
	if len(starts) < 2 {
		t.Error("all seeds have the same days")
	}
	if _, err := s.draw(2, 2, 1); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("two days: got %v", err)
	}
}

// TestWorkload: tasks come for the share of the available time that the level
// says, none in the first day or the last.
func TestWorkload(t *testing.T) {
	d, err := (&Set{Name: "lri-like", Kind: "lri"}).draw(40, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range Levels[:2] {
		s := d.scenario(10*time.Minute, level, Contender{Placement: "uptime", Migration: "none"})
		n := 0.
		s.Watch = func(e sim.Decision) {
			if e.Action == "arrived" {
				n++
				if e.At.Before(d.start.Add(reproduce.Day)) || e.At.After(d.end.Add(-reproduce.Day)) {
					t.Errorf("a task comes at %v", e.At.Sub(d.start))
				}
			}
		}
		if _, err := sim.Run(s); err != nil {
			t.Fatal(err)
		}
		came := n * 600 / (d.cores * d.end.Sub(d.start.Add(2*reproduce.Day)).Seconds())
		if math.Abs(came/level.Load-1) > 0.1 {
			t.Errorf("%s: work comes for %.3f of the hosts' time, want %.1f", level.Name, came, level.Load)
		}
	}
}

// TestNotes: migrations that do nothing are told, and placements that leave hosts
// idle.
func TestNotes(t *testing.T) {
	fcfspp6 := 3
	but := map[int]played{fcfspp6: {useful: 10, idle: 90}}
	for p := range rivalPlacements {
		but[2*len(rivalPlacements)+p] = played{useful: 101, moves: 5} // pspp
	}
	notes := gridNotes([]Cell{madeUp(Levels[2], played{useful: 1}, played{}, played{useful: 100}, but)})
	for i, want := range []string{"reactive is the same as none in 6 of 7: ", "cbr is the same as none in 6 of 7: ",
		"fcfspp:n=6 has less than half of FCFS's useful work in 1 of 1 cells, where its hosts are idle 90 % of the time: " +
			"as published, T is 100 %"} {
		if i >= len(notes) || !strings.HasPrefix(notes[i], want) {
			t.Errorf("got %q, want %q", notes, want)
		}
	}
	if len(notes) != 3 {
		t.Errorf("got %d notes", len(notes))
	}
}
