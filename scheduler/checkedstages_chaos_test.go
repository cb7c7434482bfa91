package scheduler

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// checkedStages are liars among the nodes of a simulation, of a job with stages whose results are checked. What a task
// makes follows from what it reads.
type checkedStages struct {
	liars   map[*simNode]int // how each lies, from 1
	failing uint64           // a bit for each task of the first stage that fails
	lies    int
	audits  int
}

// The kinds of liars.
const (
	liesOutput = iota + 1 // makes something else, and signs what it read
	liesBytes             // reads other bytes than it signs
	liesName              // reads something that nobody made, and signs that
	liesLess              // leaves inputs out, and signs so
	liesFailed            // says that its task failed
	liesDone              // says of a task that fails that it did not
	liesKinds  = iota
)

// made is what a task makes that reads files of that name.
func (c *checkedStages) made(id task.TaskID, name []byte, salt string) task.Output {
	out := fmt.Appendf(nil, "result of %v on %x %s", id, name, salt)
	o := task.Output{Name: task.Stdout, CID: task.RawCID(out), Size: int64(len(out)), Inline: out}
	if id.Index%2 == 1 {
		o.Size, o.Inline = 1<<20, nil
	}
	return o
}

// right is what a task comes to on what it reads.
func (c *checkedStages) right(id task.TaskID, reads *message.Reads) task.Result {
	r := task.Result{Task: id, Outcome: task.Completed, Reads: reads.Name()}
	if id.Index < 8 && c.failing>>id.Index&1 == 1 {
		r.Outcome, r.ExitCode = task.ExitFailure, 1
		return r
	}
	r.Outputs = []task.Output{c.made(id, r.Reads, "")}
	return r
}

// run is what a node says that a task came to.
func (c *checkedStages) run(n *simNode, id task.TaskID, reads *message.Reads, r *task.Result) {
	*r = c.right(id, reads)
	kind := c.liars[n]
	if kind == 0 || n.s.rng.IntN(3) == 0 {
		return
	}
	c.lies++
	other := bytes.Repeat([]byte{7}, 32)
	switch {
	case kind == liesFailed:
		*r = task.Result{Outcome: task.ExitFailure, ExitCode: 3, Reads: r.Reads}
	case kind == liesDone || r.Outcome == task.Completed && (kind == liesOutput || reads == nil):
		*r = task.Result{Outcome: task.Completed, Reads: r.Reads, Outputs: []task.Output{c.made(id, r.Reads, "lie")}}
	case r.Outcome != task.Completed:
	case kind == liesBytes:
		r.Outputs = []task.Output{c.made(id, other, "")}
	case kind == liesName:
		r.Reads, r.Outputs = other, []task.Output{c.made(id, other, "")}
	case kind == liesLess:
		less := &message.Reads{Files: reads.Files[:len(reads.Files)/2]}
		r.Reads, r.Outputs = less.Name(), []task.Output{c.made(id, less.Name(), "")}
	}
}

// heldReads is what a task reads by what a submitter holds.
func (n *simNode) heldReads(id task.TaskID) (*message.Reads, error) {
	spec := n.sub.Spec(id.Job)
	if id.Index < spec.Roots() {
		return nil, nil
	}
	r := new(message.Reads)
	for need, members := range spec.Needed(id.Index) {
		for u := range members.All() {
			end, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(id.Job, u)])
			if err != nil {
				return nil, err
			}
			if !end.Failed {
				r.Files = append(r.Files, spec.FilesOf(need, u, end.Results[0].Outputs)...)
			}
		}
	}
	slices.SortFunc(r.Files, func(a, b task.Output) int { return cmp.Compare(a.Name, b.Name) })
	return r, nil
}

// compare and audit answer a submitter.
func (n *simNode) compare(e message.Compare) {
	done := message.Compared{Task: e.Task}
	end, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(e.Task.Job, e.Task.Index)])
	reads, other := n.heldReads(e.Task)
	if err = cmp.Or(err, other); err != nil {
		done.Err = err.Error()
	}
	done.Held, done.Name = end, reads.Name()
	n.step(done)
}

func (n *simNode) audit(e message.Audit) {
	n.s.checked.audits++
	done := message.Audited{Task: e.Task, Interpreted: e.Interpreted, StopAt: e.StopAt, First: e.First,
		Here: task.Result{Outcome: task.HostError}}
	end, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(e.Task.Job, e.Task.Index)])
	reads, other := n.heldReads(e.Task)
	if done.Held = end; (err == nil || e.First) && other == nil {
		done.Here = n.s.checked.right(e.Task, reads)
	}
	done.Here.Task = e.Task
	if err := done.Here.Sign(n.key); err != nil {
		n.s.tb.Fatal(err)
	}
	for _, cid := range message.RemoteOutputs(&done.Here) {
		n.blocks[cid] = true
	}
	n.step(done)
}

// TestSwarmCheckedStages: whoever lies about what it made, and about what it made that of, and whatever crashes
// meanwhile, every result that was delivered is right and was made of right ones, where all are run again; where some
// are, each was made of what is held. Nothing waits for ever.
func TestSwarmCheckedStages(t *testing.T) {
	lies, audits := 0, 0
	for seed := range seedsAsked(t, *swarmSeeds/4) {
		if ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			c := checkedStagesChaos(t, seed)
			lies, audits = lies+c.lies, audits+c.audits
		}); !ok {
			t.Fatalf("to repeat it: GODWIT_SEEDS=%d go test ./scheduler -run 'TestSwarmCheckedStages/seed=%d$' -v", seed+1, seed)
		}
	}
	if lies == 0 || audits == 0 {
		t.Errorf("%d lies and %d audits: it tests nothing", lies, audits)
	}
}

func checkedStagesChaos(t *testing.T, seed uint64) *checkedStages {
	s := newGroupSim(t, 4*seed+3, 5) // no task is handed over: its lease says what it reads
	c := &checkedStages{liars: map[*simNode]int{}}
	s.checked = c
	s.wire = seed%4 == 0
	s.loss = []float64{0, 0.01, 0.05}[s.rng.IntN(3)]
	s.work = []time.Duration{time.Millisecond, 300 * time.Millisecond, 2 * time.Second}[s.rng.IntN(3)]
	c.failing = [...]uint64{0, 0, 0b1, 0b11, 0xff}[s.rng.IntN(5)]
	owner := s.nodes[s.rng.IntN(len(s.nodes))]
	for range 1 + s.rng.IntN(2) {
		if n := s.nodes[s.rng.IntN(len(s.nodes))]; n != owner {
			c.liars[n] = 1 + s.rng.IntN(liesKinds)
		}
	}
	full := seed%3 > 0
	id := owner.submit(1, func(j *task.Job) {
		inStages(j)
		j.Verify = &task.Verify{Audits: 1_000_000, Draw: make([]byte, 32)}
		if !full {
			j.Verify.Audits = 200_000
		}
	})
	for range s.rng.IntN(5) {
		s.heap.Set(s.now.Add(time.Duration(s.rng.Int64N(int64(12*time.Second)))), s.mishap)
	}
	settled := func() bool {
		st, ok := owner.sub.Job(id)
		if ok && owner.up && st.Checks.Waits > 0 { // its owner allows the rest
			owner.step(message.CheckMore{Job: id, Tasks: st.Checks.Waits})
		}
		return ok && owner.up && st.Final && st.Checks.Delivered
	}
	if !s.run(30*time.Minute, settled) {
		st, _ := owner.sub.Job(id)
		t.Fatalf("after %v the job has not ended, checks %+v: %s", s.now.Sub(schedtest.Start), st.Checks, s.describe())
	}
	c.checkEnd(t, owner, id, full)
	return c
}

// checkEnd holds what a submitter has against what the tasks make, of what it has of those that they read.
func (c *checkedStages) checkEnd(t *testing.T, n *simNode, id task.JobID, full bool) {
	spec := n.sub.Spec(id)
	flow := ledger.NewFlow(spec)
	for i := range spec.Tasks() {
		name := task.TaskID{Job: id, Index: i}
		end, err := submitter.DecodeSummary(n.disk[submitter.ResultKey(id, i)])
		if err != nil {
			t.Fatalf("task %d: %v", i, err)
		}
		verdict := ledger.Done
		if end.Failed {
			verdict = ledger.Failed
		}
		never := flow.Ready(i) == ledger.Never
		flow.Set(i, verdict)
		if never != (len(end.Results) == 0) || never && !end.Failed {
			t.Errorf("task %d, %s: never runs is %v, and it is held with %d results, failed %v", i, spec.TaskName(i), never,
				len(end.Results), end.Failed)
		}
		if len(end.Results) == 0 {
			continue
		}
		reads, err := n.heldReads(name)
		if err != nil {
			t.Fatal(err)
		}
		got := &end.Results[0]
		if !bytes.Equal(got.Reads, reads.Name()) {
			t.Errorf("task %d, %s, was made of other files than are held", i, spec.TaskName(i))
		}
		if want := c.right(name, reads); full && got.Digest() != want.Digest() {
			t.Errorf("task %d, %s, is %v, want %v", i, spec.TaskName(i), got.Outputs, want.Outputs)
		}
	}
}
