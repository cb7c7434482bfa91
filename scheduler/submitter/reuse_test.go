package submitter

import (
	"slices"
	"strings"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// reused are results of tasks of a job as another one takes them.
func (b *subBench) reused(of task.JobID, tasks ...uint64) (out []message.Reused) {
	for _, i := range tasks {
		end := summaryOf(of, i, "a")
		end.From = &task.TaskID{Job: of, Index: i}
		out = append(out, message.Reused{Of: task.TaskID{Job: of, Index: i}, End: end})
	}
	return out
}

// another is a job of n tasks that waits for results.
func (b *subBench) another(n uint64, change func(*task.Job)) task.JobID {
	rec := schedtest.Job(b.tb, b.key, n, func(j *task.Job) {
		j.Nonce = slices.Repeat([]byte{9}, 16)
		if change != nil {
			change(j)
		}
	})
	b.step(message.Offer{Record: rec, Waits: true})
	return rec.ID()
}

// submitted lists what was told of a job that is offered.
func (b *subBench) submitted(id task.JobID) (out []*message.Submit) {
	for _, e := range b.last {
		if e, ok := e.(message.Send); ok && e.Message.Submit != nil && e.Message.Submit.Record.ID() == id {
			out = append(out, e.Message.Submit)
		}
	}
	return out
}

// A job that takes results of another is not spoken of before it has them, and then as one of which these are held:
// it keeps them as its own, through a restart, also when the other is forgotten.
func TestReuse(t *testing.T) {
	b := newSubBench(t)
	old := b.offer(4, 1)
	b.bring(old, message.JobRunning, "a", 1, 2)
	id := b.another(4, nil)
	b.pass(b.timing.RetryMax)
	if n := len(b.submitted(id)); n > 0 {
		t.Fatal("it is offered before it has what it takes")
	}
	b.step(message.Reuse{Job: id, Tasks: b.reused(old, 1, 2)})
	if b.step(message.Reuse{Job: id, Last: true}); len(b.submitted(id)) != 1 ||
		!slices.Equal(b.submitted(id)[0].Have, ledger.Set{{From: 1, To: 3}}) {
		t.Fatalf("it is offered as %+v", b.submitted(id))
	}
	for range 2 {
		st, _ := b.s.Job(id)
		if want := []message.Taken{{Job: old, Tasks: 2}}; !slices.Equal(st.Taken, want) || st.Held != 2 {
			t.Errorf("%d are held, and taken from %v, want %v", st.Held, st.Taken, want)
		}
		b.restart()
	}
	b.bring(id, message.JobDone, "a", 0, 3)
	b.outage(0)
	for key := range b.fetches {
		b.step(message.Fetched{Key: key})
	}
	if st, _ := b.s.Job(id); !st.Final || st.State != message.JobDone {
		t.Fatalf("it is not over: %+v", st)
	}
	b.restart()
	if st, _ := b.s.Job(id); len(st.Taken) != 1 {
		t.Errorf("once it is over nothing is known of what it took: %v", st.Taken)
	}
	b.step(message.ForgetJob{Job: id})
	b.pass(rememberForgotten)
	for key := range b.disk {
		if strings.Contains(key, string(id)) {
			t.Errorf("%s is kept of a job that was forgotten", key)
		}
	}
}

// A job of which all is taken ends without anybody's word.
func TestAllIsReused(t *testing.T) {
	b := newSubBench(t)
	b.step(message.LeaderChanged{Epoch: 2})
	old := b.offer(2, 1)
	b.step(message.LeaderChanged{Leader: b.self, Epoch: 3})
	b.bring(old, message.JobRunning, "a", 1)
	b.step(message.LeaderChanged{Epoch: 4})
	id := b.another(1, nil)
	r := b.reused(old, 1)
	r[0].End.Index = 0
	b.step(message.Reuse{Job: id, Tasks: r, Last: true})
	if st, _ := b.s.Job(id); !st.Final || st.State != message.JobDone || !b.s.Accepted(id) {
		t.Errorf("%+v, accepted %v", st, b.s.Accepted(id))
	}
}

// Who begins anew while a job waits for results goes on with what it was given.
func TestReuseIsCutOff(t *testing.T) {
	b := newSubBench(t)
	old := b.offer(4, 1)
	b.bring(old, message.JobRunning, "a", 1, 2)
	id := b.another(4, nil)
	b.step(message.Reuse{Job: id, Tasks: b.reused(old, 1)})
	b.restart()
	if n := len(b.submitted(id)); n != 1 {
		t.Errorf("it is offered %d times", n)
	}
	if st, _ := b.s.Job(id); st.Held != 1 {
		t.Errorf("it holds %d results", st.Held)
	}
}

// What is no result, or not as good as is asked, or not held any more, is not taken.
func TestNotReused(t *testing.T) {
	b := newSubBench(t)
	old := b.offer(8, 1)
	b.bring(old, message.JobRunning, "a", 1, 2, 6) // the last failed
	verify, err := task.ParseVerify("50%")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*task.Job)
		with   func(*message.Reused)
	}{
		"not held":      {nil, func(r *message.Reused) { r.Of.Index = 4 }},
		"of no job":     {nil, func(r *message.Reused) { r.Of.Job = "none" }},
		"one's own":     {nil, func(r *message.Reused) { r.Of.Job = "" }},
		"of nobody":     {nil, func(r *message.Reused) { r.End.From = nil }},
		"no such task":  {nil, func(r *message.Reused) { r.End.Index = 8 }},
		"failed":        {nil, func(r *message.Reused) { r.End.Failed = true }},
		"made once":     {func(j *task.Job) { j.Replicas = 2 }, nil},
		"not asked for": {nil, func(r *message.Reused) { r.End.Results[0].Outputs = []task.Output{{Name: "virus"}} }},
		"not checked":   {func(j *task.Job) { j.Verify = verify }, nil},
	} {
		n := newSubBench(t)
		n.offer(8, 1)
		n.bring(old, message.JobRunning, "a", 1, 2, 6)
		id := n.another(8, tt.change)
		r := n.reused(old, 1)
		if tt.with != nil {
			tt.with(&r[0])
		}
		if r[0].Of.Job == "" {
			r[0].Of.Job = id
		}
		n.step(message.Reuse{Job: id, Tasks: r, Last: true})
		if st, _ := n.s.Job(id); st.Held != 0 || len(st.Taken) > 0 {
			t.Errorf("%s: it is taken", name)
		}
	}
	if st, _ := b.s.Job(old); st.Held != 3 {
		t.Errorf("the other holds %d", st.Held)
	}
}

// Of a job whose results are checked one is taken that was run here, and for a job without checks one that is
// accepted; never one that is still to be run again, or doubted.
func TestReuseOfChecked(t *testing.T) {
	b := newAuditBench(t, 200, "50%")
	var due uint64
	for ; b.checks().Due == 0; due++ {
		b.deliver(due, nil, b.ran(2, due, truth))
	}
	due--
	if s := Sound(b.s, b.id, &task.Job{}); s.Contains(due) {
		t.Error("one that is to be run again is taken")
	}
	b.answer(b.says(truth))
	b.knows(2, knownAfter+1)
	accepted := b.acceptsMore(2, due+1) - 1
	for _, tt := range []struct {
		i       uint64
		checked bool
		want    bool
	}{{due, true, true}, {due, false, true}, {accepted, false, true}, {accepted, true, false}, {199, false, false}} {
		other := &task.Job{}
		if tt.checked {
			other.Verify = &task.Verify{Audits: 1_000_000}
		}
		if got := Sound(b.s, b.id, other).Contains(tt.i); got != tt.want {
			t.Errorf("task %d, for a job that is checked: %v: taken is %v", tt.i, tt.checked, got)
		}
	}
	if Sound(b.s, "none", &task.Job{}) != nil {
		t.Error("results of no job are taken")
	}
}

// TestTakenResultsRunHere has results checked that a job took from another. They run under the name of the other job's
// task, so no other member runs them: neither as a vote, nor as a trial of a newcomer.
func TestTakenResultsRunHere(t *testing.T) {
	b := newAuditBench(t, 400, "5%")
	b.knows(2, knownAfter+1)
	var taken []message.Reused
	for i := range uint64(300) {
		b.deliver(i, nil, b.ran(2, i, truth))
		if of := b.task(i); Sound(b.s, b.id, b.s.jobs[b.id].spec).Contains(i) {
			end := message.TaskSummary{Index: i, Results: []task.Result{b.ran(2, i, truth)}, From: &of}
			taken = append(taken, message.Reused{Of: of, End: end})
		}
	}
	b.id = b.another(400, func(j *task.Job) { j.Verify = b.s.jobs[b.id].spec.Verify })
	b.do(message.Reuse{Job: b.id, Tasks: taken, Last: true})
	c := b.s.jobs[b.id].checks
	if len(taken) < 100 || c.due.Count() == 0 {
		t.Fatalf("of %d results that were taken, %d are to be checked", len(taken), c.due.Count())
	}
	if len(c.polls) > 0 {
		t.Errorf("others may run %d of them again", len(c.polls))
	}
	for len(b.audits) > 0 {
		b.answer(b.says(truth))
	}
	if b.allChecks().Right == 0 || len(c.sure.at) > 0 {
		t.Errorf("%d were found right, and newcomers may try %d of them", b.allChecks().Right, len(c.sure.at))
	}
}

// A leader cannot say that a result was taken from another job.
func TestLeaderSaysReused(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(2, 1)
	end := summaryOf(id, 1, "a")
	end.From = &task.TaskID{Job: id, Index: 0}
	b.say(message.Message{Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{end}}})
	if st, _ := b.s.Job(id); st.Held != 0 {
		t.Error("it is held")
	}
}

// The node that submitted a job with stages tells how far each is, also after it began anew.
func TestStagesAreTold(t *testing.T) {
	b := newSubBench(t)
	rec := schedtest.Job(t, b.key, 1, func(j *task.Job) {
		stage := task.Stage{Name: "one", Module: j.Module, Outputs: []string{task.Stdout},
			Sweep: task.Sweep{Axes: []task.Axis{{Name: "a", Step: 1, Count: 7}}}}
		other := task.Stage{Name: "two", Module: j.Module, Outputs: []string{task.Stdout},
			Needs: []task.Need{{Stage: 0, Kind: task.NeedBy, By: []string{"a"}, Reads: []string{task.Stdout}}}}
		j.Stages = []task.Stage{stage, other}
		j.Outputs, j.Sweep = nil, task.Sweep{}
	})
	b.step(message.Offer{Record: rec})
	b.bring(rec.ID(), message.JobRunning, "a", 1, 2, 6) // the last failed, and with it what reads it
	for range 2 {
		st, _ := b.s.Job(rec.ID())
		if len(st.Stages) != 2 || st.Stages[0].Done != 2 || st.Stages[0].Failed != 1 || st.Stages[1].Failed != 1 ||
			st.Stages[1].Tasks != 7 || !slices.Equal(st.Stages[1].Needs, []string{"by a of one"}) {
			t.Errorf("%+v", st.Stages)
		}
		b.restart()
	}
}
