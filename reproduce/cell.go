package reproduce

import (
	"fmt"
	"math"
	"strings"
)

// A Verdict says how what is obtained stands to what was published.
type Verdict string

// The verdicts.
const (
	Equal         Verdict = "equal"         // the same, to the digits printed
	Within        Verdict = "within"        // numbers that differ by less than the note says
	Direction     Verdict = "direction"     // the trend, order or sign that is published holds; numbers are not judged
	Differs       Verdict = "differs"       // it does not hold: the note says why
	Unrecoverable Verdict = "unrecoverable" // it cannot be run again: the note says why
)

// Verdicts are all verdicts, the best first.
var Verdicts = []Verdict{Equal, Within, Direction, Differs, Unrecoverable}

// A Cell is one published figure, or one published statement about figures,
// beside what is obtained.
type Cell struct {
	Seed       uint64  `json:"seed"`       // of the run, or the first of several; 0 where nothing is random
	Experiment string  `json:"experiment"` // Experiment.Name
	Cell       string  `json:"cell"`       // what it is of
	Published  string  `json:"published"`
	Obtained   string  `json:"obtained"`
	Verdict    Verdict `json:"verdict"`
	// what the verdict rests on; never "" beside Differs that is explained, or Unrecoverable
	Note string `json:"note"`
}

// Unexplained says that the cell differs and nothing says why.
func (c Cell) Unexplained() bool { return c.Verdict == Differs && c.Note == "" }

// Count is how many cells have each verdict.
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

// Lost notes a figure that cannot be obtained.
func (s *Sheet) Lost(cell, published, why string) {
	s.Add(Unrecoverable, cell, published, "-", why)
}
