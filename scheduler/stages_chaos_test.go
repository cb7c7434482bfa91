package scheduler

import (
	"fmt"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// inStages makes a job one of five stages: eight tasks, of which some fail, one for each of them, one for each
// of two groups, one for all, and one for all as long as at most half failed.
func inStages(j *task.Job) {
	stage := func(name string, needs ...task.Need) task.Stage {
		return task.Stage{Name: name, Module: j.Module, Outputs: []string{task.Stdout}, Needs: needs}
	}
	reads := []string{task.Stdout}
	begin := stage("begin")
	begin.Sweep = task.Sweep{Axes: []task.Axis{{Name: "a", Step: 1, Count: 4}, {Name: "b", Step: 1, Count: 2}}}
	rest := stage("rest", task.Need{Stage: 2, Kind: task.NeedAfter, Reads: reads})
	rest.AllowFailed = 500_000
	j.Stages = []task.Stage{begin,
		stage("each", task.Need{Stage: 0, Kind: task.NeedEach, Reads: reads}),
		stage("group", task.Need{Stage: 1, Kind: task.NeedBy, By: []string{"b"}, Reads: reads}),
		stage("all", task.Need{Stage: 2, Kind: task.NeedAfter, Reads: reads}), rest}
	j.Args, j.Env, j.Files, j.Stdin, j.Outputs, j.Sweep = nil, nil, nil, "", nil, task.Sweep{}
	j.Replicas, j.Retries, j.Verify = 1, 1, nil
}

// TestSwarmStages: whatever fails, crashes and is taken over, a task starts only when all that it reads is named,
// nothing waits for ever, and what ends how follows from what failed.
func TestSwarmStages(t *testing.T) {
	for seed := range seedsAsked(t, *swarmSeeds) {
		if ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { stagesChaos(t, seed) }); !ok {
			t.Fatalf("to repeat it: GODWIT_SEEDS=%d go test ./scheduler -run 'TestSwarmStages/seed=%d$' -v", seed+1, seed)
		}
	}
}

func stagesChaos(t *testing.T, seed uint64) {
	s := newGroupSim(t, seed, 5)
	s.wire = seed%4 == 0
	s.loss = []float64{0, 0.01, 0.05}[s.rng.IntN(3)]
	s.work = []time.Duration{time.Millisecond, 300 * time.Millisecond, 2 * time.Second}[s.rng.IntN(3)]
	failing := [...]uint64{0, 0, 0b1, 0b11, 0b1010_1010, 0xff}[s.rng.IntN(6)]
	s.fails = func(i uint64) bool { return i < 8 && failing>>i&1 == 1 }
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	id := n.submit(1, func(j *task.Job) {
		if inStages(j); seed%3 == 0 {
			j.Replicas, j.Stages[4].AllowFailed = 2, 0
		}
		if seed%2 == 0 { // the stages ask for unlike memory
			j.Stages[0].Memory, j.Stages[2].Memory = j.Memory/2, 2*j.Memory
		}
	})
	for range s.rng.IntN(5) {
		s.heap.Set(s.now.Add(time.Duration(s.rng.Int64N(int64(12*time.Second)))), s.mishap)
	}
	if !s.run(6*time.Minute, func() bool { return s.finalAtOwner(id) }) {
		t.Fatalf("after %v the job has not ended: %s", s.now.Sub(schedtest.Start), s.describe())
	}
	checkStagesEnd(t, n, id, failing)
}

// checkStagesEnd holds what a submitter has against what follows from the tasks that fail.
func checkStagesEnd(t *testing.T, n *simNode, id task.JobID, failing uint64) {
	spec := n.sub.Spec(id)
	flow := ledger.NewFlow(spec)
	for i := range spec.Tasks() {
		want := ledger.Done
		if i < 8 && failing>>i&1 == 1 || flow.Ready(i) == ledger.Never {
			want = ledger.Failed
		}
		flow.Set(i, want)
		sum, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(id, i)])
		if err != nil {
			t.Fatalf("task %d: %v", i, err)
		}
		if got := sum.Failed; got != (want == ledger.Failed) {
			t.Errorf("task %d, %s: failed is %v (%s)", i, spec.TaskName(i), got, sum.Reason)
		}
		if i >= 8 && sum.Failed && len(sum.Results) > 0 {
			t.Errorf("task %d, %s, ran without what it reads: %v", i, spec.TaskName(i), sum.Results)
		}
	}
}
