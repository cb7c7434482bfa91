package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"godwit/internal/chaos/walk"
)

const (
	scenarioReplicas = "replicas"
	// replicaNodes and replicaTasks are what the scenario has where nothing else is asked for.
	replicaNodes, replicaTasks = 8, 12
	// replicaSteps is how far a task walks: some 15 s of a core.
	replicaSteps = 6_000_000_000
	// replicaEvery is how often it is saved.
	replicaEvery = 2 * time.Second
	// agreeing is how many runs of each task must agree.
	agreeing = 2
)

// replicas has owners return and kills nodes, as migration does, under a job of which two runs of each
// task must agree: each run goes on from states of its own line, and the results that agree have no
// worker in common, whom the submitter asks.
func replicas(ctx context.Context, t *trial) error {
	t.wasm, t.poll = true, seldomPoll
	if err := t.addLocal(t.options.nodes); err != nil {
		return err
	}
	for _, n := range t.nodes {
		var err error
		if n.rules, err = t.ruled("worker.yaml", 1); err != nil {
			return err
		}
	}
	if err := t.startAll(ctx); err != nil {
		return err
	}
	if err := t.found(ctx, t.policy, groupSize); err != nil {
		return err
	}
	module, err := t.module(ctx)
	if err != nil {
		return err
	}
	leap := walk.NewLeap(replicaSteps)
	l := labour{
		module: module,
		rules: fmt.Sprintf("args: [\"{{.task}}\", \"%d\"]\nmemory: 16MiB\nreplicas: %d\ncheckpoint: %v\n", replicaSteps,
			agreeing, replicaEvery),
		want: func(i int) string { return fmt.Sprintln(leap.From(max(uint64(i), 1))) },
	}
	_, st, err := t.weather(ctx, scenarioReplicas, l)
	if err != nil {
		return err
	}
	t.judgeReplicas(st)
	return nil
}

// judgeReplicas says how the replicas of tasks went on, and whether all were of workers apart.
func (t *trial) judgeReplicas(st jobView) {
	var handed, moved, resumed int
	apart, alike := 0, ""
	for _, k := range st.List {
		for i := range k.Attempts {
			switch a := &k.Attempts[i]; {
			case a.handed():
				handed++
			case a.MovedTo != "":
				moved++
			}
			if k.Attempts[i].FromCheckpoint {
				resumed++
			}
		}
		var workers []string
		if k.Result != nil {
			workers = k.Result.Workers
		}
		if len(workers) >= agreeing {
			apart++
		} else if alike == "" {
			alike = fmt.Sprintf("; task %d is of [%s]", k.Index, strings.Join(workers, " "))
		}
	}
	t.report.show("by the job's log: handed over; stopped with its state", "", "%d; %d", handed, moved)
	t.report.show("  runs that went on from a checkpoint", "", "%d", resumed)
	t.report.show("CPU lost, of all that the job took", "", "%.1f s of %.1f s", st.WastedCPU, st.WastedCPU+st.UsefulCPU)
	t.report.expect("replicas go on from states, in place of beginning anew", handed+resumed > 0, "%d times",
		handed+resumed)
	t.report.expect("the results of each task are of workers that have nothing to do with one another", apart == t.tasks,
		"%d of %d%s", apart, t.tasks, alike)
}
