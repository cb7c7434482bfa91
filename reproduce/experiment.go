package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"godwit/trace"
)

// Options say what to run with.
type Options struct {
	// Traces are original traces, by the name of the set (Sets), which take the
	// place of the "-like" sets.
	Traces map[string]*trace.Trace
	// Seed is the first seed of everything random; replications count up from it.
	Seed uint64
	// Each calls run for 0 to n-1, in any order or at once. nil is one after the
	// other.
	Each func(n int, run func(i int))
}

// ForEach calls run for 0 to n-1 as Each does, or one after the other where Each is nil.
func (o *Options) ForEach(n int, run func(i int)) {
	if o.Each != nil {
		o.Each(n, run)
		return
	}
	for i := range n {
		run(i)
	}
}

// An Experiment is one published experiment.
type Experiment struct {
	Name  string // short, to select it by: "B.II", "E1"
	Title string
	Where string // section, tables and figures of the publication
	// Do runs the experiment and puts what it obtains on the bench.
	Do func(*Bench) error
}

// A Result is what came of an experiment.
type Result struct {
	Experiment Experiment
	// Setup says what was run on: sets, sizes, seeds, repetitions.
	Setup   []string
	Cells   []Cell
	Tables  []Table
	Figures []Figure
}

// Run runs the experiment. It fails when a scenario does not run; what differs
// from the publication is no error.
func (e Experiment) Run(o Options) (*Result, error) {
	b := &Bench{Options: o, Sheet: Sheet{experiment: e.Name}}
	if err := e.Do(b); err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.Name, err)
	}
	return &Result{Experiment: e, Setup: b.Setup, Cells: b.Cells, Tables: b.Tables, Figures: b.Figures}, nil
}

// Select returns the experiments of those names, in the order of all; no name
// is all of them. Names of letters in any case.
func Select(all []Experiment, names []string) ([]Experiment, error) {
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, e := range all {
		known = append(known, e.Name)
	}
	var out []Experiment
	for _, n := range names {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, n) }) {
			return nil, fmt.Errorf("there is no experiment %q: there are %s", n, strings.Join(known, ", "))
		}
	}
	for _, e := range all {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, e.Name) }) {
			out = append(out, e)
		}
	}
	return out, nil
}

// A Bench is what an experiment works on: what it is to run with, and what it has
// obtained so far.
type Bench struct {
	Options
	Sheet
	Setup   []string
	Tables  []Table
	Figures []Figure
}

// Say adds a line to the setup.
func (b *Bench) Say(format string, args ...any) {
	b.Setup = append(b.Setup, fmt.Sprintf(format, args...))
}
