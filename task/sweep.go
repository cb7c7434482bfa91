package task

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Limits of a sweep.
const (
	// MaxTasks is the most tasks a job may have. A sweep costs nothing to
	// hold, but its indices are counted, and its results some day stored.
	MaxTasks = 1_000_000_000_000
	// MaxAxes is the most axes a sweep may have.
	MaxAxes = 32
	// MaxValues is the most values an axis may list. Ranges may have more.
	MaxValues = 100_000
	// MaxValue is the longest value an axis may list, in bytes.
	MaxValue = 4096
)

// Trial is the name by which templates know the number of a trial, from 0 to
// Repeat-1. No axis may have it.
const Trial = "trial"

// A Sweep is the product of its axes, those that are joined being one, each point repeated Repeat times. The
// zero value has one point. It is never listed in memory: points are computed
// from their index, the last axis (then the trial) moving fastest.
type Sweep struct {
	Axes   []Axis `cbor:"1,keyasint"`
	Repeat uint64 `cbor:"2,keyasint"` // Monte-Carlo trials per point, in {{.trial}}; 0 means 1

	groups []*Grouping // of the stage whose points these are, or are groups of: see Stage.Groups
}

// An Axis is one swept parameter: a list of Values, the rows of a Table, or the numbers
// From, From+Step, ... up to To. Numbers are kept as decimal fractions (an
// integer mantissa over 10^Decimals), so that stepping adds no rounding error.
type Axis struct {
	Name     string   `cbor:"1,keyasint"`
	Values   []string `cbor:"2,keyasint"` // if not empty, the other fields are zero
	From     int64    `cbor:"3,keyasint"` // mantissa
	Step     int64    `cbor:"4,keyasint"` // mantissa, never 0 for a range
	Count    uint64   `cbor:"5,keyasint"` // points of a range
	Decimals uint8    `cbor:"6,keyasint"` // digits after the point in From and Step
	Table    *Table   `cbor:"7,keyasint,omitempty"`
	// Joined says that the axis goes with the one before it, point by point, in place of a product.
	Joined bool `cbor:"8,keyasint,omitempty"`

	// group is what the axis has a point for each group of, by those columns; nil: it has all points. No record has
	// such an axis: see Sweep.over.
	group   *Grouping
	columns []string
}

// Len returns the number of points of the axis.
func (a *Axis) Len() uint64 {
	switch {
	case a.group != nil:
		return a.group.Count
	case len(a.Values) > 0:
		return uint64(len(a.Values))
	case a.Table != nil:
		return a.Table.Rows
	}
	return a.Count
}

// Value returns the text of the axis's i-th point, i < Len(). Numbers are
// written with the fewest digits that are exact: "-2", "0", "0.1", "1". Of a table it is the number
// of the row, from 1 on; of a group of rows that of the first.
func (a *Axis) Value(i uint64) string {
	if a.group != nil {
		i = a.group.first(i)
	}
	switch {
	case len(a.Values) > 0:
		return a.Values[i]
	case a.Table != nil:
		return strconv.FormatUint(i+1, 10)
	}
	return decimal{a.From + a.Step*int64(i), a.Decimals}.String()
}

// clone returns a copy that shares no memory with s.
func (s *Sweep) clone() Sweep {
	c := Sweep{Axes: slices.Clone(s.Axes), Repeat: s.Repeat}
	for i := range c.Axes {
		a := &c.Axes[i]
		a.Values = slices.Clone(a.Values)
		if a.Table != nil {
			t := *a.Table
			t.Columns, t.Pages = slices.Clone(t.Columns), slices.Clone(t.Pages)
			a.Table = &t
		}
	}
	return c
}

// trials returns Repeat with its zero filled in.
func (s *Sweep) trials() uint64 { return max(s.Repeat, 1) }

// Count returns the number of tasks: the product of the axes' lengths and
// Repeat. A product too large for the type is returned as math.MaxUint64;
// Validate refuses it, and any above MaxTasks.
func (s *Sweep) Count() uint64 {
	n := s.trials()
	over := false
	for i := range s.Axes {
		length := s.Axes[i].Len()
		switch {
		case length == 0:
			return 0
		case s.Axes[i].Joined:
			continue
		}
		hi, lo := bits.Mul64(n, length)
		over = over || hi != 0
		n = lo
	}
	if over {
		return math.MaxUint64
	}
	return n
}

// Point returns what the index's point of the sweep is called, i < Count(): the
// value of each axis in order, then the trial. Every index is another point.
func (s *Sweep) Point(i uint64) []EnvVar {
	at, trial := s.places(i)
	params := make([]EnvVar, 0, len(s.Axes)+1)
	for k := range s.Axes {
		a := &s.Axes[k]
		params = append(params, EnvVar{a.Name, a.Value(at[k])})
	}
	return append(params, EnvVar{Trial, strconv.FormatUint(trial, 10)})
}

// expandPoint is Point with all that templates name of it: rows gives the rows of tables.
func (s *Sweep) expandPoint(i uint64, rows Rows) ([]EnvVar, error) {
	at, trial := s.places(i)
	params := make([]EnvVar, 0, len(s.Axes)+1)
	for k := range s.Axes {
		a := &s.Axes[k]
		if a.Table == nil {
			params = append(params, EnvVar{a.Name, a.Value(at[k])})
			continue
		}
		cells, err := a.cells(at[k], rows)
		if err != nil {
			return nil, err
		}
		params = append(params, cells...)
	}
	return append(params, EnvVar{Trial, strconv.FormatUint(trial, 10)}), nil
}

// Validate checks every axis and that there are at most MaxTasks points. What
// passes can be counted, and each of its points computed, without overflow.
func (s *Sweep) Validate() error {
	if f := s.check(); f != nil {
		return f
	}
	return nil
}

func (s *Sweep) check() *fault {
	if len(s.Axes) > MaxAxes {
		return faultf("sweep", "join some axes into one list of combined values",
			"%d axes, the most is %d", len(s.Axes), MaxAxes)
	}
	seen := make(map[string]bool, len(s.Axes))
	for i := range s.Axes {
		a := &s.Axes[i]
		if f := a.check(); f != nil {
			return f
		}
		if seen[a.Name] {
			return faultf("sweep."+a.Name, "give each axis its own name", "axis %s appears twice", quote(a.Name))
		}
		seen[a.Name] = true
	}
	if f := s.checkJoined(); f != nil {
		return f
	}
	return s.checkCount()
}

func (s *Sweep) checkCount() *fault {
	n := s.Count()
	if n <= MaxTasks {
		return nil
	}
	count := strconv.FormatUint(n, 10)
	if n == math.MaxUint64 {
		count = "more than 10^19"
	}
	return faultf("sweep", "sweep fewer values, or split the sweep into several jobs",
		"the sweep has %s tasks, the most is %d", count, uint64(MaxTasks))
}

func (a *Axis) check() *fault {
	where := "sweep." + a.Name
	switch {
	case !isIdentifier(a.Name):
		return faultf(where, "use letters, digits and _, at most 64, and no digit first",
			"axis name %s is not an identifier", quote(a.Name))
	case a.Name == Trial || a.Name == "repeat":
		return faultf(where, "choose another name; `trials: N` gives every point N trials, numbered by {{.trial}}",
			"no axis may be called %q", a.Name)
	case a.Table != nil && (len(a.Values) > 0 || a.From != 0 || a.Step != 0 || a.Count != 0 || a.Decimals != 0):
		return faultf(where, "", "axis %s is both a table and something else", a.Name)
	case a.Table != nil:
		return a.Table.check(where)
	case len(a.Values) > 0 && (a.From != 0 || a.Step != 0 || a.Count != 0 || a.Decimals != 0):
		return faultf(where, "", "axis %s is both a list and a range", a.Name)
	case len(a.Values) > 0:
		return a.checkValues(where)
	}
	return a.checkRange(where)
}

func (a *Axis) checkValues(where string) *fault {
	if len(a.Values) > MaxValues {
		return faultf(where, "read the values from an input file, by an index that is swept as a range",
			"axis %s lists %d values, the most is %d", a.Name, len(a.Values), MaxValues)
	}
	for _, v := range a.Values {
		if f := checkText(where, v, MaxValue); f != nil {
			return f
		}
	}
	return nil
}

func (a *Axis) checkRange(where string) *fault {
	switch {
	case a.Count == 0:
		return faultf(where, "give it at least one value, or leave it out", "axis %s is empty", a.Name)
	case a.Step == 0:
		return faultf(where, "choose a step that leads from `from` to `to`", "axis %s has a step of 0", a.Name)
	case a.Count > MaxTasks:
		return faultf(where, "take a larger step", "axis %s has %d points, the most is %d", a.Name, a.Count, uint64(MaxTasks))
	case a.Decimals > maxDigits || !withinDigits(a.From):
		return faultf(where, "", "axis %s has too many digits", a.Name)
	}
	// |Step| in uint64 is right for the smallest int64 too.
	step := uint64(a.Step)
	if a.Step < 0 {
		step = -step
	}
	hi, span := bits.Mul64(step, a.Count-1)
	if hi != 0 || span > 2*maxMantissa || !withinDigits(a.From+a.Step*int64(a.Count-1)) {
		return faultf(where, "", "axis %s ends at a number of too many digits", a.Name)
	}
	return nil
}

// longest returns an upper bound on the length of the axis's values, in bytes.
func (a *Axis) longest() int {
	if len(a.Values) == 0 {
		return maxDecimalText
	}
	n := 0
	for _, v := range a.Values {
		n = max(n, len(v))
	}
	return n
}

// isIdentifier reports whether s can be the name of an axis, and so stand in a
// template, or of an environment variable.
func isIdentifier(s string) bool {
	const maxIdentifier = 64 // bytes; more is an accident
	if s == "" || len(s) > maxIdentifier {
		return false
	}
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// rangeAxis makes the axis that goes from one number to another, by steps. The
// last point is the one before it would pass to.
func rangeAxis(name string, from, to, step decimal) (Axis, *fault) {
	where := "sweep." + name
	aligned, ok := align(from, to, step)
	if !ok {
		return Axis{}, faultf(where, "write fewer decimals, or sweep a smaller range",
			"from, to and step together need more than %d digits", maxDigits)
	}
	first, last, by := aligned[0], aligned[1], aligned[2]
	span := last.mantissa - first.mantissa // both are below 10^18: no overflow
	switch {
	case by.mantissa == 0:
		return Axis{}, faultf(where+".step", "choose a step that leads from `from` to `to`", "axis %s has a step of 0", name)
	case span > 0 && by.mantissa < 0, span < 0 && by.mantissa > 0:
		return Axis{}, faultf(where+".step", fmt.Sprintf("write step: %s, or swap from and to", step.negated()),
			"a step of %s never leads from %s to %s", step, from, to)
	}
	return Axis{
		Name:     name,
		From:     first.mantissa,
		Step:     by.mantissa,
		Count:    uint64(span/by.mantissa) + 1,
		Decimals: first.decimals,
	}, nil
}
