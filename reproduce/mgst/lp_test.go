package mgst

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestWorkedAllocations are the examples of sections 4.4.5 and 4.4.6, with the arrival
// rates as printed and as the matrix has them.
func TestWorkedAllocations(t *testing.T) {
	two := [][]float64{{9, 5}, {2, 1}}
	for _, tt := range []struct {
		alpha     []float64
		mu        [][]float64
		available []float64
		lambda    float64
		rows      string
	}{
		{[]float64{2, 1.5}, two, nil, 30. / 19, "0 0.6316; 1 0.3684"},
		{[]float64{1, 1.5}, two, nil, 30. / 17, "0 0.3529; 1 0.6471"},
		{[]float64{2, 1.5}, two, []float64{1, .5}, 46. / 35, "0.0143 0.5; 0.9857 0"},
		{[]float64{1, 1.5}, two, []float64{1, .5}, 25. / 17, "0 0.2941; 1 0.2059"},
		{[]float64{1, 1.5}, [][]float64{{2, 2}, {2.1, 10}}, nil, 40. / 13, "1 0.5385; 0 0.4615"},
	} {
		s, err := solve(tt.alpha, tt.mu, tt.available)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.row(0) + "; " + s.row(1); got != tt.rows || math.Abs(s.Lambda-tt.lambda) > 1e-9 {
			t.Errorf("%v, %v: lambda %v, %s; want %v, %s", tt.alpha, tt.available, s.Lambda, got, tt.lambda, tt.rows)
		}
	}
}

// TestZeros: a vertex has at least NM + 1 - N - M zeros, and where it is not degenerate
// exactly as many: 15 with HiHi, 60 with 21 machines.
func TestZeros(t *testing.T) {
	for _, tt := range []struct {
		system *system
		zeros  int
	}{{hiHi, 15}, {loHi, 60}, {hiLo, 60}} {
		s, err := solve(tt.system.alpha, tt.system.mu, nil)
		if err != nil {
			t.Fatal(err)
		}
		zeros := 0
		for _, row := range s.Share {
			for _, v := range row {
				if v == 0 {
					zeros++
				}
			}
		}
		if zeros != tt.zeros {
			t.Errorf("%s: %d zeros, want %d", tt.system.name, zeros, tt.zeros)
		}
	}
}

// TestHiHiShares are the allocations of experiments 1 and 2: machines of each class, and
// of the second how much of machine 2 class 4 has.
func TestHiHiShares(t *testing.T) {
	for _, tt := range []struct {
		available []float64
		machines  string
		rows      []string
	}{
		{nil, "M1 M4 M5; M6; M3 M5; M2 M4 M6", []string{
			"1 0 0 0.5636 0.4848 0", "0 0 0 0 0 0.9418", "0 0 1 0 0.5152 0", "0 1 0 0.4364 0 0.0582"}},
		{halfOfThree, "M1 M4 M5; M2 M4 M6; M3 M5; M2", nil},
	} {
		s, err := solve(hiHi.alpha, hiHi.mu, tt.available)
		if err != nil {
			t.Fatal(err)
		}
		var machines []string
		for i := range hiHi.alpha {
			machines = append(machines, s.machines(i))
			if tt.rows != nil && s.row(i) != tt.rows[i] {
				t.Errorf("class %d: %s, want %s", i+1, s.row(i), tt.rows[i])
			}
		}
		if got := strings.Join(machines, "; "); got != tt.machines {
			t.Errorf("%v: %s, want %s", tt.available, got, tt.machines)
		}
	}
}

// TestOneMachineDown: which classes each machine of HiHi may be given when one of them is
// down, and the load that can still be carried. Below 1 there is more work than that.
func TestOneMachineDown(t *testing.T) {
	for _, tt := range []struct {
		available []float64
		down      int
		lambda    float64
		classes   string // by machine
	}{
		{nil, 1, 1.6113, "; 4; 3; 1; 1, 3; 1, 2, 4"},
		{nil, 2, 1.0495, "1; ; 1, 3, 4; 4; 4; 2, 4"},
		{nil, 3, 1.5255, "1; 3, 4; ; 1, 4; 3; 2, 4"},
		{nil, 4, 1.6113, "1; 4; 3; ; 1, 3; 1, 2, 4"},
		{nil, 5, 1.5995, "1; 3, 4; 3; 1, 4; ; 2, 4"},
		{nil, 6, 1.5711, "1; 2, 4; 3; 1, 2; 1, 3; "},
		{halfOfThree, 1, 1.2444, "; 2, 4; 1, 3; 1; 1; 1, 2"},
		{halfOfThree, 2, 0.6326, "1, 4; ; 3, 4; 4; 4; 2, 4"},
		{halfOfThree, 3, 1.1951, "1; 3, 4; ; 1, 2, 4; 3; 2"},
		{halfOfThree, 4, 1.3729, "1; 2, 3, 4; 3; ; 1; 1, 2"},
		{halfOfThree, 5, 1.3729, "1; 2, 3, 4; 3; 1; ; 1, 2"},
		{halfOfThree, 6, 1.3505, "1; 2, 4; 3; 1, 2; 1, 3; "},
	} {
		available := slices.Repeat([]float64{1}, len(hiHi.mu[0]))
		if tt.available != nil {
			available = slices.Clone(tt.available)
		}
		available[tt.down-1] = 0
		s, err := solve(hiHi.alpha, hiHi.mu, available)
		if err != nil {
			t.Fatal(err)
		}
		var classes []string
		for j := range available {
			classes = append(classes, classesOf(s, j))
		}
		if got := strings.Join(classes, "; "); got != tt.classes || math.Abs(s.Lambda-tt.lambda) > 5e-5 {
			t.Errorf("machine %d of %v: lambda %.4f, %s; want %v, %s", tt.down, tt.available, s.Lambda, got, tt.lambda,
				tt.classes)
		}
	}
}

// TestGroups: with identical machines only the totals of groups are unique.
func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		system    *system
		available []float64
		want      [4]map[int]float64 // by class: group to total
	}{
		{loHi, nil, [4]map[int]float64{{1: 3, 3: 2.53}, {7: 2.7453}, {2: 3, 3: .2261, 6: 3},
			{3: .2439, 4: 3, 5: 3, 7: .2547}}},
		{loHi, partOfSix, [4]map[int]float64{{1: 3, 3: 2.2268}, {7: 2.4831}, {2: 2.5, 3: .3565, 6: 2.75},
			{3: .1667, 4: 2.5, 5: 2.25, 7: .5169}}},
		{hiLo, nil, [4]map[int]float64{{2: 3, 5: 2.6837, 7: .0856}, {1: 3, 3: 3, 4: .2734}, {4: 2.7266, 7: 2.9144},
			{5: .3163, 6: 3}}},
		{hiLo, partOfSix, [4]map[int]float64{{2: 2.5, 5: 2.0347, 7: .6362}, {1: 3, 3: 2.5751},
			{3: .1749, 4: 2.5, 7: 2.3638}, {5: .2153, 6: 2.75}}},
	} {
		s, err := solve(tt.system.alpha, tt.system.mu, tt.available)
		if err != nil {
			t.Fatal(err)
		}
		for class, want := range tt.want {
			got := map[int]float64{}
			for j, v := range s.Share[class] {
				got[j%7+1] += v
			}
			for group := range 7 {
				if math.Abs(got[group+1]-want[group+1]) > 5e-5 {
					t.Errorf("%s, %v, class %d: %s, want %v", tt.system.name, tt.available, class+1,
						fmt.Sprint(got), want)
					break
				}
			}
		}
	}
}
