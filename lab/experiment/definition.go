package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"godwit/lab/testbed/impose"
	"godwit/lab/testbed/plan"
	"godwit/sim"
	"godwit/sim/scenario"
	"godwit/task"
	"godwit/trace"
)

// Limits of one definition.
const (
	MaxScenario = scenario.MaxFile // scenario size in bytes
	MaxFiles    = 16               // number of other files
	MaxFileSize = 4 << 20          // total size of the other files in bytes
	MaxName     = 100              // name length in bytes
	MaxServers  = plan.MaxNodes
	maxSpells   = 1 << 18 // up and down intervals of all servers: 4 MiB
)

// Source is the input of a definition.
type Source struct {
	Name     string `json:"name"`     // label, also used in the scenario's errors (default "scenario")
	Scenario string `json:"scenario"` // content of a scenario file
	// Files contains the scenario's other files by name: traces in CSV, rates and servers. Names have no directory.
	Files map[string]string `json:"files,omitempty"`
}

// Definition is a valid experiment. Times are in units of its rates.
type Definition struct {
	ID      string    `json:"id"` // set by Manager.Define
	Defined time.Time `json:"defined,omitzero"`
	Source
	UnitS    float64  `json:"unit_s"` // length of a unit in seconds of scenario time
	Length   float64  `json:"length"` // run length in units
	Policies []string `json:"policies"`
	Classes  []Class  `json:"classes"`
	Servers  []Server `json:"servers"`

	experiment *scenario.Experiment
	grid       []*sim.Scenario // one run per policy
	start, end time.Time       // run boundaries in scenario time
}

// Class is a class of tasks.
type Class struct {
	Class   string  `json:"class"`
	Arrival float64 `json:"arrival"` // arrival rate in tasks per unit
}

// Server is a machine.
type Server struct {
	Server       string    `json:"server"`
	Availability float64   `json:"availability"` // share of the processor for tasks, 0 to 1
	Rates        []float64 `json:"rates"`        // execution rate per class at full availability, in tasks per unit
	Failures     int       `json:"failures"`     // number of failures during a run
}

var errNoLog = errors.New("an experiment has classes, and no log: leave the log out")

// Decode parses and validates a source. Errors in the scenario are *task.Error with line and column.
func Decode(s Source) (*Definition, error) {
	if s.Name == "" {
		s.Name = "scenario"
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	e, err := scenario.Decode(s.Name, []byte(s.Scenario), s.trace,
		func(string) (*trace.Workload, error) { return nil, errNoLog }, s.text)
	if err != nil {
		return nil, err
	}
	d := &Definition{Source: s, experiment: e}
	if err := d.checkKind(); err != nil {
		return nil, err
	}
	if d.grid, err = e.Grid(); err != nil {
		return nil, err
	}
	d.describe()
	if err := d.checkServed(); err != nil {
		return nil, err
	}
	return d, nil
}

// check returns an error if the source is too large or a file name has a directory.
func (s *Source) check() error {
	size := 0
	for name, text := range s.Files {
		size += len(text)
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) ||
			len(name) > MaxName || name == scenarioFile {
			return &task.Error{File: s.Name, Line: 1, Column: 1, Msg: fmt.Sprintf("%.120q is no valid file name", name),
				Hint: "name files without a directory, such as failures.csv"}
		}
	}
	for _, tooMuch := range []struct {
		n, most int
		what    string
	}{
		{len(s.Scenario), MaxScenario, "bytes of the scenario"},
		{len(s.Name), MaxName, "bytes of the name"},
		{len(s.Files), MaxFiles, "files"},
		{size, MaxFileSize, "bytes of files"},
	} {
		if tooMuch.n > tooMuch.most {
			return &task.Error{File: fmt.Sprintf("%.100s", s.Name), Line: 1, Column: 1,
				Msg: fmt.Sprintf("%d %s: there can be %d", tooMuch.n, tooMuch.what, tooMuch.most)}
		}
	}
	return nil
}

// trace parses a trace file of the source.
func (s *Source) trace(file string) (*trace.Trace, error) {
	text, err := s.text(file)
	if err != nil {
		return nil, err
	}
	return trace.Read(file, bytes.NewReader(text), trace.ReadOptions{})
}

// text returns the content of a file.
func (s *Source) text(file string) ([]byte, error) {
	text, ok := s.Files[file]
	if !ok {
		return nil, fmt.Errorf("the file %q was not sent with the scenario", file)
	}
	return []byte(text), nil
}

// checkKind returns an error if the scenario does not describe classes on machines with rates.
func (d *Definition) checkKind() error {
	e := d.experiment
	switch {
	case e.Base.Rates == nil:
		return e.ErrorAt("", "add `rates: {unit: 1m, of: [[2, 1]]}`, a line of rates for each class",
			"the scenario has no rates of classes on machines")
	case len(e.Base.Trace.Hosts) > MaxServers:
		return e.ErrorAt("machines", "", "%d machines: an experiment has at most %d", len(e.Base.Trace.Hosts), MaxServers)
	case spells(e.Base.Trace) > maxSpells:
		return e.ErrorAt("machines", "give a longer time up, or fewer machines",
			"the machines go up and down %d times: at most %d", spells(e.Base.Trace), maxSpells)
	case e.Base.End.IsZero():
		return e.ErrorAt("", "add `end: 360m`", "the scenario has no end")
	case len(e.Seeds) != 1:
		return e.ErrorAt("seeds", "leave it out: each run has a seed", "an experiment has a run of each policy at once")
	}
	for i, c := range e.Base.Workload.Classes {
		if c.Arrival == sim.Saturated {
			return e.ErrorAt(fmt.Sprintf("workload.classes[%d]", i), "write `arrival: poisson` and an interval",
				"class %q has no rate of arrival", c.Name)
		}
	}
	return nil
}

// spells counts the up and down intervals of all hosts.
func spells(t *trace.Trace) (n int) {
	for _, h := range t.Hosts {
		n += h.History.Len()
	}
	return n
}

// describe sets the exported fields from the scenario.
func (d *Definition) describe() {
	s := d.grid[0]
	d.start, d.end = s.Day0(), s.End
	bed := impose.New(s)
	unit, window := bed.Unit.Seconds(), d.end.Sub(d.start)
	d.UnitS, d.Length = unit, window.Seconds()/unit
	for _, run := range d.grid {
		d.Policies = append(d.Policies, policyName(run))
	}
	for i := range bed.Classes {
		c := &bed.Classes[i]
		d.Classes = append(d.Classes, Class{Class: c.Name, Arrival: bed.Arrival(c, window) * unit})
	}
	for j, h := range s.Trace.Hosts {
		server := Server{Server: h.History.Host, Availability: bed.Availability(j), Failures: failures(h.History, d.end)}
		for k := range bed.Classes {
			server.Rates = append(server.Rates, bed.Rates.Of[k][j])
		}
		d.Servers = append(d.Servers, server)
	}
}

// failures counts how often a host goes down before end.
func failures(h *trace.History, end time.Time) (n int) {
	for i := 1; i < h.Len() && h.Spell(i).Start.Before(end); i++ {
		if h.Spell(i).State == trace.Unavailable {
			n++
		}
	}
	return n
}

// policyName returns a label for the policies of a run: the placement policy, and others that are not the default.
func policyName(s *sim.Scenario) string {
	names := []string{s.Placement}
	for _, other := range []string{s.Migration, s.Fairness, s.Chunking} {
		if other != "" && other != plan.NoMigration {
			names = append(names, other)
		}
	}
	return strings.Join(names, ", ")
}

// checkServed returns an error if no machine can execute a class.
func (d *Definition) checkServed() error {
	for k, c := range d.Classes {
		served := slices.ContainsFunc(d.Servers, func(s Server) bool { return s.Rates[k] > 0 && s.Availability > 0 })
		if !served {
			return d.experiment.ErrorAt(fmt.Sprintf("rates.of[%d]", k), "give it a rate above 0 on a machine that is available",
				"no machine serves class %q", c.Class)
		}
	}
	return nil
}
