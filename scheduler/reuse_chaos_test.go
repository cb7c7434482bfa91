package scheduler

import (
	"fmt"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/memo"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// reusedOf finds what a job can take of another one that a node holds all of.
func (n *simNode) reusedOf(t *testing.T, old task.JobID, spec *task.Job) (out []message.Reused) {
	source := memo.Source{ID: old, Spec: n.sub.Spec(old), Held: n.sub.Held(old), Sound: submitter.Sound(n.sub, old, &task.Job{}),
		Read: func(i uint64) (message.TaskSummary, error) {
			return submitter.DecodeSummary(n.disk[submitter.ResultKey(old, i)])
		}}
	err := memo.Find(spec, nil, nil, []memo.Source{source}, func(r *message.Reused) (bool, error) {
		out = append(out, *r)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// resubmit hands in a job like another one, with what it can take of that; it returns what that is.
func (n *simNode) resubmit(t *testing.T, old task.JobID, change func(*task.Job)) (id task.JobID, taken ledger.Set) {
	rec := schedtest.Job(n.s.tb, n.key, 1, func(j *task.Job) {
		j.Submitted, j.Nonce[0] = task.At(n.s.now), 1
		change(j)
	})
	spec, err := rec.OpenWhole()
	if err != nil {
		t.Fatal(err)
	}
	n.step(message.Offer{Record: rec, Waits: true})
	n.blocks[spec.Module], n.blocks[task.CID(rec.ID())] = true, true
	for _, m := range spec.Modules() {
		n.blocks[m] = true
	}
	for _, r := range n.reusedOf(t, old, spec) {
		taken.Add(r.End.Index)
		n.step(message.Reuse{Job: rec.ID(), Tasks: []message.Reused{r}})
	}
	n.step(message.Reuse{Job: rec.ID(), Last: true})
	return rec.ID(), taken
}

// TestSwarmReuse: of a job that is handed in again after the program of one stage was changed just what that reaches
// runs, from what the submitter holds; whatever crashes meanwhile, all of it ends, and well.
func TestSwarmReuse(t *testing.T) {
	for seed := range seedsAsked(t, *swarmSeeds) {
		if ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { reuseChaos(t, seed) }); !ok {
			t.Fatalf("to repeat it: GODWIT_SEEDS=%d go test ./scheduler -run 'TestSwarmReuse/seed=%d$' -v", seed+1, seed)
		}
	}
}

func reuseChaos(t *testing.T, seed uint64) {
	s := newGroupSim(t, seed, 5)
	s.wire = seed%4 == 0
	s.work = 300 * time.Millisecond
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	old := n.submit(1, inStages)
	if !s.run(2*time.Minute, func() bool { return s.finalAtOwner(old) }) {
		t.Fatalf("the first has not ended: %s", s.describe())
	}
	changed := s.rng.IntN(6) // 5: nothing is
	id, taken := n.resubmit(t, old, func(j *task.Job) {
		if inStages(j); changed < len(j.Stages) {
			j.Stages[changed].Module = task.RawCID([]byte("another"))
			j.Module = j.Stages[0].Module
		}
	})
	reached := map[int]uint64{0: 20, 1: 12, 2: 4, 3: 1, 4: 1, 5: 0}[changed] // of 8, 8, 2, 1 and 1 tasks
	if want := uint64(20) - reached; taken.Count() != want {
		t.Fatalf("after a change of stage %d %d tasks are taken, want %d", changed, taken.Count(), want)
	}
	calm := seed%3 != 0
	if !calm {
		s.loss = 0.02
		for range 3 {
			s.heap.Set(s.now.Add(time.Duration(s.rng.Int64N(int64(8*time.Second)))), s.mishap)
		}
	}
	final := func() bool { j, ok := n.sub.Job(id); return ok && n.up && j.Final }
	if !s.run(6*time.Minute, final) {
		t.Fatalf("the second has not ended, of which %d were taken: %s", taken.Count(), s.describe())
	}
	if st, _ := n.sub.Job(id); calm && reached < 20 && st.Taken[0] != (message.Taken{Job: old, Tasks: taken.Count()}) {
		t.Errorf("it is told that %v are taken", st.Taken)
	}
	for i := range n.sub.Spec(id).Tasks() {
		sum, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(id, i)])
		if err != nil || sum.Failed {
			t.Errorf("task %d: failed is %v (%v)", i, sum.Failed, err)
		}
		if ran := s.began[task.TaskID{Job: id, Index: i}]; calm && ran == taken.Contains(i) {
			t.Errorf("task %d, which is taken: %v, ran: %v", i, taken.Contains(i), ran)
		}
	}
}
