package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Verdict compares an obtained figure with the published one.
type Verdict string

// Verdicts on published figures. Totals count these.
const (
	Equal         Verdict = "equal"         // the same, to the digits printed
	Within        Verdict = "within"        // numbers that differ by less than the note says
	Direction     Verdict = "direction"     // the trend, order or sign that is published holds; numbers are not judged
	Differs       Verdict = "differs"       // it does not hold: the note says why
	Unrecoverable Verdict = "unrecoverable" // it cannot be run again: the note says why
)

// Verdicts on figures that reproduce nothing. Totals leave these out.
const (
	// Fitted marks a published figure that a free number of the model was fitted to.
	Fitted Verdict = "fitted"
	// Unpublished marks a figure without a published counterpart. The project's own
	// expectation of it holds.
	Unpublished Verdict = "unpublished"
	// Missed marks a figure without a published counterpart, and the project's own
	// expectation of it does not hold: the note gives the reason.
	Missed Verdict = "missed"
)

// Verdicts are the verdicts that totals count, the best first.
var Verdicts = []Verdict{Equal, Within, Direction, Differs, Unrecoverable}

// Uncounted are the verdicts that totals leave out.
var Uncounted = []Verdict{Fitted, Unpublished, Missed}

// A Cell is one published figure, or one published statement about figures,
// beside what is obtained.
type Cell struct {
	Seed       uint64  `json:"seed"`       // of the run, or the first of several; 0 where nothing is random
	Experiment string  `json:"experiment"` // Experiment.Name
	Cell       string  `json:"cell"`       // what it is of
	Published  string  `json:"published"`
	Obtained   string  `json:"obtained"`
	Verdict    Verdict `json:"verdict"`
	// reason for the verdict; "" beside Differs or Missed means that no reason is known
	Note string `json:"note"`
}

// Unexplained reports whether the cell differs or misses its mark without a reason.
func (c Cell) Unexplained() bool {
	return (c.Verdict == Differs || c.Verdict == Missed) && c.Note == ""
}

// Counted reports whether totals count the cell.
func (c Cell) Counted() bool { return !slices.Contains(Uncounted, c.Verdict) }

// Count returns the number of cells by verdict.
func Count(cells []Cell) map[Verdict]int {
	out := map[Verdict]int{}
	for _, c := range cells {
		out[c.Verdict]++
	}
	return out
}

// A Sheet collects the cells of one experiment.
type Sheet struct {
	// FirstSeed is Cell.Seed of the cells that are added from now on.
	FirstSeed  uint64
	Cells      []Cell
	experiment string
}

// Add adds a cell whose verdict the caller has.
func (s *Sheet) Add(v Verdict, cell, published, obtained, note string) {
	s.Cells = append(s.Cells, Cell{s.FirstSeed, s.experiment, cell, published, obtained, v, note})
}

// Equal judges a figure that must come out as published, digit by digit.
func (s *Sheet) Equal(cell string, published, obtained any, note string) {
	s.Expect(cell, published, published, obtained, note)
}

// Expect judges a figure by another one than the text prints, because the text
// contradicts its own definitions; the note says how. A figure that differs
// keeps no note: none was written for that.
func (s *Sheet) Expect(cell string, published, expected, obtained any, note string) {
	v := Equal
	if fmt.Sprint(expected) != fmt.Sprint(obtained) {
		v, note = Differs, ""
	}
	s.Add(v, cell, fmt.Sprint(published), fmt.Sprint(obtained), note)
}

// Trend judges a statement about directions. why explains a failure by
// something measured; "" is no explanation.
func (s *Sheet) Trend(cell, published, obtained string, holds bool, note, why string) {
	if !holds {
		s.Add(Differs, cell, published, obtained, why)
		return
	}
	s.Add(Direction, cell, published, obtained, note)
}

// Near judges a number by how far it is from the published one: Within if by no more
// than so many percent of that, else it differs. format writes both.
func (s *Sheet) Near(cell string, published, obtained float64, format string, percent float64, note string) {
	v := Within
	if !(math.Abs(obtained-published) <= percent/100*published) {
		v, note = Differs, ""
	}
	if v == Within {
		note = strings.TrimSuffix(fmt.Sprintf("within %g %%; %s", percent, note), "; ")
	}
	s.Add(v, cell, fmt.Sprintf(format, published), fmt.Sprintf(format, obtained), note)
}

// Fit judges, as Near does, a published number that a free number of the model was fitted
// to. A near number is Fitted, which totals leave out, because it could hardly be another.
// A number that is far off differs all the same.
func (s *Sheet) Fit(cell string, published, obtained float64, format string, percent float64, note string) {
	s.Near(cell, published, obtained, format, percent, note)
	if c := &s.Cells[len(s.Cells)-1]; c.Verdict == Within {
		c.Verdict = Fitted
	}
}

// Own adds a figure of which nothing is published. expected is the project's own
// expectation of the figure, or "-". why gives the measured reason if the expectation
// does not hold, and "" means that no reason is known.
func (s *Sheet) Own(cell, expected, obtained string, holds bool, note, why string) {
	if !holds {
		s.Add(Missed, cell, expected, obtained, why)
		return
	}
	s.Add(Unpublished, cell, expected, obtained, note)
}

// Lost notes a figure that cannot be obtained.
func (s *Sheet) Lost(cell, published, why string) {
	s.Add(Unrecoverable, cell, published, "-", why)
}
