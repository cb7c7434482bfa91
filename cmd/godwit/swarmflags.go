package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/testbed"
	"godwit/lab/testbed/batch"
	"godwit/lab/testbed/plan"
	"godwit/node"
)

// addBatch adds the flags of one job.
func addBatch(o *batch.Options, cmd *cobra.Command) {
	addBed(&o.Options, cmd)
	addCores(&o.Options, cmd)
	addSeed(&o.Options, cmd, "seed of the choice of the node that hands in the job")
	f := cmd.Flags()
	f.Uint64Var(&o.Tasks, "tasks", 100, "tasks of the job")
	f.DurationVar(&o.Work, "work", 0, "work of one task that waits")
	f.StringVar(&o.JobFile, "job", "", "job file to run instead of tasks that do nothing")
	f.StringVar(&o.Out, "out", "", "directory for the job's results (default: they are verified, not kept)")
}

// addBed adds the flags that every sub-verb has.
func addBed(o *testbed.Options, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "",
		"directory for what the nodes keep and log, and a replay's files (default: a temporary one)")
	f.StringVar(&o.Report, "report", "", "file to write the JSON report to as well")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	f.BoolVar(&o.Quiet, "quiet", false, "show no progress")
	o.Cores, o.Runner = 1, node.RunSleep
}

func addCores(o *testbed.Options, cmd *cobra.Command) {
	cmd.Flags().IntVar(&o.Cores, "cores", 1, "tasks that each node runs at once")
}

func addSeed(o *testbed.Options, cmd *cobra.Command, what string) {
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, what)
}

// swarmNodes reads how many nodes there are.
func swarmNodes(cmd *cobra.Command, o *testbed.Options, args []string) error {
	if len(args) == 0 {
		return failure.Usage("say `"+cmd.CommandPath()+" 5`", "how many nodes?")
	}
	if _, err := fmt.Sscanf(args[0], "%d", &o.Nodes); err != nil || o.Nodes < 1 || o.Nodes > plan.MaxNodes {
		return failure.Usage(fmt.Sprintf("give a number from 1 to %d", plan.MaxNodes), "cannot run %q nodes", args[0])
	}
	return nil
}
