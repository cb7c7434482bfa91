package main

import (
	"os"

	"github.com/spf13/cobra"

	"godwit/examples/scenarios"
	"godwit/lab/testbed/replay"
)

// The scenarios have four hosts and last a minute at this speed.
const (
	liveNodes   = 4
	liveSpeedup = 20
	liveAtOnce  = 4
)

func newReproduceLive() *cobra.Command {
	var (
		o   replay.Policies
		dir string
	)
	cmd := &cobra.Command{
		Use:   "live",
		Short: "Run policies on real nodes that know ten days of each other",
		Long: `Run policies on real nodes that know ten days of each other. Each policy has four nodes
of its own, which start with ten days of signed history. Each node learns the days of
the others by gossip. Tasks only wait.

Without a flag, eight published policies run: FCFS, FCFSPP, FLP and PSOPP place tasks;
reactive migration, PSPP, CBR and both together move them. Two hosts leave at noon of each day. Every
decision is printed with its forecast. The table counts decisions by their basis, and the
moves from hosts that left later. The command fails if a policy had to decide without the
forecast that it wanted. It takes some 3 minutes.

With --defaults, each placement and each migration policy runs with its defaults on nodes
that never leave. The command fails if a policy takes more than 1.2 times as long as FCFS
for 50 tasks, or moves more than one task of ten. It takes some 8 minutes.`,
		Args: cobra.NoArgs,
		Example: `  godwit reproduce live
  godwit reproduce live --defaults
  godwit reproduce live --at-once 1 --speedup 10`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Scenarios = scenarios.Files
			if dir != "" {
				o.Scenarios = os.DirFS(dir)
			}
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addBed(&o.Options, cmd)
	addSeed(&o.Options, cmd, "seed of the nodes' keys and the nodes that jobs are handed to")
	o.Nodes = liveNodes
	f := cmd.Flags()
	f.BoolVar(&o.Defaults, "defaults", false, "run each policy with its defaults, in place of the published ones")
	f.StringVar(&dir, "scenarios", "",
		"`DIR` with scenario files zhang-*.yaml and defaults-*.yaml (default: those of examples/scenarios)")
	f.Float64Var(&o.Speedup, "speedup", liveSpeedup, "replayed seconds per second")
	f.IntVar(&o.AtOnce, "at-once", liveAtOnce, "number of policies that run at once")
	return cmd
}
