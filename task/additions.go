package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxAdded is the maximum number of tasks of an addition.
	MaxAdded = 1_000_000
	// MaxAdditions is the maximum number of tasks of all additions to a job.
	MaxAdditions = 10_000_000
)

// Additions computes the tasks that are added to a job: their points, the numbers of their trials, and their own
// numbers, which continue those of the job. A row of such a task has a cell for each of Columns, as Again.Row; without
// its last two cells, the trial and the number, it has the values of the point.
type Additions struct {
	of    *Job
	again *Again
	next  uint64 // number of the next task
	// trials is the number of the next trial of each point that earlier additions have, by pointKey.
	trials map[string]uint64
	points [][]string // values of points that are not the job's, in the order in which they were added
}

// NewAdditions returns the additions to a job. Call Note for each row of the earlier additions. Jobs with stages, and
// jobs that run tasks of another job, give an error of type *Error.
func NewAdditions(j *Job) (*Additions, error) {
	a := &Additions{of: j, again: j.RunAgain(), next: j.Tasks(), trials: map[string]uint64{}}
	switch {
	case len(j.Stages) > 0:
		return nil, &Error{Msg: "tasks cannot be added to a job with stages",
			Hint: "change its file and hand it in again: only what is new runs"}
	case a.again.old:
		return nil, &Error{Msg: "tasks cannot be added to a job that runs tasks of another job",
			Hint: "add them to the first job"}
	}
	return a, nil
}

// Columns are the names of the cells of a row: values by their names in templates, with _ for the point, then the trial
// and the number.
func (a *Additions) Columns() []string { return a.again.columns }

// Names are the names that templates of the job have for the cells of a row, without the number.
func (a *Again) Names() []string { return namesOf(a.of.Sweep.references()) }

// File returns the job file of an addition, whose table is to be set: see File.SetTable.
func (a *Additions) File() (*File, error) { return a.again.File() }

// Next returns the number of the next task.
func (a *Additions) Next() uint64 { return a.next }

// Note takes a row of an earlier addition into account.
func (a *Additions) Note(row []string) error {
	if len(row) != len(a.again.columns) {
		return fmt.Errorf("an addition with rows of %d cells, want %d", len(row), len(a.again.columns))
	}
	values := row[:len(row)-2]
	trial, err := strconv.ParseUint(row[len(row)-2], 10, 64)
	if err != nil {
		return fmt.Errorf("trial of an addition: %w", err)
	}
	number, err := strconv.ParseUint(row[len(row)-1], 10, 64)
	if err != nil {
		return fmt.Errorf("number of an added task: %w", err)
	}
	key := pointKey(values)
	if _, known := a.trials[key]; !known && trial == 0 {
		a.points = append(a.points, slices.Clone(values))
	}
	a.trials[key] = max(a.trials[key], trial+1)
	a.next = max(a.next, number+1)
	return nil
}

// pointKey names a point by its values.
func pointKey(values []string) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(strconv.Itoa(len(v)))
		b.WriteByte(':')
		b.WriteString(v)
	}
	return b.String()
}

// PointOf returns the values of the point of a task of the job itself.
func (a *Additions) PointOf(index uint64, rows Rows) ([]string, error) {
	row, err := a.again.Row(index, rows)
	if err != nil {
		return nil, err
	}
	return row[:len(row)-2], nil
}

// Trials calls add with the row of each new trial of a point. first is the number of trials that the job itself has of
// the point. If a trial reads a file that is no input of the job, the error is of type *Error.
func (a *Additions) Trials(values []string, first, trials uint64, add func(row []string) error) error {
	key := pointKey(values)
	trial, known := a.trials[key]
	if !known {
		trial = first
	}
	row := append(slices.Clone(values), "", "")
	for range trials {
		row[len(row)-2], row[len(row)-1] = strconv.FormatUint(trial, 10), strconv.FormatUint(a.next, 10)
		if err := a.checkFiles(row); err != nil {
			return err
		}
		if err := add(row); err != nil {
			return err
		}
		trial++
		a.next++
	}
	a.trials[key] = trial
	return nil
}

// checkFiles returns an error if a row names a file that the job does not have.
func (a *Additions) checkFiles(row []string) error {
	if len(a.of.Files) == 0 && a.of.Stdin == "" {
		return nil
	}
	params := make([]EnvVar, len(row)-1)
	for i, name := range a.again.Names() {
		params[i] = EnvVar{name, row[i]}
	}
	if _, err := a.of.expandPoint(params); err != nil {
		return &Error{Msg: fmt.Sprintf("task %s: %s", row[len(row)-1], strings.TrimPrefix(err.Error(), ErrTable.Error()+": ")),
			Hint: "hand in a job of its own: an addition has the input files of its job"}
	}
	return nil
}

// First returns the number of trials of each of the job's own points.
func (a *Additions) First() uint64 { return a.of.Sweep.trials() }

// Points calls f for the points of the job and of earlier additions, with the arguments values and first of Trials.
// where selects points: for each name, as in templates, it lists the accepted values.
func (a *Additions) Points(where map[string][]string, rows Rows, f func(values []string, first uint64) error) error {
	names := a.again.Names()
	names = names[:len(names)-1]
	for name := range where {
		if !slices.Contains(names, name) {
			return a.unknown(name, names)
		}
	}
	fits := func(values []string) bool {
		for i, name := range names {
			if wanted := where[name]; wanted != nil && !slices.ContainsFunc(wanted, func(w string) bool {
				return sameValue(w, values[i])
			}) {
				return false
			}
		}
		return true
	}
	trials := a.First()
	if a.of.Tasks()/trials > MaxAdditions {
		return &Error{Msg: fmt.Sprintf("the job has more than %d points", uint64(MaxAdditions)),
			Hint: "hand in a job of its own"}
	}
	for i := uint64(0); i < a.of.Tasks(); i += trials {
		values, err := a.PointOf(i, rows)
		if err != nil {
			return err
		}
		if fits(values) {
			if err := f(values, trials); err != nil {
				return err
			}
		}
	}
	for _, values := range a.points {
		if fits(values) {
			if err := f(values, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknown is the error for a name that no axis has.
func (a *Additions) unknown(name string, known []string) error {
	hint := "`godwit job` shows the axes of the job"
	if near := Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return &Error{Msg: fmt.Sprintf("the job has no axis %s", quote(name)), Hint: hint}
}

// sameValue reports whether two values are the same text, or the same decimal number.
func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	da, first := parseDecimal(a)
	db, second := parseDecimal(b)
	return first && second && da == db
}

// NewPoints calls f for each new point of the product of the given values of axes and all values of the other axes. It
// skips points that the job or an earlier addition has, and returns their number.
func (a *Additions) NewPoints(axes map[string][]string, rows Rows, f func(values []string) error) (known uint64,
	err error) {
	wide, err := a.widened(axes)
	if err != nil {
		return 0, err
	}
	if n := wide.Count(); n > MaxAdded {
		return 0, &Error{Msg: fmt.Sprintf("%d points are too many for an addition, the most is %d", n, MaxAdded),
			Hint: "hand in a job of its own"}
	}
	for i := range wide.Count() {
		params, err := wide.expandPoint(i, rows)
		if err != nil {
			return known, err
		}
		values := make([]string, len(params)-1) // without the trial
		for k := range values {
			values[k] = params[k].Value
		}
		if _, there := a.trials[pointKey(values)]; there || a.has(wide, i) {
			known++
			continue
		}
		if err := f(values); err != nil {
			return known, err
		}
	}
	return known, nil
}

// widened returns the job's sweep, once each point, with other values of some axes.
func (a *Additions) widened(axes map[string][]string) (*Sweep, error) {
	wide := a.of.Sweep.clone()
	wide.Repeat = 1
	left := len(axes)
	var names []string
	for i := range wide.Axes {
		axis := &wide.Axes[i]
		names = append(names, axis.Name)
		values, named := axes[axis.Name]
		if !named {
			continue
		}
		left--
		if axis.Table != nil {
			return nil, &Error{Msg: fmt.Sprintf("the values of axis %s come from a file", axis.Name),
				Hint: "add lines to the file and hand the job in again: only what is new runs"}
		}
		if axis.Joined || i+1 < len(wide.Axes) && wide.Axes[i+1].Joined {
			return nil, &Error{Msg: fmt.Sprintf("axis %s goes together with another one", axis.Name),
				Hint: "change the job file and hand it in again: only what is new runs"}
		}
		if err := axis.replace(values); err != nil {
			return nil, err
		}
	}
	for name := range axes {
		if left > 0 && !slices.Contains(names, name) {
			return nil, a.unknown(name, names)
		}
	}
	if f := wide.check(); f != nil {
		return nil, &Error{Msg: f.msg, Hint: f.hint}
	}
	return &wide, nil
}

// replace gives an axis other values: of a range they have to be numbers.
func (a *Axis) replace(values []string) error {
	if len(values) == 0 {
		return &Error{Msg: fmt.Sprintf("axis %s gets no values", a.Name), Hint: "write AXIS=VALUE,VALUE"}
	}
	out, seen := make([]string, 0, len(values)), map[string]bool{}
	for _, v := range values {
		if len(a.Values) == 0 {
			d, ok := parseDecimal(v)
			if !ok {
				return &Error{Msg: fmt.Sprintf("axis %s is a range of numbers, and %s is none", a.Name, quote(v)),
					Hint: "write a decimal of at most 18 digits, such as 0, -3 or 0.25"}
			}
			v = d.String()
		}
		if seen[v] {
			return &Error{Msg: fmt.Sprintf("axis %s gets the value %s twice", a.Name, quote(v)), Hint: "name each value once"}
		}
		seen[v] = true
		out = append(out, v)
	}
	*a = Axis{Name: a.Name, Values: out}
	return nil
}

// has reports whether the job has point i of a widened sweep.
func (a *Additions) has(wide *Sweep, i uint64) bool {
	at, _ := wide.places(i)
	for k := range wide.Axes {
		if now, before := &wide.Axes[k], &a.of.Sweep.Axes[k]; before.Table == nil && !before.holds(now.Value(at[k])) {
			return false
		}
	}
	return true
}

// holds reports whether an axis without a table has a value.
func (a *Axis) holds(value string) bool {
	if len(a.Values) > 0 {
		return slices.Contains(a.Values, value)
	}
	d, ok := parseDecimal(value)
	if !ok || d.decimals > a.Decimals {
		return false
	}
	aligned, ok := align(d, decimal{a.From, a.Decimals})
	if !ok || a.Decimals != aligned[0].decimals {
		return false
	}
	steps := (aligned[0].mantissa - a.From) / a.Step
	return steps >= 0 && uint64(steps) < a.Count && a.Value(uint64(steps)) == d.String()
}
