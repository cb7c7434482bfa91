package main

import (
	"strings"

	"github.com/spf13/cobra"

	"godwit/lab/published"
)

func newReproduceEnds() *cobra.Command {
	var f published.EndsOptions
	cmd := &cobra.Command{
		Use:   "ends",
		Short: "Hold forecasts of jobs' ends to account: how often nine ends in ten came as forecast",
		Long: `Hold forecasts of jobs' ends to account. Each job is drawn by the seed: 20 to 2,000 tasks
of 2 minutes to 4 hours, all equal or uniform, exponential or lognormal about their mean,
on 30 to 150 hosts of a set from a random time of its records on. It runs there in
virtual time under the default placement policy, with a checkpoint each 10 minutes, and
is forecast as it is handed in, by a guess of its owner's that is off by a quarter, and
when half of its tasks have ended, from what a node would know then: adverts of the
hosts that are there, with their survival records and last eight spells.

Relays and phones are measured: --traces names the directory that has
relays/sessions.csv, relays/snapshots.csv and phones/availability_2state.csv, or the
same compressed, with .gz behind it. Hosts' speeds are drawn there. The office is made
by a generator.

The exit code does not tell.`,
		Example: `  godwit reproduce ends --traces data
  godwit reproduce ends --only office --jobs 20 --json`,
		Args: explained(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Traces, "traces", "", "directory with relays and phones; without it they are left out")
	fl.StringSliceVar(&f.Only, "only", nil, "only these sets, with commas between them: "+
		strings.Join(published.EndsSets, ", "))
	fl.IntVar(&f.Jobs, "jobs", published.EndsJobs, "jobs of each set, each forecast twice")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of everything drawn")
	fl.IntVar(&f.Workers, "workers", 1, "how many jobs run at once; what comes out does not depend on it")
	fl.BoolVar(&f.JSON, "json", false, "print JSON: an object a forecast, then the table")
	fl.BoolVar(&f.Quiet, "quiet", false, "show no progress")
	return cmd
}
