package chunk

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// capped returns the rounds of a plan until the runs are used up.
func (p *plan) capped() []int64 {
	var out []int64
	left := int64(p.runs)
	for r := int64(1); left > 0 && r < p.end(); r++ {
		b := min(left, p.budget(r))
		out = append(out, b)
		left -= b
	}
	return out
}

// Rounds of the slow-start, slow-end plan: section 3.3.2's example, and what its formula
// gives for the triples of section 5.2.2.
func TestPlan(t *testing.T) {
	for _, tt := range []struct {
		runs, peak, k, m float64
		want             []int64
	}{
		{60, 1, 3, 2.3, []int64{26, 22, 12}},
		{100, 1, 3, 2, []int64{50, 43, 7}},
		{100, 1, 5, 3.3, []int64{30, 28, 24, 17, 1}},
		{400, 1, 5, 3.3, []int64{121, 115, 98, 66}},
		{400, 2, 15, 10.5, []int64{26, 38, 37, 37, 36, 34, 32, 30, 28, 25, 22, 19, 15, 11, 7, 3}},
		{800, 2, 15, 10.5, []int64{53, 76, 75, 74, 72, 69, 65, 61, 56, 50, 44, 38, 30, 23, 14}},
	} {
		p := plan{tt.runs, tt.peak, tt.k, tt.m}
		if got := p.capped(); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v", tt, got)
		}
	}
	p := plan{60, 1, 3, 2.3}
	if got := p.budget(3); got != 13 {
		t.Errorf("the third round, uncapped: %d, want 13", got)
	}
	p = plan{1500, 5, 50, 33}
	rounds := p.capped()
	if !slices.Equal(rounds[:4], []int64{14, 26, 36, 43}) || slices.Max(rounds) != 45 || rounds[4] != 45 ||
		len(rounds) != 45 {
		t.Errorf("1500 runs: %v", rounds)
	}
}

// What a plan of many rounds leaves when each has been rounded down.
func TestPlanLeaves(t *testing.T) {
	for _, tt := range []struct{ runs, peak, k, m, want float64 }{
		{100, 2, 15, 10.5, 7}, {100, 3, 30, 20.3, 14}, {100, 5, 50, 33, 22}, {400, 5, 50, 33, 1},
	} {
		p := plan{tt.runs, tt.peak, tt.k, tt.m}
		left := int64(tt.runs)
		for r := range p.end() {
			left -= p.budget(r)
		}
		if left != int64(tt.want) {
			t.Errorf("%v: %d are left", tt, left)
		}
	}
}

// The exact norm of each triple, beside which the thesis's m is too small.
func TestNorm(t *testing.T) {
	for _, tt := range [][3]float64{{1, 3, 2.366025}, {1, 5, 3.656876}, {2, 15, 10.747675}, {3, 30, 20.960255},
		{5, 50, 34.985246}} {
		p := plan{peak: tt[0], k: tt[1]}
		if got := p.norm(); math.Abs(got-tt[2]) > 5e-7 {
			t.Errorf("peak %v, k %v: %v, want %v", tt[0], tt[1], got, tt[2])
		}
	}
}

// Exact quanta by slots and trials; the thesis's own are multiples of them.
func TestQuantum(t *testing.T) {
	slots := []int32{1, 4, 8, 15}
	for trials, want := range map[int][]int64{
		10: {1, 2, 4, 3}, 20: {1, 1, 2, 3}, 30: {1, 2, 4, 1}, 50: {1, 2, 4, 3}, 80: {1, 1, 1, 3}, 100: {1, 1, 2, 3},
	} {
		p := pool{job: Job{Trials: trials}}
		for i, s := range slots {
			if got := p.quantum(&member{slots: s}); got != want[i] {
				t.Errorf("%d trials on %d slots: %d, want %d", trials, s, got, want[i])
			}
		}
	}
}

// Installments of the calibrated farm for the nodes of the worked example, one run
// taking 2, 7.5, 3, 10 and 5 s; and of equal nodes, for which there is one round.
func TestInstallments(t *testing.T) {
	for _, tt := range []struct {
		seconds []float64
		k       float64
		want    []int
	}{
		{[]float64{2, 7.5, 3, 10, 5}, 2.1204, []int{11, 3, 7, 2, 4}},
		{[]float64{2, 2, 2}, 1, []int{20, 20, 17}},
	} {
		p, err := Parse("calibrated", Job{Runs: 60, Trials: 10})
		if err != nil {
			t.Fatal(err)
		}
		ask := Ask{Remaining: 60}
		for range tt.seconds {
			n := p.Join(Member{Slots: 1})
			got, _ := p.Size(at(0), n, ask)
			if again, _ := p.Size(at(0), n, ask); got != 1 || again != 0 {
				t.Fatalf("calibration: %d runs, then %d", got, again)
			}
			ask.Remaining--
		}
		for i, s := range tt.seconds {
			p.Done(at(s), Node(i), 1, time.Duration(s*1e9))
		}
		if k := p.(*calibrated).installments(); math.Abs(k-tt.k) > 5e-5 {
			t.Errorf("k = %v, want %v", k, tt.k)
		}
		var got []int
		for i := range tt.seconds {
			runs, _ := p.Size(at(10), Node(i), ask)
			got = append(got, runs)
			ask.Remaining -= int64(runs)
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%v: %v, want %v", tt.seconds, got, tt.want)
		}
	}
}

// at is a time, in seconds from the beginning.
func at(seconds float64) time.Time {
	return time.Unix(1e9, 0).Add(time.Duration(seconds * 1e9))
}

// Ratios of the worked example: what AMRS has after each of its rounds, section 3.1,
// exact values of the rounded ones in its tables.
func TestRatios(t *testing.T) {
	p, err := Parse("amrs:rounds=3", Job{Runs: 60, Trials: 10})
	if err != nil {
		t.Fatal(err)
	}
	a := p.(*amrs)
	for _, m := range []Member{{Slots: 8, Cores: 8}, {Slots: 4, Cores: 4}, {Slots: 4, Cores: 4}, {Slots: 1, Cores: 2},
		{Slots: 1, Cores: 2}} {
		p.Join(m)
	}
	left, now := int64(60), 0.0
	for _, round := range []struct {
		jobs    []int
		seconds []float64
		want    []float64
	}{
		{[]int{8, 4, 4, 2, 2}, []float64{10, 25, 10, 20, 10}, []float64{.4410, .1482, .2205, .0801, .1102}},
		{[]int{9, 3, 5, 2, 3}, []float64{12, 20, 13, 20, 15}, []float64{.4571, .1214, .2316, .0716, .1182}},
	} {
		for i := range round.jobs {
			got, _ := p.Size(at(now), Node(i), Ask{Remaining: left})
			if got != round.jobs[i] {
				t.Errorf("node %d: %d runs, want %d", i, got, round.jobs[i])
			}
			left -= int64(got)
		}
		for i, s := range round.seconds {
			p.Done(at(now+s), Node(i), round.jobs[i], time.Duration(s*1e9))
		}
		now += slices.Max(round.seconds)
		a.update()
		for i, want := range round.want {
			if got := a.ratio(a.at(Node(i))); math.Abs(got-want) > 5e-5 {
				t.Errorf("ratio of node %d: %.5f, want %.4f", i, got, want)
			}
		}
	}
}
