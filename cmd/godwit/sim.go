package main

import (
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/internal/failure"
	"godwit/lab/simulation"
	"godwit/migrate"
	"godwit/scheduler/chunk"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/sim"
)

func newSim() *cobra.Command {
	var f simulation.Options
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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Scenario != "" {
				if err := onlyBesideScenario(cmd); err != nil {
					return err
				}
			}
			return f.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addExperiment(&f.Experiment, cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.Scenario, "scenario", "", "file that describes the experiment, in place of the flags that do")
	fl.BoolVar(&f.Machines, "machines", false, "simulate whole nodes, message by message, instead of the policies alone")
	fl.IntVar(&f.Cells, "cells", 0,
		"with --machines: an overlay in so many cells, which divide and join from there (0: one group for all)")
	fl.BoolVar(&f.Oracle, "oracle", false, "run the oracle too, and tell what share of its work each policy did")
	fl.IntVar(&f.Workers, "workers", runtime.GOMAXPROCS(0), "how many runs go on at once; results do not depend on it")
	fl.BoolVar(&f.JSON, "json", false, "print JSON, one object per policy, migration and seed")
	fl.BoolVar(&f.Timing, "timing", false, "tell how long each run took, which no two commands have in common")
	fl.BoolVar(&f.Quiet, "quiet", false, "show no progress")
	fl.StringVar(&f.Plot, "plot", "", "draw results into this .png or .svg file, and cells beside it (with -tags plot)")
	fl.StringVar(&f.Interval, "interval", "student",
		"what stands behind ±: student (95 % interval by Student's t) or zhang (his margin of error, 1.96 s/sqrt(n))")
	return cmd
}

// besideScenario are the flags that go with --scenario; the others would say
// again what the file says.
var besideScenario = []string{"scenario", "from", "epoch", "snapshots", "machines", "cells", "oracle", "workers",
	"json", "timing", "quiet", "plot", "interval"}

// onlyBesideScenario refuses flags that say again what a scenario file says.
func onlyBesideScenario(cmd *cobra.Command) error {
	var twice string
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		if !slices.Contains(besideScenario, fl.Name) && twice == "" {
			twice = fl.Name
		}
	})
	if twice != "" {
		return failure.Usage("write it into the file, or leave --scenario out", "--%s does not go with --scenario", twice)
	}
	return nil
}
