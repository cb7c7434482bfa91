package mgst

import "slices"

// A system is a system of the thesis: arrival rates alpha by class, and rates mu
// by class and machine, in jobs a time unit.
type system struct {
	name  string
	alpha []float64
	mu    [][]float64
}

// seven is a system of 21 machines of seven kinds, three times in turn.
func seven(name string, alpha []float64, mu [][]float64) *system {
	s := &system{name: name, alpha: alpha}
	for _, row := range mu {
		s.mu = append(s.mu, slices.Repeat(row, 3))
	}
	return s
}

var (
	// hiHi is Table 7.1: jobs and machines differ much.
	hiHi = &system{
		name: "HiHi", alpha: []float64{2.25, 4.50, 7.20, 12.60},
		mu: [][]float64{
			{2, 2, 2, 2, 2, 2},
			{1, 20, 3.7, 7.1, 2.4, 8.7},
			{1, 20, 9.4, 3.7, 7.2, 2.7},
			{1, 20, 2.8, 5.9, 4.4, 6.3},
		},
	}
	// loHi is Table 7.12: machines differ, jobs do not.
	loHi = seven("LoHi", []float64{22.5, 22.5, 18, 18}, [][]float64{
		{2.20, 7.00, 10.25, 1.00, 5.70, 0.50, 12.00},
		{1.95, 7.05, 9.78, 0.95, 5.65, 0.56, 11.85},
		{2.00, 7.25, 10.02, 0.98, 5.75, 0.67, 11.80},
		{2.05, 6.75, 9.99, 1.02, 5.82, 0.49, 12.05},
	})
	// hiLo is Table 7.17: jobs differ, machines do not.
	hiLo = seven("HiLo", []float64{10.5, 21, 26.25, 26.25}, [][]float64{
		{2.00, 2.50, 2.25, 2.00, 2.20, 1.75, 2.25},
		{4.50, 4.00, 4.20, 4.00, 3.80, 3.90, 3.95},
		{6.00, 6.20, 6.25, 6.00, 5.75, 5.90, 6.05},
		{10.00, 10.25, 10.50, 9.50, 10.25, 10.25, 10.00},
	})
	// loLo stands for the system of which Table 7.22 prints hiLo's rates again, with
	// which its Tables 7.23 to 7.30 cannot come out. The rates were searched for: of
	// 240 random ones near 5 those with which LPAS_DG comes nearest Tables 7.23 and
	// 7.25.
	loLo = seven("LoLo-S", []float64{18, 20.25, 15.75, 22.5}, [][]float64{
		{4.80, 4.80, 5.10, 5.05, 5.25, 5.10, 4.85},
		{4.95, 5.15, 5.00, 4.75, 5.15, 5.15, 4.80},
		{4.90, 4.85, 5.05, 4.80, 4.75, 4.90, 5.15},
		{4.80, 4.80, 5.05, 5.20, 5.00, 4.95, 5.20},
	})

	// halfOfThree is the availability of experiments 2 and 4, partOfSix that of 6, 8, 10
	// and 12, by machine.
	halfOfThree = []float64{1, 1, 1, .5, .5, .5}
	partOfSix   = []float64{
		1, .5, .75, 1, 1, 1, 1,
		1, 1, 1, .5, .75, 1, 1,
		1, 1, 1, 1, .5, .75, 1,
	}
)
