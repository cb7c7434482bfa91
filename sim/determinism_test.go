package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/trace"
)

// onWorkers runs all with so many goroutines at once.
func onWorkers(workers int) func(n int, run func(i int)) {
	return func(n int, run func(i int)) {
		var all sync.WaitGroup
		next := make(chan int)
		for range workers {
			all.Go(func() {
				for i := range next {
					run(i)
				}
			})
		}
		for i := range n {
			next <- i
		}
		close(next)
		all.Wait()
	}
}

// unsettled is a trace of hosts that go through all states, at all speeds, and
// are not seen at times.
func unsettled(t testing.TB, hosts, days int, seed uint64) *trace.Trace {
	t.Helper()
	set := &trace.Trace{Name: "unsettled", Synthetic: fmt.Sprintf("states drawn with seed %d", seed),
		Start: time.Unix(0, 0).UTC()}
	set.End = set.Start.AddDate(0, 0, days)
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range hosts {
		h := &trace.History{Host: fmt.Sprint("h", i)}
		at := set.Start.Add(time.Duration(rng.ExpFloat64() * float64(time.Hour)))
		for ; at.Before(set.End); at = at.Add(time.Second + time.Duration(rng.ExpFloat64()*float64(2*time.Hour))) {
			var err error
			switch k := rng.IntN(12); {
			case k < 7:
				err = h.Append(at, trace.Available, float64(1+rng.IntN(200))/200)
			case k < 11:
				err = h.Append(at, trace.State(k-6), 0)
			default:
				err = h.Gap(at)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		h.Extend(set.End)
		set.Hosts = append(set.Hosts, trace.Host{History: h, GHz: float64(rng.IntN(4))})
	}
	return set
}

// everything are scenarios that together use all that there is.
func everything(t testing.TB) []*Scenario {
	set := unsettled(t, 25, 3, 1)
	log := &trace.Workload{Name: "log"}
	for i := range 200 {
		log.Jobs = append(log.Jobs, trace.Job{Number: int64(i), Submit: float64(900 * i), RunTime: float64(60 * (1 + i%50)),
			Procs: int64(1 + i%4), MemoryKB: float64(i), Status: 1})
	}
	full := Scenario{
		Trace: set, Start: set.Start.Add(30 * time.Minute), End: set.End.Add(-30 * time.Minute), Warmup: 24 * time.Hour,
		Placement: "fcfspp:t=0.5,blocked=pass", Migration: "pspp:t=1,p=10m", Predictor: "blend", ScanAll: true,
		Workload: Workload{
			Classes: []Class{
				{Name: "sweeps", Arrival: Every, Interval: 5 * time.Hour, Tasks: 30, Work: 20 * time.Minute, WorkLaw: UniformWork,
					Memory: 64 << 20, State: 8 << 20},
				{Name: "random", Arrival: Poisson, Interval: 30 * time.Minute, From: time.Hour, To: 60 * time.Hour,
					Work: time.Hour, WorkLaw: Exponential, Memory: 16 << 20},
				{Name: "listed", Arrival: AtTimes, Times: []time.Duration{time.Hour, time.Hour, 40 * time.Hour},
					Work: 3 * time.Hour},
				{Name: "saturated", From: 20 * time.Hour, To: 30 * time.Hour, Work: 10 * time.Minute},
				{Name: "too large", Arrival: Every, Interval: 24 * time.Hour, Work: time.Hour, Memory: 1 << 40},
			},
			Log: log, LogFrom: 1000, Requeue: true,
		},
		Hosts:       HostRules{Slots: 2, Memory: 256 << 20, Speeds: Traced, Owner: Suspend, Grace: time.Hour},
		Network:     Network{Delay: 50 * time.Millisecond, Upload: 1e5, Download: 1e6, Detect: time.Minute},
		Checkpoints: Checkpoints{Every: 10 * time.Minute, Pause: time.Second, Away: true},
		Seed:        42,
	}
	shared, paper, oracle, random, ours := full, full, full, full, full
	shared.Hosts.Sharing, shared.Placement, shared.Migration, shared.Predictor = Share, "psopp", "reactive", ""
	paper.Paper, paper.Placement, paper.Migration, paper.Predictor = true, "flp", "cbr", ""
	oracle.Placement, oracle.Checkpoints.Away, oracle.Workload.Requeue = Oracle, false, false
	random.Placement, random.Hosts.Owner, random.ScanAll, random.Seed = "random", Kill, false, 43
	ours.Placement, ours.Migration, ours.Predictor, ours.Checkpoints = "expected", "cost", "",
		Checkpoints{Auto: true, Pause: time.Second, Away: true}
	return []*Scenario{&full, &shared, &paper, &oracle, &random, &ours}
}

// Equal scenarios give equal bytes: fifty times over, and however many of them
// run at once.
func TestDeterminism(t *testing.T) {
	ss := everything(t)
	var want [][]byte
	for i, s := range ss {
		r, err := Run(s)
		if err != nil {
			t.Fatalf("scenario %d: %v", i, err)
		}
		text := encode(t, r)
		want = append(want, text)
		if r.Succeeded == 0 || r.Failed+r.Migrations == 0 {
			t.Errorf("scenario %d: hardly anything happened: %s", i, text)
		}
	}
	// The first fifty times in all, the others a few times among them.
	var many []*Scenario
	for n := range 25 {
		many = append(many, ss[0])
		if n < 3 {
			many = append(many, ss[1:]...)
		}
	}
	for _, workers := range []int{1, 8} {
		reports, err := RunAll(many, onWorkers(workers))
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range reports {
			if k := slices.Index(ss, many[i]); !bytes.Equal(encode(t, r), want[k]) {
				t.Fatalf("%d workers, run %d of scenario %d:\n%s\nbefore:\n%s", workers, i, k, encode(t, r), want[k])
			}
		}
	}
	other := *ss[0]
	other.Seed++
	r, err := Run(&other)
	if err != nil {
		t.Fatal(err)
	}
	if r.Seed = ss[0].Seed; bytes.Equal(encode(t, r), want[0]) {
		t.Error("another seed gives the same report")
	}
}

// Runs of several seeds have nothing in common: alone, side by side, in another order and
// by another number of workers each gives the same bytes.
func TestSeedsSideBySide(t *testing.T) {
	var alone [][]byte
	var all []*Scenario
	for _, like := range everything(t) {
		for seed := range uint64(4) {
			s := *like
			s.Seed = seed
			r, err := Run(&s)
			if err != nil {
				t.Fatal(err)
			}
			all, alone = append(all, &s), append(alone, encode(t, r))
			if seed > 0 && bytes.Equal(alone[len(alone)-1], alone[len(alone)-2]) {
				t.Errorf("placement %s: seeds %d and %d give the same", s.Placement, seed-1, seed)
			}
		}
	}
	backwards, shuffled := make([]int, len(all)), rand.New(rand.NewPCG(1, 0)).Perm(len(all))
	for i := range backwards {
		backwards[i] = len(all) - 1 - i
	}
	for _, tt := range []struct {
		name    string
		workers int
		order   []int
	}{{"backwards", 1, backwards}, {"backwards", 5, backwards}, {"shuffled", 3, shuffled}, {"shuffled", 16, shuffled}} {
		ss := make([]*Scenario, len(all))
		for i, k := range tt.order {
			ss[i] = all[k]
		}
		reports, err := RunAll(ss, onWorkers(tt.workers))
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range tt.order {
			if got := encode(t, reports[i]); !bytes.Equal(got, alone[k]) {
				t.Fatalf("%s, %d workers, placement %s, seed %d:\n%s\nalone:\n%s", tt.name, tt.workers, ss[i].Placement,
					ss[i].Seed, got, alone[k])
			}
		}
	}
}

// Nothing of a scenario is changed by a run, and watching changes no run.
func TestRunLeavesScenarioAlone(t *testing.T) {
	for i, s := range everything(t) {
		quiet, err := Run(s)
		if err != nil {
			t.Fatal(err)
		}
		watched, n := *s, 0
		watched.Watch = func(Decision) { n++ }
		r, err := Run(&watched)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(t, r), encode(t, quiet)) || n == 0 {
			t.Errorf("scenario %d: another report with somebody watching %d decisions", i, n)
		}
	}
}

func encode(t testing.TB, r *Report) []byte {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Scenarios that fail do not stop the others, and each is named.
func TestRunAllNamesWhatFails(t *testing.T) {
	good, bad, worse := fine(t), fine(t), fine(t)
	bad.Placement, worse.Migration = "best", "worst"
	reports, err := RunAll([]*Scenario{good, bad, good, worse}, onWorkers(2))
	if err == nil || reports[0] == nil || reports[1] != nil || reports[2] == nil || reports[3] != nil {
		t.Fatalf("reports %v, error %v", reports, err)
	}
	got := err.Error()
	if second := strings.Index(got, "\nscenario 4 of 4: "); !strings.HasPrefix(got, "scenario 2 of 4: ") || second < 0 {
		t.Errorf("error %q does not say which", got)
	}
}
