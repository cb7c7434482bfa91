package main

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"godwit/lab/published"
)

func newReproducePolicies() *cobra.Command {
	var f published.PolicyOptions
	cmd := &cobra.Command{
		Use:   "policies",
		Short: "Compare the default policies with 28 published ones and the oracle, on six sets of hosts",
		Long: `Compare expected placement with cost migration (the default, below) with random,
FCFS, FCFSPP, FLP, PSOPP and longest uptime, each with no migration, reactive, PSPP
and CBR, and with an oracle that knows the trace: on six sets of hosts, for tasks of
10 min, 1 h and 6 h, at workloads of 30 and 70 % of the time that hosts are
available and with a queue that is never empty. All run on equal hosts and arrivals;
a seed draws both.

Owners leave without warning and tasks are lost with their hosts; lost tasks are
run again. A state is 64 MiB, a checkpoint takes 1 s, hosts send 10 Mbit/s. The
published policies run as published: without periodic checkpoints; what they move
takes its state along.

Relays and phones are measured: --traces names the directory that has
relays/sessions.csv, relays/snapshots.csv and phones/availability_2state.csv, or the
same compressed, with .gz behind it. The other sets are synthetic, made like the
thesis's.

Each cell is won, lost by no more than the interval of the difference (within), or
LOST, and then the report says which part of the hosts' time makes the difference.
The exit code does not tell.`,
		Example: `  godwit reproduce policies --traces data
  godwit reproduce policies --only ucb-like --hosts 60 --days 8 --runs 2`,
		Args: explained(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Traces, "traces", "", "directory with relays and phones; without it they are left out")
	fl.StringVar(&f.Placement, "policy", published.OurPlacement, "placement policy to compare with the rivals")
	fl.StringVar(&f.Migration, "migration", published.OurMigration, "migration policy to go with it")
	fl.StringVar(&f.Checkpoints, "checkpoints", published.PolicyCheckpoints[0],
		"who makes automatic checkpoints: "+strings.Join(published.PolicyCheckpoints, ", "))
	fl.StringSliceVar(&f.Only, "only", nil, "only these sets, with commas between them: relays, phones, ucb-like, ...")
	fl.IntVar(&f.Hosts, "hosts", published.PolicyHosts, "hosts of each set and seed, as far as a measured set has so many")
	fl.IntVar(&f.Days, "days", published.PolicyDays,
		"days, 3 or more: in the first nothing comes, in the last only to a queue that is never empty")
	fl.IntVar(&f.Runs, "runs", published.PolicyRuns, "runs of each cell, with seeds from --seed on")
	fl.Uint64Var(&f.Seed, "seed", 1, "first seed: it draws hosts and arrivals")
	fl.IntVar(&f.Workers, "workers", runtime.GOMAXPROCS(0),
		"how many runs go on at once; what comes out does not depend on it")
	fl.BoolVar(&f.JSON, "json", false, "print JSON: an object a cell, then one with the targets")
	fl.BoolVar(&f.Quiet, "quiet", false, "show no progress")
	return cmd
}
