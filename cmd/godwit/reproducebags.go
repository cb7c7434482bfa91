package main

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"godwit/lab/published"
)

func newReproduceBags() *cobra.Command {
	var f published.BagOptions
	cmd := &cobra.Command{
		Use:   "bags",
		Short: "Compare policies at the end of a finite bag of tasks: its last result, deadlines, what owners upload",
		Long: `Compare what policies make of a finite bag of tasks: 50, 150 and 500, of an hour each or
of 15 minutes to 3 hours, on 100 hosts of each set, whose days, speeds and hour the seed
draws. The default is expected placement with cost migration and its copies of last
tasks. Beside it run FCFS, in turn as published and to the fastest host, longest uptime,
Zhang's policies alone and with PSPP, and an oracle that knows the trace. Every rival
makes the same automatic checkpoints, and copies its last tasks by a rule that looks at
speed and forecast. The default runs without each of its parts too: with one forecast
for all hosts, without checkpoints, without moves, without exchanges of the last tasks,
without copies, with the rivals' checkpoints, and with tasks in turn.

Told are the median and the 95th percentile of the time to the last result, deadlines
met (one and a half times a time that no schedule beats), checkpoints and states sent,
and owners' upload. Geometric means over sets and bags are compared with targets. The
exit code does not tell.

Owners leave without warning, and tasks are lost with their hosts; reactive and CBR move
nothing then, and are left out. Relays and phones are measured: --traces names the
directory that has relays/sessions.csv, relays/snapshots.csv and
phones/availability_2state.csv, or the same compressed, with .gz behind it. The other
sets are synthetic.`,
		Example: `  godwit reproduce bags --traces data
  godwit reproduce bags --traces data --pair
  godwit reproduce bags --quick --only office`,
		Args: explained(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Traces, "traces", "", "directory with relays and phones; without it they are left out")
	fl.StringSliceVar(&f.Only, "only", nil, "only these sets, with commas between them: "+
		strings.Join(published.BagSets, ", "))
	fl.StringVar(&f.Placement, "policy", published.OurPlacement, "placement policy to compare with the rivals")
	fl.StringVar(&f.Migration, "migration", published.OurMigration, "migration policy to go with it")
	fl.IntSliceVar(&f.Sizes, "sizes", nil, "tasks of bags, with commas between them; left out: 50,150,500")
	fl.IntVar(&f.Runs, "runs", published.BagRuns, "runs of each set and bag, with seeds from --seed on")
	fl.Uint64Var(&f.Seed, "seed", 1, "first seed: it draws hosts, days, speeds and bags")
	fl.BoolVar(&f.Short, "short", false, "only the default, with and without its parts, FCFS and the oracle")
	fl.BoolVar(&f.Pair, "pair", false, "only the default and FCFS, which the targets are about")
	fl.BoolVar(&f.Quick, "quick", false, "the same as --short, of one seed and of bags of 50 tasks")
	fl.IntVar(&f.Workers, "workers", runtime.GOMAXPROCS(0),
		"how many runs go on at once; what comes out does not depend on it")
	fl.BoolVar(&f.JSON, "json", false, "print JSON: an object a set and bag, then one with the rows and targets")
	fl.BoolVar(&f.Quiet, "quiet", false, "show no progress")
	return cmd
}
