package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/plot"
	"godwit/lab/progress"
	"godwit/migrate"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
	reports "godwit/sim/report"
	"godwit/sim/scenario"
	"godwit/task"
)

// simFlags are those of `godwit sim`: the experiment, how it is run and what is
// told of it.
type simFlags struct {
	experimentFlags
	scenario string

	machines, oracle bool
	workers          int

	json, timing, quiet bool
	plot, interval      string
}

func newSim() *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim --trace FILE | --synth KIND | --scenario FILE",
		Short: "Simulate schedulers and migrations on a trace",
		Long: `Simulate schedulers and migrations on hosts that come and go as a trace says.
Every placement policy is run with every migration policy, every one of shares,
every one of chunks and every seed, all else equal; equal commands give equal results, on any machine.

In lists, a part with an equals sign and no colon before it belongs to the part
before: fcfs,fcfspp:n=6,t=0.5,random are three policies.

Without --scenario every task takes --job-size on the reference core, and one
arrives each --arrival. A seed decides what is drawn: arrivals with --poisson or
--gaps, work with --law, the choices of policies that draw, and with --resample the
hosts. Where nothing is drawn, runs that differ in their seed only are equal.

Placement policies (--policy):
` + indented(place.Describe()) + `
  oracle: knows the trace, as no swarm does; a yardstick, see --oracle

Migration policies (--migration):
` + indented(migrate.Describe()) + `

Policies of fair shares (--fairness), which whole nodes obey (--machines):
` + indented(share.Describe()) + `

Policies of chunks of sweeps (--chunking), likewise:
` + indented(chunk.Describe()) + `

Laws of lengths (--law, --gaps):
` + indented(sim.DescribeLaws()),
		Example: `  godwit sim --synth deug --policy fcfs,fcfspp:n=1,fcfspp:n=6 --warmup 24h --runs 5
  godwit sim --trace event_trace.tab --paper --arrival 0s --migration none,pspp --json
  godwit sim --scenario experiment.yaml --plot figures.png`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.scenario, "scenario", "", "file that describes the experiment, in place of the flags that do")
	fl.BoolVar(&f.machines, "machines", false, "simulate whole nodes, message by message, instead of the policies alone")
	fl.BoolVar(&f.oracle, "oracle", false, "run the oracle too, and tell what share of its work each policy did")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "how many runs go on at once; results do not depend on it")
	fl.BoolVar(&f.json, "json", false, "print JSON, one object per policy, migration and seed")
	fl.BoolVar(&f.timing, "timing", false, "tell how long each run took, which no two commands have in common")
	fl.BoolVar(&f.quiet, "quiet", false, "show no progress")
	fl.StringVar(&f.plot, "plot", "", "draw the results into this .png or .svg file")
	fl.StringVar(&f.interval, "interval", "student", "what stands behind ±: student (95 % interval by Student's t) or zhang (his margin of error, 1.96 s/sqrt(n))")
	return cmd
}

// besideScenario are the flags that go with --scenario; the others would say
// again what the file says.
var besideScenario = []string{"scenario", "from", "epoch", "snapshots", "machines", "oracle", "workers", "json", "timing", "quiet", "plot", "interval"}

func (f *simFlags) check(cmd *cobra.Command) error {
	if f.interval != "student" && f.interval != "zhang" {
		return failure.Usage("write --interval student or --interval zhang", "--interval %q is not known", f.interval)
	}
	if f.workers < 1 {
		return failure.Usage("write --workers 2, or leave it out for all cores", "--workers %d: there must be one", f.workers)
	}
	var twice string
	if f.scenario != "" {
		cmd.Flags().Visit(func(fl *pflag.Flag) {
			if !slices.Contains(besideScenario, fl.Name) && twice == "" {
				twice = fl.Name
			}
		})
	}
	if twice != "" {
		return failure.Usage("write it into the file, or leave --scenario out", "--%s does not go with --scenario", twice)
	}
	return plot.CheckName(f.plot)
}

func (f *simFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	var (
		e   *scenario.Experiment
		err error
	)
	if f.scenario != "" {
		e, err = files.Scenario(f.scenario, f.trace.Load, files.Log)
	} else {
		e, err = f.experiment()
	}
	if err != nil {
		return err
	}
	grid, err := e.Grid()
	if err != nil {
		return failure.Usage(hintOf(err), "%w", err)
	}
	p := progress.New(cmd.ErrOrStderr(), f.quiet)
	results, err := f.simulate(cmd.Context(), p, grid)
	if err != nil {
		return err
	}
	o := reports.Options{Margin: f.interval == "zhang", Notes: impossibleNotes(e, results)}
	if f.plot != "" {
		if err := saveReports(f.plot, results, o); err != nil {
			return err
		}
	}
	return f.print(cmd.OutOrStdout(), results, o)
}

// hintOf is the hint of a file's error.
func hintOf(err error) string { return classify(err).Hint }

// saveReports draws results into a file.
func saveReports(path string, results []simResult, o reports.Options) error {
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
func impossibleNotes(e *scenario.Experiment, results []simResult) (notes []string) {
	if !slices.ContainsFunc(results, func(r simResult) bool { return r.Impossible > 0 }) {
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
		notes = append(notes, fmt.Sprintf("Impossible: jobs of the log that need more than the %s that each host lends.", task.FormatSize(most)))
	}
	if len(notes) == 0 {
		notes = []string{"Impossible: no host is ever available."}
	}
	return notes
}
