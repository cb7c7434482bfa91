package mgst

import (
	"fmt"
	"slices"
	"strings"

	"godwit/reproduce"
	"godwit/scheduler/place/allot"
)

// solved is an allocation of a system, written as the thesis does.
type solved struct{ *allot.Solution }

func solve(alpha []float64, mu [][]float64, available []float64) (solved, error) {
	if available == nil {
		available = slices.Repeat([]float64{1}, len(mu[0]))
	}
	s, err := allot.Solve(&allot.Problem{Arrivals: alpha, Rates: mu, Capacities: available})
	return solved{s}, err
}

// row writes a class's parts of machines.
func (s solved) row(class int) string {
	var out []string
	for _, v := range s.Share[class] {
		out = append(out, strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.4f", v), "0"), "."))
	}
	return strings.Join(out, " ")
}

// machines writes which machines have a part for a class.
func (s solved) machines(class int) string {
	var out []string
	for j, v := range s.Share[class] {
		if v > 0 {
			out = append(out, fmt.Sprint("M", j+1))
		}
	}
	return strings.Join(out, " ")
}

// load is 1/lambda.
func (s solved) load() float64 { return 1 / s.Lambda }

// allocation compares what the text says of the linear program.
func allocation(b *bench) error {
	b.Say("the linear program (4.2)-(4.4), machine j divided up to its availability a_j; nothing is random")
	two := [][]float64{{9, 5}, {2, 1}}
	worked, err := solve([]float64{2, 1.5}, two, nil)
	if err != nil {
		return err
	}
	const printed = "the text prints arrival rates 1 and 1.5, with which lambda is 1.7647; its matrix is that of 2 and 1.5"
	b.Equal("section 4.4.6, worked: lambda", "1.5789", fmt.Sprintf("%.4f", worked.Lambda), printed)
	b.Equal("section 4.4.6, worked: class 1", "0 0.6316", worked.row(0), printed)
	b.Equal("section 4.4.6, worked: class 2", "1 0.3684", worked.row(1), printed)
	if worked, err = solve([]float64{2, 1.5}, two, []float64{1, .5}); err != nil {
		return err
	}
	b.Equal("section 4.4.6, machine 2 half there: class 1", "0.0143 0.5", worked.row(0), "")
	b.Equal("section 4.4.6, machine 2 half there: class 2", "0.9857 0", worked.row(1), "")

	half, err := solve(hiHi.alpha, hiHi.mu, halfOfThree)
	if err != nil {
		return err
	}
	b.Equal("experiment 4: ideal load", "0.673", fmt.Sprintf("%.3f", half.load()), "")
	b.Equal("experiment 4: part of machine 2 for class 4", "0.936", fmt.Sprintf("%.3f", half.Share[3][1]),
		"the text calls it delta 4,4")
	b.Equal("experiment 4: classes 2 and 4 on machine 2", "6 : 94", fmt.Sprintf("%.0f : %.0f", 100*half.Share[1][1],
		100*half.Share[3][1]), "")
	// Table 7.6 has a measured rate for each machine that was given a class.
	for i, machines := range []string{"M1 M4 M5", "M2 M4 M6", "M3 M5", "M2"} {
		b.Equal(fmt.Sprintf("Table 7.6: machines of class %d", i+1), machines, half.machines(i), "")
	}
	part, err := solve(hiLo.alpha, hiLo.mu, partOfSix)
	if err != nil {
		return err
	}
	b.Equal("experiment 8: ideal load", "86.4 %", reproduce.Percent(part.load()), "")
	greedy, err := solve([]float64{1, 1.5}, [][]float64{{2, 2}, {2.1, 10}}, nil)
	if err != nil {
		return err
	}
	b.Equal("section 4.4.5: machine 1 is given", "class 1", "class "+classesOf(greedy, 0),
		"the text has machine 2 take class 1, which by its own rule takes class 2 (10 > 2); its point holds of machine 1, "+
			"which under Gc-mu takes class 2 (2.1 > 2)")
	return nil
}

// classesOf writes the classes that have a part of a machine.
func classesOf(s solved, machine int) string {
	var out []string
	for i := range s.Share {
		if s.Share[i][machine] > 0 {
			out = append(out, fmt.Sprint(i+1))
		}
	}
	return strings.Join(out, ", ")
}
