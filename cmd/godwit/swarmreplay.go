package main

import (
	"time"

	"github.com/spf13/cobra"

	"godwit/lab/testbed/plan"
	"godwit/lab/testbed/replay"
	"godwit/scheduler/place"
	"godwit/sim/scenario"
)

func newSwarmReplay() *cobra.Command {
	var o replay.Options
	p := &o.Plan
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

With --past each node starts with a history of the days before the replay, signed by
the node. Other nodes learn it by gossip. Days that the trace lacks are its first days,
repeated. Days stay days: in each, the replayed hours are as fast as the replay, and the
other hours fill the rest.

A scenario file says all of this in place of the flags, and may name several policies.
They run one after the other on fresh nodes, with equal jobs.

The report is the simulator's, in the trace's time. --compare-sim runs the simulator on
the same hosts, arrivals and overlay, with the times that the nodes took to start.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  godwit swarm replay 20 --trace phones.csv.gz --speedup 600 --minutes 4 --compare-sim
  godwit swarm replay 12 --trace phones.csv.gz --policy uptime --migration pspp:p=20m
  godwit swarm replay 4 --scenario examples/scenarios/zhang-pspp.yaml --speedup 20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := swarmNodes(cmd, &o.Options, args); err != nil {
				return err
			}
			p.MinutesGiven = cmd.Flags().Changed("minutes")
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addReplay(&o, cmd)
	addCores(&o.Options, cmd)
	f := cmd.Flags()
	f.StringVar(&p.Trace, "trace", "", "trace of which each node replays a host")
	f.DurationVar(&p.JobSize, "job-size", plan.JobSize, "work of a job, in the trace's time")
	f.DurationVar(&p.Arrival, "arrival", 0,
		"mean time between jobs, in the trace's time (default: half of the hosts' time is asked for)")
	f.StringVar(&p.Policy, "policy", place.Default,
		"placement policy, as godwit overlay create has it, but with lengths of time of the trace")
	f.StringVar(&p.Migration, "migration", plan.NoMigration, "migration policy, likewise")
	f.Var((*pastFlag)(&p.Past), "past",
		"history that each node has at the start, such as 10d (default: the scenario's, else none)")
	f.StringVar(&p.Predictor, "predictor", "", "predictor that gives the policies their forecasts, likewise (default: blend)")
	f.DurationVar(&p.Every, "checkpoint-every", 0,
		"running time between a task's checkpoints, in the trace's time; 0s: none on its way")
	f.BoolVar(&o.Foretell, "foretell", false,
		"ask when each job would end before it is handed in, as godwit plan does, and print it beside what came")
	f.StringVar(&p.Ends, "ends", plan.EndAsTraced,
		"how nodes of hosts that go off end: \"traced\", told to if the trace says leaving "+
			"before and else killed; \"crash\", killed; \"goodbye\", told to")
	return cmd
}

func newSwarmClasses() *cobra.Command {
	o := replay.Options{Plan: plan.ForClasses("")}
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
			o.Plan.MinutesGiven = cmd.Flags().Changed("minutes")
			return o.Run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addReplay(&o, cmd)
	cmd.Flags().StringVar(&o.Plan.JobsFile, "jobs", "",
		"jobs to hand in, as --dir kept them in "+plan.ArrivalsFile+", in place of those that --seed draws")
	return cmd
}

// addReplay adds the flags that every replay of a scenario has.
func addReplay(o *replay.Options, cmd *cobra.Command) {
	addBed(&o.Options, cmd)
	addSeed(&o.Options, cmd, "seed of hosts, arrivals and the nodes that jobs are handed to")
	p, f := &o.Plan, cmd.Flags()
	f.StringVar(&p.Scenario, "scenario", "", "scenario file, as the simulator reads it")
	f.Float64Var(&p.Speedup, "speedup", plan.Speedup, "how many times as fast the hosts are replayed")
	f.Float64Var(&p.Minutes, "minutes", plan.Minutes,
		"how long, in real time; if it is not given, a scenario's end goes before")
	f.DurationVar(&p.From, "from", 0, "where the replay begins, after the trace's start")
	f.BoolVar(&p.CompareSim, "compare-sim", false, "simulate the same, and print both side by side")
}

// pastFlag reads the length of a past.
type pastFlag time.Duration

func (p *pastFlag) Set(text string) error {
	d, err := scenario.ParsePast(text)
	*p = pastFlag(d)
	return err
}

func (p *pastFlag) String() string { return scenario.PastText(time.Duration(*p)) }

func (*pastFlag) Type() string { return "days" }
