package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/internal/failure"
	"godwit/lab/testbed"
	"godwit/lab/testbed/batch"
	"godwit/lab/testbed/plan"
	"godwit/node"
)

func newSwarm() *cobra.Command {
	cmd := newSwarmRun() // what `godwit swarm N` is short for
	cmd.Use, cmd.Short = "swarm", "Run real nodes on this machine, give them work, and measure them"
	cmd.Long = `Run real nodes on this machine and measure them. Each node is a process with a data
directory and ports of its own. The nodes end when the command ends.

  run      the nodes do one job
  replay   the nodes come and go as the hosts of a trace do
  classes  each node works on each class of jobs at a rate of its own
  sites    the nodes stand at sites, where local users come and go
  sweep    nodes of unequal speed do one sweep, once for each policy of chunks
  local    the nodes' guests run beside jobs of this machine's owner

godwit swarm N is short for godwit swarm run N.`
	cmd.Example = `  godwit swarm run 5 --tasks 200
  godwit swarm replay 20 --trace phones.csv.gz --speedup 600 --minutes 4 --compare-sim
  godwit swarm classes --scenario examples/scenarios/mgst1.yaml
  godwit swarm sites --scenario examples/scenarios/koala-two.yaml
  godwit swarm sweep 8 --tasks 100000 --work 5ms --speeds 2,1.5,1.25,1,.75,.75,.5,.25 --chunking paced,one
  godwit swarm local 2 --work 2s`
	cmd.SetFlagErrorFunc(swarmFlagError)
	verbs := []*cobra.Command{
		newSwarmRun(), newSwarmReplay(), newSwarmClasses(), newSwarmSites(), newSwarmSweep(), newSwarmLocal(),
	}
	for _, v := range verbs {
		v.Args = explained(v.Args)
		cmd.AddCommand(v)
	}
	return cmd
}

// swarmFlagError names the sub-verbs that have a flag which the one that was called lacks.
func swarmFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return flagError(cmd, err)
	}
	swarm := cmd
	for swarm.Name() != "swarm" {
		swarm = swarm.Parent()
	}
	name := unknown.GetSpecifiedName()
	if name == "local" { // a sub-verb now
		return failure.Usage("say `godwit swarm local N --work D`", "%w", err)
	}
	var verbs []string
	for _, v := range swarm.Commands() {
		if v.Flags().Lookup(name) != nil {
			verbs = append(verbs, "`godwit swarm "+v.Name()+"`")
		}
	}
	const few = 3 // a hint that names more tells nothing
	if len(verbs) == 0 || len(verbs) > few {
		return flagError(cmd, err)
	}
	return failure.Usage("say "+strings.Join(verbs, " or "), "%w", err)
}

func newSwarmRun() *cobra.Command {
	var o batch.Options
	cmd := &cobra.Command{
		Use:   "run N",
		Short: "N nodes do one job",
		Long: `N nodes do one job. A node chosen at random hands it in. When its results are there,
the nodes are ended and the report is printed.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  godwit swarm run 5 --tasks 200
  godwit swarm run 17 --cores 4 --runner sleep --tasks 1000 --work 1s --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := swarmNodes(cmd, &o.Options, args); err != nil {
				return err
			}
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addBatch(&o, cmd)
	cmd.Flags().StringVar(&o.Runner, "runner", node.RunWasm, `"wasm", or "sleep": tasks only wait their work time`)
	return cmd
}

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
