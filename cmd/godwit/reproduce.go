package main

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"godwit/lab/published"
	"godwit/reproduce"
	"godwit/scheduler/chunk"
)

func newReproduce() *cobra.Command {
	var f published.Options
	cmd := &cobra.Command{
		Use:   "reproduce zhang | mgst | simpetek | koala | trust | policies | all",
		Short: "Run published experiments again: published beside obtained, with a verdict on each figure",
		Long: `Run published experiments again and print what was published, what is obtained and
a verdict on each figure. The publications are listed below, with their experiments;
all is all there are. trust is no publication: it holds audits of simulated workers
against what the formulas say, which stands in the column of what was published.
reproduce policies compares the default policies with published ones. reproduce live
runs policies on real nodes.

Verdicts:
  equal          the same, to the digits printed
  within         numbers that differ by less than the note says
  direction      the trend or order that is published holds; the number is not judged
  differs        it does not hold; the note says why
  unrecoverable  it cannot be run again; the note says why
Not counted in the totals:
  fitted         a free number of the model was fitted to this published figure
  unpublished    nothing is published of it; what the project expects holds
  missed         nothing is published of it; what the project expects does not hold

The traces of zhang are lost. Synthetic hosts like them, made from a seed, replace them.
Their counts are judged in E1 to E3, where one number a set, the length of a job, is
fitted to one published count; elsewhere only directions are judged. --trace supplies
an original trace. The costs of koala's testbed are fitted to one table. Each experiment
states its other assumptions.

With --schedulers, simpetek runs its comparison mode in place of its experiments: each
request is executed once by every scheduler of the list.

Exit code 0 unless an experiment does not run or something differs and nothing
explains it.

Experiments:
` + published.Experiments() + `
Schedulers, with their parameters:
` + indented(chunk.Describe()),
		Example: `  godwit reproduce zhang
  godwit reproduce zhang --experiment B.II,E1 --plot figures
  godwit reproduce koala --experiment K4
  godwit reproduce simpetek
  godwit reproduce simpetek --schedulers amra:rounds=2,amra:rounds=3,issse:peak=2,k=15,m=10.5,calibrated
  godwit reproduce zhang --trace ucb=archive/ucb --experiment E1,E8`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Run(cmd.OutOrStdout(), cmd.ErrOrStderr(), strings.Join(args, ""))
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.Traces, "trace", nil, "`SET=FILE`, an original trace for one of "+strings.Join(reproduce.Sets,
		", ")+" (repeatable); a file or directory that godwit trace info reads")
	fl.StringSliceVar(&f.Only, "experiment", nil, "only these, with commas between them")
	fl.StringVar(&f.Schedulers, "schedulers", "", "compare these, of simpetek, with commas between them")
	fl.StringVar(&f.Plot, "plot", "", "draw figures like the published ones into this `DIR`, as SVG (with -tags plot)")
	fl.IntVar(&f.Workers, "workers", runtime.GOMAXPROCS(0),
		"how many runs go on at once; what comes out does not depend on it")
	fl.Uint64Var(&f.Seed, "seed", 1, "first seed of everything random")
	fl.BoolVar(&f.JSON, "json", false, "print JSON, one object per figure")
	cmd.AddCommand(newReproducePolicies(), newReproduceEnds(), newReproduceBags(), newReproduceLive())
	return cmd
}
