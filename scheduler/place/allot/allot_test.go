package allot

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The systems of Kokaly 2008, chapter 7.
var (
	hiHi = Problem{
		Arrivals: []float64{2.25, 4.50, 7.20, 12.60},
		Rates: [][]float64{
			{2, 2, 2, 2, 2, 2},
			{1, 20, 3.7, 7.1, 2.4, 8.7},
			{1, 20, 9.4, 3.7, 7.2, 2.7},
			{1, 20, 2.8, 5.9, 4.4, 6.3},
		},
		Capacities: []float64{1, 1, 1, 1, 1, 1},
	}
	loHi = grouped([]float64{22.5, 22.5, 18, 18}, [][]float64{
		{2.20, 7.00, 10.25, 1.00, 5.70, 0.50, 12.00},
		{1.95, 7.05, 9.78, 0.95, 5.65, 0.56, 11.85},
		{2.00, 7.25, 10.02, 0.98, 5.75, 0.67, 11.80},
		{2.05, 6.75, 9.99, 1.02, 5.82, 0.49, 12.05},
	})
	hiLo = grouped([]float64{10.5, 21, 26.25, 26.25}, [][]float64{
		{2.00, 2.50, 2.25, 2.00, 2.20, 1.75, 2.25},
		{4.50, 4.00, 4.20, 4.00, 3.80, 3.90, 3.95},
		{6.00, 6.20, 6.25, 6.00, 5.75, 5.90, 6.05},
		{10.00, 10.25, 10.50, 9.50, 10.25, 10.25, 10.00},
	})
	half6 = []float64{1, 1, 1, .5, .5, .5}
	av21  = func() []float64 {
		a := slices.Repeat([]float64{1}, 21)
		for _, j := range []int{2, 11, 19} {
			a[j-1] = .5
		}
		for _, j := range []int{3, 12, 20} {
			a[j-1] = .75
		}
		return a
	}()
)

// grouped is a system of 21 machines in seven groups, three times in turn.
func grouped(arrivals []float64, rates [][]float64) Problem {
	p := Problem{Arrivals: arrivals, Capacities: slices.Repeat([]float64{1}, 21)}
	for _, row := range rates {
		p.Rates = append(p.Rates, slices.Repeat(row, 3))
	}
	return p
}

func (p Problem) with(capacities []float64) *Problem {
	p.Capacities = capacities
	return &p
}

func solve(t testing.TB, p *Problem) *Solution {
	t.Helper()
	s, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pattern says which classes, from 1, each machine has a part for.
func pattern(s *Solution) string {
	var out []string
	for j := range s.Share[0] {
		of := ""
		for i := range s.Share {
			if s.Share[i][j] > 0 {
				of += fmt.Sprint(i + 1)
			}
		}
		out = append(out, "{"+of+"}")
	}
	return strings.Join(out, "")
}

func zeros(s *Solution, capacities []float64) (n int) {
	for i := range s.Share {
		for j, v := range s.Share[i] {
			if v == 0 && capacities[j] > 0 {
				n++
			}
		}
	}
	return n
}

// What is published of the allocation, and what follows from its systems, which
// three other solvers agreed on.
func TestPublishedAllocations(t *testing.T) {
	two := Problem{Arrivals: []float64{2, 1.5}, Rates: [][]float64{{9, 5}, {2, 1}}}
	for _, tt := range []struct {
		name    string
		p       *Problem
		lambda  float64
		pattern string
		share   map[[2]int]float64
	}{
		{"worked, arrivals 2 and 1.5", two.with([]float64{1, 1}), 30. / 19, "{2}{12}",
			map[[2]int]float64{{0, 1}: 12. / 19, {1, 1}: 7. / 19, {1, 0}: 1}},
		{"worked, as printed 1 and 1.5", (&Problem{Arrivals: []float64{1, 1.5}, Rates: two.Rates}).with([]float64{1, 1}),
			30. / 17, "{2}{12}", map[[2]int]float64{{0, 1}: 6. / 17}},
		{"worked, machine 2 half there", two.with([]float64{1, .5}), 46. / 35, "{12}{1}",
			map[[2]int]float64{{0, 0}: 1. / 70, {0, 1}: .5, {1, 0}: 69. / 70}},
		{"illustration of Gc-mu", &Problem{Arrivals: []float64{1, 1.5}, Rates: [][]float64{{2, 2}, {2.1, 10}},
			Capacities: []float64{1, 1}}, 40. / 13, "{1}{12}", map[[2]int]float64{{0, 1}: 7. / 13, {1, 1}: 6. / 13}},
		{"HiHi", &hiHi, 1.820769, "{1}{4}{3}{14}{13}{24}",
			map[[2]int]float64{{0, 3}: .5636, {0, 4}: .4848, {1, 5}: .9418, {2, 4}: .5152, {3, 3}: .4364, {3, 5}: .0582}},
		{"HiHi, half there", hiHi.with(half6), 1.485653, "{1}{24}{3}{12}{13}{2}",
			map[[2]int]float64{{0, 3}: .7029 / 2, {0, 4}: .6398 / 2, {1, 1}: .0640, {1, 3}: .2971 / 2, {2, 4}: .3602 / 2,
				{3, 1}: .9360}},
		{"HiHi, 1 down", hiHi.with([]float64{0, 1, 1, 1, 1, 1}), 1.6113, "{}{4}{3}{1}{13}{124}", nil},
		{"HiHi, 2 down", hiHi.with([]float64{1, 0, 1, 1, 1, 1}), 1.0495, "{1}{}{134}{4}{4}{24}", nil},
		{"HiHi, 3 down", hiHi.with([]float64{1, 1, 0, 1, 1, 1}), 1.5255, "{1}{34}{}{14}{3}{24}", nil},
		{"HiHi, 4 down", hiHi.with([]float64{1, 1, 1, 0, 1, 1}), 1.6113, "{1}{4}{3}{}{13}{124}", nil},
		{"HiHi, 5 down", hiHi.with([]float64{1, 1, 1, 1, 0, 1}), 1.5995, "{1}{34}{3}{14}{}{24}", nil},
		{"HiHi, 6 down", hiHi.with([]float64{1, 1, 1, 1, 1, 0}), 1.5711, "{1}{24}{3}{12}{13}{}", nil},
		{"half there, 1 down", hiHi.with([]float64{0, 1, 1, .5, .5, .5}), 1.2444, "{}{24}{13}{1}{1}{12}", nil},
		{"half there, 2 down", hiHi.with([]float64{1, 0, 1, .5, .5, .5}), .6326, "{14}{}{34}{4}{4}{24}", nil},
		{"half there, 3 down", hiHi.with([]float64{1, 1, 0, .5, .5, .5}), 1.1951, "{1}{34}{}{124}{3}{2}", nil},
		{"half there, 4 down", hiHi.with([]float64{1, 1, 1, 0, .5, .5}), 1.3729, "{1}{234}{3}{}{1}{12}", nil},
		{"half there, 5 down", hiHi.with([]float64{1, 1, 1, .5, 0, .5}), 1.3729, "{1}{234}{3}{1}{}{12}", nil},
		{"half there, 6 down", hiHi.with([]float64{1, 1, 1, .5, .5, 0}), 1.3505, "{1}{24}{3}{12}{13}{}", nil},
	} {
		s := solve(t, tt.p)
		if d := math.Abs(s.Lambda - tt.lambda); d > 5e-5 {
			t.Errorf("%s: lambda is %v, want %v", tt.name, s.Lambda, tt.lambda)
		}
		if got := pattern(s); got != tt.pattern {
			t.Errorf("%s: parts are %s, want %s", tt.name, got, tt.pattern)
		}
		for at, want := range tt.share {
			if got := s.Share[at[0]][at[1]]; math.Abs(got-want) > 6e-5 {
				t.Errorf("%s: class %d has %v of machine %d, want %v", tt.name, at[0]+1, got, at[1]+1, want)
			}
		}
	}
}

// The systems of 21 machines: lambda, the totals of groups, and the zeros of a
// vertex.
func TestPublishedGroups(t *testing.T) {
	for _, tt := range []struct {
		name   string
		p      *Problem
		lambda float64
		totals map[[2]int]float64 // class and group, from 1
	}{
		{"LoHi", &loHi, 1.445870, map[[2]int]float64{{1, 1}: 3, {1, 3}: 2.53, {2, 7}: 2.7453, {3, 2}: 3, {3, 3}: .2261,
			{3, 6}: 3, {4, 3}: .2439, {4, 4}: 3, {4, 5}: 3, {4, 7}: .2547}},
		{"LoHi, partly there", loHi.with(av21), 1.307754,
			map[[2]int]float64{{1, 1}: 3, {1, 3}: 2.2268, {2, 7}: 2.4831, {3, 2}: 2.5, {3, 3}: .3565, {3, 6}: 2.75,
				{4, 3}: .1667, {4, 4}: 2.5, {4, 5}: 2.25, {4, 7}: .5169}},
		{"HiLo", &hiLo, 1.294929, map[[2]int]float64{{1, 2}: 3, {1, 5}: 2.6837, {1, 7}: .0856, {2, 1}: 3, {2, 3}: 3,
			{2, 4}: .2734, {3, 4}: 2.7266, {3, 7}: 2.9144, {4, 5}: .3163, {4, 6}: 3}},
		{"HiLo, partly there", hiLo.with(av21), 1.157878,
			map[[2]int]float64{{1, 2}: 2.5, {1, 5}: 2.0347, {1, 7}: .6362, {2, 1}: 3, {2, 3}: 2.5751, {3, 3}: .1749,
				{3, 4}: 2.5, {3, 7}: 2.3638, {4, 5}: .2153, {4, 6}: 2.75}},
	} {
		s := solve(t, tt.p)
		if math.Abs(s.Lambda-tt.lambda) > 5e-7 {
			t.Errorf("%s: lambda is %v, want %v", tt.name, s.Lambda, tt.lambda)
		}
		for i := range s.Share {
			for g := range 7 {
				total := s.Share[i][g] + s.Share[i][g+7] + s.Share[i][g+14]
				if want := tt.totals[[2]int{i + 1, g + 1}]; math.Abs(total-want) > 6e-5 {
					t.Errorf("%s: class %d has %v of group %d, want %v", tt.name, i+1, total, g+1, want)
				}
			}
		}
		if n := zeros(s, tt.p.Capacities); n != 60 {
			t.Errorf("%s: %d parts are 0, want 60", tt.name, n)
		}
	}
}

// draw makes a problem of a few classes and machines, some of them alike, down,
// without arrivals, or unable to run a class.
func draw(t *rapid.T) *Problem {
	n, m := rapid.IntRange(1, 5).Draw(t, "classes"), rapid.IntRange(1, 9).Draw(t, "machines")
	p := &Problem{}
	number := rapid.OneOf(rapid.Just(0.), rapid.SampledFrom([]float64{.5, 1, 2, 3}), rapid.Float64Range(.01, 100))
	for range n {
		p.Arrivals = append(p.Arrivals, number.Draw(t, "alpha"))
		p.Rates = append(p.Rates, rapid.SliceOfN(number, m, m).Draw(t, "mu"))
	}
	p.Capacities = rapid.SliceOfN(number, m, m).Draw(t, "a")
	return p
}

// What comes out is feasible, is a vertex, and is the best that can be.
func TestSolveIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := draw(t)
		s, err := Solve(p)
		if errors.Is(err, ErrNothing) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		parts := 0
		for j, a := range p.Capacities {
			used := 0.
			for i := range s.Share {
				v := s.Share[i][j]
				if v < 0 || v > 0 && p.Rates[i][j] == 0 && p.Arrivals[i] == 0 {
					t.Fatalf("class %d has %v of machine %d", i, v, j)
				}
				used += v
				if v > 0 {
					parts++
				}
			}
			if used > a*(1+1e-7) {
				t.Fatalf("machine %d gives %v of %v", j, used, a)
			}
		}
		served := 0
		for i, alpha := range p.Arrivals {
			if alpha == 0 || slices.Contains(s.Idle, i) {
				continue
			}
			served++
			got := 0.
			for j := range p.Capacities {
				got += s.Share[i][j] * p.Rates[i][j]
			}
			if got < s.Lambda*alpha*(1-1e-6) {
				t.Fatalf("class %d gets %v, less than %v times %v", i, got, s.Lambda, alpha)
			}
		}
		up := 0
		for _, a := range p.Capacities {
			if a > 0 {
				up++
			}
		}
		if most := served + up - 1; parts > most {
			t.Fatalf("%d parts are not 0: a vertex has at most %d", parts, most)
		}
		if most := bound(p, s.Idle); !(math.Abs(most-s.Lambda) <= 1e-6*most) {
			t.Fatalf("lambda is %v, and could be %v", s.Lambda, most)
		}
	})
}

// bound is what no lambda can exceed, by weak duality: for any prices x of tasks,
//
//	lambda sum of alpha_i x_i <= sum over i and j of delta_ij mu_ij x_i <= sum of a_j max over i of mu_ij x_i
//
// It is the least at the prices that the slack columns have at the optimum.
func bound(p *Problem, idle []int) float64 {
	groups := p.groups()
	var classes []int
	for i, alpha := range p.Arrivals {
		if alpha > 0 && !slices.Contains(idle, i) {
			classes = append(classes, i)
		}
	}
	t, _, _ := p.program(classes, groups)
	t.solve()
	above, below := 0., 0.
	price := make([]float64, len(classes))
	for k, i := range classes {
		scale := 0.
		for g := range groups {
			scale = max(scale, groups[g].rates[i])
		}
		price[k] = max(0, t.goal[1+len(classes)*len(groups)+k]) / scale
		below += price[k] * p.Arrivals[i]
	}
	for j, a := range p.Capacities {
		most := 0.
		for k, i := range classes {
			most = max(most, price[k]*p.Rates[i][j])
		}
		above += a * most
	}
	return above / below
}

func TestRefused(t *testing.T) {
	one := []float64{1}
	for _, tt := range []struct {
		p       Problem
		problem string
	}{
		{Problem{}, "0 classes"},
		{Problem{Arrivals: make([]float64, MaxClasses+1)}, "65 classes"},
		{Problem{Arrivals: one, Capacities: one}, "rates of 0 classes"},
		{Problem{Arrivals: one, Rates: [][]float64{{1, 2}}, Capacities: one}, "rates of 2 machines"},
		{Problem{Arrivals: []float64{math.NaN()}, Rates: [][]float64{one}, Capacities: one},
			"class 0 arrives at the rate NaN"},
		{Problem{Arrivals: []float64{-1}, Rates: [][]float64{one}, Capacities: one}, "rate -1"},
		{Problem{Arrivals: one, Rates: [][]float64{{math.Inf(1)}}, Capacities: one}, "rate +Inf"},
		{Problem{Arrivals: one, Rates: [][]float64{{1e-300}}, Capacities: one}, "machine 0 at the rate 1e-300"},
		{Problem{Arrivals: one, Rates: [][]float64{one}, Capacities: []float64{1e13}}, "capacity 1e+13"},
		{Problem{Arrivals: one, Rates: [][]float64{{0}}, Capacities: one}, "executed anywhere"},
		{Problem{Arrivals: []float64{0}, Rates: [][]float64{one}, Capacities: one}, "executed anywhere"},
		{Problem{Arrivals: one, Rates: [][]float64{one}, Capacities: []float64{0}}, "executed anywhere"},
		{Problem{Arrivals: one, Rates: [][]float64{nil}}, "executed anywhere"},
	} {
		if _, err := Solve(&tt.p); err == nil || !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("got %v, want %q", err, tt.problem)
		}
	}
}

// Any number of machines, each of its own kind, comes to an end.
func TestManyMachines(t *testing.T) {
	for _, m := range []int{100, 1000, 10_000} {
		p, seed := &Problem{Capacities: slices.Repeat([]float64{1}, m)}, uint64(1)
		next := func() float64 { // a plain congruential generator: the numbers only have to differ
			seed = seed*6364136223846793005 + 1442695040888963407
			return float64(seed>>40) / (1 << 24)
		}
		for range 8 {
			p.Arrivals = append(p.Arrivals, 1+next())
			row := make([]float64, m)
			for j := range row {
				if next() > .3 {
					row[j] = math.Exp(20 * (next() - .5))
				}
			}
			p.Rates = append(p.Rates, row)
		}
		s := solve(t, p)
		idle := 0
		for j := range m {
			if !slices.ContainsFunc(s.Share, func(row []float64) bool { return row[j] > 0 }) {
				idle++
			}
		}
		if s.Lambda <= 0 || idle > m/2 {
			t.Errorf("%d machines: lambda is %v, and %d get nothing", m, s.Lambda, idle)
		}
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, p := range []*Problem{&hiHi, &loHi, loHi.with(av21)} {
		b.Run(fmt.Sprint("machines=", len(p.Capacities)), func(b *testing.B) {
			for b.Loop() {
				if _, err := Solve(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
