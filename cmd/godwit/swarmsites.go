package main

import (
	"github.com/spf13/cobra"

	"godwit/lab/testbed/batch"
	"godwit/lab/testbed/local"
	"godwit/lab/testbed/sites"
	"godwit/node"
)

func newSwarmSites() *cobra.Command {
	var o sites.Options
	cmd := &cobra.Command{
		Use:   "sites --scenario FILE",
		Short: "The nodes stand at sites, where local users come and go",
		Long: `The nodes stand at sites, where local users come and go. The scenario file has the
sites, and each of their hosts is a node. Equal jobs divide what the local users leave
idle: once for each load, policy of fairness and seed, on the same nodes.`,
		Args: cobra.NoArgs,
		Example: `  godwit swarm sites --scenario examples/scenarios/koala-two.yaml
  godwit swarm sites --scenario examples/scenarios/koala-three.yaml --seed 2 --plot load.svg`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.OneSeed = cmd.Flags().Changed("seed")
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addBed(&o.Options, cmd)
	addSeed(&o.Options, cmd, "seed, in place of the file's")
	f := cmd.Flags()
	f.IntVar(&o.Cores, "cores", 0, "tasks that each node runs at once (default: the file's)")
	f.StringVar(&o.Scenario, "scenario", "", "scenario file with sites")
	f.Float64Var(&o.Speedup, "speedup", 0, "how many times as fast the sites are played (default: the file's, else 600)")
	f.Float64Var(&o.Minutes, "minutes", 0, "how long each run is at most, in real time (default: to the scenario's end)")
	f.StringVar(&o.Plot, "plot", "",
		"draw who had the slots over time into this .png or .svg `FILE`, a chart for each run (with -tags plot)")
	f.StringVar(&o.CSV, "csv", "", "`FILE` for the same as a table, with a line for each of the 120 intervals of a run")
	return cmd
}

func newSwarmSweep() *cobra.Command {
	var o batch.SweepOptions
	cmd := &cobra.Command{
		Use:   "sweep N",
		Short: "Nodes of unequal speed do one sweep, once for each policy of chunks",
		Long: `Nodes of unequal speed do one sweep of tasks that only wait, once for each policy of
chunks. The report has what each policy took, beside the least that it could take: all
work over all speed.`,
		Args:    cobra.MaximumNArgs(1),
		Example: "  godwit swarm sweep 8 --tasks 100000 --work 5ms --speeds 2,1.5,1.25,1,.75,.75,.5,.25 --chunking paced,one",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := swarmNodes(cmd, &o.Options.Options, args); err != nil {
				return err
			}
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addBatch(&o.Options, cmd)
	f := cmd.Flags()
	f.StringVar(&o.Speeds, "speeds", "",
		"speeds of the nodes, with commas between them: a task takes its work divided by that (default 1 each)")
	f.StringVar(&o.Chunking, "chunking", "",
		"policies of chunks, with commas between them: each has nodes and an overlay of its own; "+
			batch.Usual+" is what members do whose overlay names none (default "+batch.Usual+")")
	return cmd
}

func newSwarmLocal() *cobra.Command {
	var o local.Options
	cmd := &cobra.Command{
		Use:   "local N",
		Short: "The nodes' guests run beside jobs of this machine's owner",
		Long: `The nodes' guests run beside jobs of this machine's owner. The guests never end, and
each slot of the nodes has one. The report says how much later the owner's jobs are
done: without guests, with an owner who says that he is back, and with one who does
not.`,
		Args:    cobra.MaximumNArgs(1),
		Example: "  godwit swarm local 2 --work 2s",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := swarmNodes(cmd, &o.Options, args); err != nil {
				return err
			}
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addBed(&o.Options, cmd)
	addCores(&o.Options, cmd)
	o.Runner = node.RunWasm // guests that only wait delay nobody
	f := cmd.Flags()
	f.DurationVar(&o.Work, "work", local.Work, "work of the owner's job on each core")
	f.IntVar(&o.Rounds, "rounds", local.Rounds, "how often each way is measured")
	return cmd
}
