package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"godwit/internal/failure"
	"godwit/lab/testbed/batch"
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
  failures write the up and down times of machines to a file
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
		newSwarmRun(), newSwarmReplay(), newSwarmClasses(), newSwarmFailures(), newSwarmSites(), newSwarmSweep(),
		newSwarmLocal(),
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
