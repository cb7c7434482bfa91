package swarm

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/sim"
	"godwit/trace"
)

// smallCells are cells that divide and join among a hundred nodes.
var smallCells = overlay.CellRule{Most: 24, Least: 6, Join: 12, Ready: 16}

// TestCellsShare: one job of one submitter is run by all of four cells, in not much more than
// the time that one group would take for all its members, and every result is delivered once.
func TestCellsShare(t *testing.T) {
	const members, tasks = 80, 1600
	rule := overlay.CellRule{Most: 50, Least: 10, Join: 20, Ready: 40}
	s := scenario(hosts(t, at(1), repeat(members, always)...),
		sim.Class{Arrival: sim.AtTimes, Times: []time.Duration{time.Minute}, Work: time.Minute, Tasks: tasks})
	r, stats := mustRun(t, s, Options{Cells: rule, Bits: 2, Submitters: 1})
	ideal := (tasks / members * time.Minute).Seconds()
	if r.Succeeded != tasks || stats.Undelivered != 0 || stats.Lent == 0 || stats.TakenBack != 0 {
		t.Errorf("%d of %d done, %d not delivered, %d loans, %d came back", r.Succeeded, tasks, stats.Undelivered, stats.Lent,
			stats.TakenBack)
	}
	if r.Response.Max > 1.1*ideal || r.Failed+r.Returned != 0 || r.Allocated > tasks+tasks/100 {
		t.Errorf("it took %.0f s, all members together could do it in %.0f; %d runs of %d tasks", r.Response.Max, ideal,
			r.Allocated, tasks)
	}
	checkCells(t, s, Options{Cells: rule, Bits: 2, Submitters: 1}, at(.2), 4)
}

// checkCells runs a scenario up to a time and looks at its cells then: each node that is up is in
// one that has as many leaders as one, whom it follows, and which is there. want is how many cells
// there are; 0 for any number above 1.
func checkCells(t *testing.T, s *sim.Scenario, o Options, until time.Duration, want int) {
	t.Helper()
	if err := o.complete(s); err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(s, o)
	if err != nil {
		t.Fatal(err)
	}
	w.start()
	w.until(until)
	leaders, lost := map[overlay.Cell]int{}, 0
	for _, n := range w.nodes {
		if !n.up {
			continue
		}
		if n.m.Coordinator() != nil {
			leaders[n.m.Cell()]++
		}
		if l := w.byID[n.m.Leader().Leader]; l == nil || !l.up || l.m.Cell() != n.m.Cell() || l.m.Coordinator() == nil {
			lost++
		}
	}
	for c, n := range leaders {
		for o := range leaders {
			if n > 1 || o != c && o.Within(c) {
				t.Errorf("cell %s has %d leaders, cell %s is in it", c, n, o)
			}
		}
	}
	if lost > 0 || want > 0 && len(leaders) != want || len(leaders) < 2 {
		t.Errorf("%d nodes follow nobody who leads their cell, of %d cells", lost, len(leaders))
	}
}

// TestCellsDivideAndJoin: an overlay that grows divides, one that shrinks becomes one cell again,
// with tasks running all the while: each ends, and is delivered once.
func TestCellsDivideAndJoin(t *testing.T) {
	var all [][]spell
	for i := range 36 {
		s := []spell{{at(float64(i) / 72), trace.Available}}
		if i >= 8 { // most go again
			s = append(s, spell{at(1.6 + float64(i)/120), trace.Leaving}, spell{at(1.65 + float64(i)/120), trace.Unavailable})
		}
		all = append(all, s)
	}
	s := scenario(hosts(t, at(3.6), all...), sim.Class{Arrival: sim.Every, Interval: 2 * time.Minute, From: at(.2),
		To: at(1.8), Work: 3 * time.Minute, Tasks: 12})
	o := Options{Cells: smallCells, Submitters: 2}
	r, stats := mustRun(t, s, o)
	if r.Unfinished != 0 || stats.Undelivered != 0 {
		t.Errorf("%d unfinished, %d not delivered", r.Unfinished, stats.Undelivered)
	}
	if stats.Divided == 0 || stats.Joined == 0 || stats.Lent == 0 || r.WastedS > r.UsefulS/10 {
		t.Errorf("cells divided %d times and joined %d times, %d loans, %.0f s of work were lost", stats.Divided,
			stats.Joined, stats.Lent, r.WastedS)
	}
}

// TestCellsChaos: in whatever order members come, leave and crash, and whatever cells divide and join
// for it, and with messages lost: each task ends, each result is delivered, none is taken twice,
// and when it has been calm for a while each cell has one leader, whom its members follow.
func TestCellsChaos(t *testing.T) {
	for seed := range uint64(chaosSeeds()) {
		rng := rand.New(rand.NewPCG(seed, 21))
		var all [][]spell
		for range 40 {
			all = append(all, comesAndGoes(rng, at(1.2)))
		}
		s := scenario(hosts(t, at(3), all...), sim.Class{Arrival: sim.Every, Interval: 4 * time.Minute, From: at(.2),
			To: at(1.1), Work: 4 * time.Minute, Tasks: 24})
		s.Seed = seed
		o := Options{Cells: smallCells, Loss: .01, Jitter: 30 * time.Millisecond}
		r, stats := mustRun(t, s, o)
		if r.Unfinished != 0 || stats.Undelivered != 0 {
			t.Errorf("%d unfinished, %d not delivered", r.Unfinished, stats.Undelivered)
		}
		checkCells(t, s, o, at(3)-time.Minute, 0)
		if t.Failed() {
			t.Fatalf("seed %d, %+v: run again with GODWIT_SEEDS=%d", seed, stats, seed+1)
		}
	}
}

// comesAndGoes is a host that is there for minutes to an hour at a time until it stays for good.
func comesAndGoes(rng *rand.Rand, until time.Duration) (s []spell) {
	now := time.Duration(rng.Int64N(int64(20 * time.Minute)))
	for now < until {
		s = append(s, spell{now, trace.Available})
		now += 10*time.Minute + time.Duration(rng.Int64N(int64(time.Hour)))
		if rng.IntN(2) == 0 {
			s = append(s, spell{now, trace.Leaving})
			now += time.Minute
		}
		s = append(s, spell{now, trace.Unavailable})
		now += time.Minute + time.Duration(rng.Int64N(int64(20*time.Minute)))
	}
	return append(s, spell{now, trace.Available})
}

// chaosSeeds is how many runs TestCellsChaos makes.
func chaosSeeds() int {
	if n, err := strconv.Atoi(os.Getenv("GODWIT_SEEDS")); err == nil {
		return n
	}
	return 1
}
