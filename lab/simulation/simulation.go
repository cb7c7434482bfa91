// Package simulation runs experiments in the simulator, side by side, and prints what came of them.
package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/plot"
	"godwit/lab/progress"
	reports "godwit/sim/report"
	"godwit/sim/scenario"
	"godwit/task"
)

// Options are those of `godwit sim`: the experiment, how it is run and what is
// told of it.
type Options struct {
	Experiment
	Scenario string

	Machines, Oracle bool
	Cells            int // of whole nodes, at the start; 0 for one group for all
	Workers          int

	JSON, Timing, Quiet bool
	Plot, Interval      string
}

func (f *Options) check() error {
	if f.Interval != "student" && f.Interval != "zhang" {
		return failure.Usage("write --interval student or --interval zhang", "--interval %q is not known", f.Interval)
	}
	if f.Workers < 1 {
		return failure.Usage("write --workers 2, or leave it out for all cores", "--workers %d: there must be one", f.Workers)
	}
	if err := f.checkCells(); err != nil {
		return err
	}
	return plot.CheckName(f.Plot)
}

// Run simulates the experiment, and prints what came of it.
func (f *Options) Run(ctx context.Context, out, log io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	var (
		e   *scenario.Experiment
		err error
	)
	if f.Scenario != "" {
		e, err = files.Scenario(f.Scenario, f.Trace.Load, files.Log)
	} else {
		e, err = f.read()
	}
	if err != nil {
		return err
	}
	grid, err := e.Grid()
	if err != nil {
		return failure.Usage(failure.HintOf(err), "%w", err)
	}
	p := progress.New(log, f.Quiet)
	results, err := f.simulate(ctx, p, grid)
	if err != nil {
		return err
	}
	o := reports.Options{Margin: f.Interval == "zhang", Notes: impossibleNotes(e, results)}
	if f.Plot != "" {
		if err := saveReports(f.Plot, results, o); err != nil {
			return err
		}
		if f.Cells > 0 {
			if err := saveScale(f.Plot, results); err != nil {
				return err
			}
		}
	}
	return f.print(out, results, o)
}

// saveReports draws results into a file.
func saveReports(path string, results []result, o reports.Options) error {
	var b bytes.Buffer
	f := reports.Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")))
	if err := reports.Draw(&b, f, reportsOf(results), o); err != nil {
		return fmt.Errorf("drawing %s: %w", path, err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

// impossibleNotes says why tasks are impossible, for those that are: they need
// more memory than any host lends, or there is never a host.
func impossibleNotes(e *scenario.Experiment, results []result) (notes []string) {
	if !slices.ContainsFunc(results, func(r result) bool { return r.Impossible > 0 }) {
		return nil
	}
	most, w := e.Base.Hosts.Memory, &e.Base.Workload
	for _, c := range w.Classes {
		if most > 0 && c.Memory > most {
			notes = append(notes, fmt.Sprintf("Impossible: tasks of class %s need %s of memory, and no host lends more than %s.",
				c.Name, task.FormatSize(c.Memory), task.FormatSize(most)))
		}
	}
	if most > 0 && w.Log != nil {
		notes = append(notes, fmt.Sprintf("Impossible: jobs of the log that need more than the %s that each host lends.",
			task.FormatSize(most)))
	}
	if len(notes) == 0 {
		notes = []string{"Impossible: no host is ever available."}
	}
	return notes
}
