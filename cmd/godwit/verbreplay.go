package main

import (
	"github.com/spf13/cobra"

	"godwit/scheduler/place"
)

func newSwarmReplay() *cobra.Command {
	var o replayOptions
	p := &o.plan
	cmd := &cobra.Command{
		Use:   "replay N --trace FILE | --scenario FILE",
		Short: "N nodes come and go as the hosts of a trace do",
		Long: `N nodes come and go as the hosts of a trace do, only faster. Each node behaves as if
its host's owner came and went. The node's process ends when the host goes off, and
starts again when the host is back. --seed draws the hosts among those that are
available at some time of the replay.

Jobs arrive at random times (Poisson) until --minutes have passed. Each is handed to a
node that is up. Tasks only wait their work time, and stand still while the owner is
there, so that many nodes fit one machine. All else is real.

With --policy or --migration the nodes first found an overlay with these policies.
Their lengths of time are the trace's. Forecasts rest on what the nodes saw since they
began.

A scenario file says all of this in place of the flags, and may name several policies.
They run one after the other on fresh nodes, with equal jobs.

The report is the simulator's, in the trace's time. --compare-sim runs the simulator on
the same hosts, arrivals and overlay, with the times that the nodes took to start.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  godwit swarm replay 20 --trace phones.csv.gz --speedup 600 --minutes 4 --compare-sim
  godwit swarm replay 12 --trace phones.csv.gz --policy uptime --migration pspp:p=20m`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := swarmNodes(cmd, &o.bedOptions, args); err != nil {
				return err
			}
			p.minutesGiven = cmd.Flags().Changed("minutes")
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addReplay(&o, cmd)
	addCores(&o.bedOptions, cmd)
	f := cmd.Flags()
	f.StringVar(&p.trace, "trace", "", "trace of which each node replays a host")
	f.DurationVar(&p.jobSize, "job-size", usualJob, "work of a job, in the trace's time")
	f.DurationVar(&p.arrival, "arrival", 0, "mean time between jobs, in the trace's time (default: half of the hosts' time is asked for)")
	f.StringVar(&p.policy, "policy", place.Default, "placement policy, as godwit overlay create has it, but with lengths of time of the trace")
	f.StringVar(&p.migration, "migration", noMigration, "migration policy, likewise")
	f.DurationVar(&p.every, "checkpoint-every", 0, "running time between a task's checkpoints, in the trace's time; 0s: none on its way")
	f.StringVar(&p.ends, "ends", endAsTraced, `how nodes of hosts that go off end: "traced", told to if the trace says leaving before and else killed; "crash", killed; "goodbye", told to`)
	return cmd
}

func newSwarmClasses() *cobra.Command {
	o := replayOptions{plan: planOptions{
		classes: true, jobSize: usualJob, policy: place.Default, migration: noMigration, ends: endAsTraced,
	}}
	cmd := &cobra.Command{
		Use:   "classes --scenario FILE",
		Short: "Each node works on each class of jobs at a rate of its own",
		Long: `Each node works on each class of jobs at a rate of its own. The scenario file has the
rates, and each of its machines is a node. Machines that fail are killed and started
again. Several policies run one after the other on fresh nodes, with equal jobs.`,
		Args: cobra.NoArgs,
		Example: `  godwit swarm classes --scenario examples/scenarios/mgst1.yaml
  godwit swarm classes --scenario bed.yaml --speedup 60 --dir out`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.plan.minutesGiven = cmd.Flags().Changed("minutes")
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addReplay(&o, cmd)
	cmd.Flags().StringVar(&o.plan.jobsFile, "jobs", "", "jobs to hand in, as --dir kept them in "+arrivalsFile+", in place of those that --seed draws")
	return cmd
}

// addReplay adds the flags that every replay of a scenario has.
func addReplay(o *replayOptions, cmd *cobra.Command) {
	addBed(&o.bedOptions, cmd)
	addSeed(&o.bedOptions, cmd, "seed of hosts, arrivals and the nodes that jobs are handed to")
	p, f := &o.plan, cmd.Flags()
	f.StringVar(&p.scenario, "scenario", "", "scenario file, as the simulator reads it")
	f.Float64Var(&p.speedup, "speedup", usualSpeedup, "how many times as fast the hosts are replayed")
	f.Float64Var(&p.minutes, "minutes", usualMinutes, "how long, in real time; if it is not given, a scenario's end goes before")
	f.DurationVar(&p.from, "from", 0, "where the replay begins, after the trace's start")
	f.BoolVar(&p.compareSim, "compare-sim", false, "simulate the same, and print both side by side")
}
