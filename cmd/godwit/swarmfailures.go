package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/testbed/plan"
	"godwit/lab/traces"
	"godwit/sim"
	"godwit/trace"
)

func newSwarmFailures() *cobra.Command {
	var (
		f              plan.Failures
		upLaw, downLaw string
		out, to        string
	)
	cmd := &cobra.Command{
		Use:   "failures --scenario FILE",
		Short: "Write the up and down times of machines to a file",
		Long: `Write the up and down times of a scenario's machines to a file. Each line is an interval
during which a machine is up, in seconds after the start. After editing, name the file in
the scenario instead of up and down:

  machines: {count: 6, trace: failures.csv}

Machines are identified by name, and each needs a line. Without options the file contains
the times of the scenario's runs. --up and --down set other mean times.

Distributions (--up-law, --down-law):
` + sim.DescribeLaws(),
		Args: cobra.NoArgs,
		Example: `  godwit swarm failures --scenario examples/scenarios/mgst3.yaml -o failures.csv
  godwit swarm failures --scenario mgst1.yaml --up 500m --down 20m --up-law weibull:shape=0.7 --seed 2`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.UpLaw, f.DownLaw, f.SeedGiven = sim.Law(upLaw), sim.Law(downLaw), cmd.Flags().Changed("seed")
			return writeFailures(cmd, &f, out, to)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Scenario, "scenario", "", "scenario file")
	fl.DurationVar(&f.Up, "up", 0, "mean time from a repair to the next failure (default: the scenario's)")
	fl.DurationVar(&f.Down, "down", 0, "mean time from a failure to the repair (default: the scenario's)")
	fl.StringVar(&upLaw, "up-law", "", "distribution of up times (default: the scenario's, else exponential)")
	fl.StringVar(&downLaw, "down-law", "", "distribution of down times (default: the scenario's, else exponential)")
	fl.Uint64Var(&f.Seed, "seed", 0, "seed (default: the scenario's)")
	fl.StringVarP(&out, "output", "o", "", "file to write (default: standard output)")
	fl.StringVar(&to, "to", "", fmt.Sprintf("output format (default: by file name, sessions for .csv): %v",
		trace.Formats()))
	return cmd
}

// writeFailures draws up and down times, and writes them to out, or to standard output if out is "" or "-".
func writeFailures(cmd *cobra.Command, f *plan.Failures, out, to string) error {
	if f.Scenario == "" {
		return failure.Usage("name the file with --scenario", "which machines?")
	}
	t, err := f.Draw()
	if err != nil {
		return err
	}
	format := trace.Format(to)
	if to == "" {
		format = trace.Sessions
	}
	if out == "" || out == "-" {
		return trace.Write(cmd.OutOrStdout(), t, format)
	}
	if to == "" && filepath.Ext(strings.TrimSuffix(out, ".gz")) != ".csv" {
		if format, err = traces.FormatOf(out); err != nil {
			return err
		}
	}
	if err := traces.Write(out, t, format); err != nil {
		return fmt.Errorf("writing %s: %w", out, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d failures of %d machines in %v; to run them write `trace: %s` under `machines`\n",
		plan.CountFailures(t), len(t.Hosts), t.End.Sub(t.Start), out)
	return nil
}
