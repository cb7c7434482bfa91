package mgst

import (
	"math"
	"testing"

	"godwit/reproduce"
	"godwit/sim"
)

// What the thesis says of the allocation comes out, but for what it misprints.
func TestMGSTAllocation(t *testing.T) {
	r, err := Experiments()[0].Run(reproduce.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cells {
		if c.Verdict != reproduce.Equal {
			t.Errorf("%s: published %s, got %s", c.Cell, c.Published, c.Obtained)
		}
	}
	if len(r.Cells) != 14 {
		t.Errorf("there are %d cells, want 14", len(r.Cells))
	}
}

// The printed tables are of a kind: 12 experiments, and the mean of all jobs is that
// of the classes by their arrival rates, to what rounding leaves.
func TestMGSTTables(t *testing.T) {
	if n := len(Experiments()); n != 13 {
		t.Errorf("there are %d experiments, want 13", n)
	}
	for _, e := range tables {
		for k, column := range e.simulated {
			if column == none5 {
				continue
			}
			low, high, all := 0., 0., 0.
			for i, alpha := range e.system.alpha {
				low, high, all = low+alpha*(column[i].low-.005), high+alpha*(column[i].high+.005), all+alpha
			}
			if low/all > column[4].high+.005 || high/all < column[4].low-.005 {
				t.Errorf("%s, %s: all is %v, the classes make %.3f to %.3f", e.name, policies[k].name, column[4], low/all, high/all)
			}
		}
	}
}

// A hundredth of experiments 1, 2 and 8 is as printed, within what so short runs vary
// by: three parts in twenty of the mean of all jobs.
func TestMGSTInShort(t *testing.T) {
	for _, tt := range []struct{ experiment, policy int }{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {7, 0}, {7, 2}} {
		e, p := &rerun{table: &tables[tt.experiment]}, tt.policy
		batch := (&bench{&reproduce.Bench{}}).Batch()
		var got response
		if err := e.repeat(batch, policies[p].spec, simulated, 2, 400, 1, &got); err != nil {
			t.Fatal(err)
		}
		if err := batch.Run(); err != nil {
			t.Fatal(err)
		}
		if mean, _ := reproduce.Interval(got[4]); math.Abs(mean/e.simulated[p][4].high-1) > .15 {
			t.Errorf("%s, %s: the mean is %v, printed %v", e.name, policies[p].name, mean, e.simulated[p][4])
		}
	}
}

func TestJudgeMean(t *testing.T) {
	for _, tt := range []struct {
		runs []float64
		want reproduce.Verdict
	}{
		// its interval is wide
		{[]float64{.564, .566}, reproduce.Equal}, {[]float64{.5551, .5551}, reproduce.Equal},
		{[]float64{.548, .550}, reproduce.Within},
		{[]float64{.585, .585}, reproduce.Within}, {[]float64{.60, .60}, reproduce.Differs},
	} {
		b := &bench{&reproduce.Bench{}}
		r := &response{4: tt.runs}
		(&rerun{table: &tables[0]}).judgeMean(b, "", ends{.56, .57}, r, 4)
		if got := b.Cells[0].Verdict; got != tt.want {
			t.Errorf("%v: %s, want %s", tt.runs, got, tt.want)
		}
	}
}

// TestEmulation: 20 jobs a unit of 3 minutes is 9 s a job, and LPAS_DG's overhead makes 13
// of them, as experiment 4's text has it. Gc-mu and FCFS add less, in this order.
func TestEmulation(t *testing.T) {
	e := &rerun{table: &table{system: &system{name: "one", alpha: []float64{1}, mu: [][]float64{{20}}},
		minutes: [3]float64{3, 3, 3}}}
	for policy, want := range []float64{13, 12, 10.5} {
		s, err := e.scenario("gcmu", e.emulated(policy), 500, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(s)
		if err != nil {
			t.Fatal(err)
		}
		seconds := r.Classes[0].Execution / timeUnit.Seconds() * 180
		if math.Abs(seconds-want) > .1 || s.Warmup != 0 {
			t.Errorf("%s: a job takes %v s, want %v; %v are not counted", policies[policy].name, seconds, want, s.Warmup)
		}
	}
}
