package submitter

import (
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// fails is a worker's result of a task that ended otherwise than it should.
func (b *leaderBench) fails(worker int, i uint64, o task.Outcome, code uint32) task.Result {
	key, _ := schedtest.Identity(worker)
	r := task.Result{Task: b.task(i), Outcome: o, ExitCode: code, Receipt: &task.Receipt{Epoch: 1, Seq: i}}
	if err := r.Sign(key); err != nil {
		b.tb.Fatal(err)
	}
	return r
}

// untilAsked lets time pass until others are to run the one task again.
func (b *leaderBench) untilAsked() {
	b.tb.Helper()
	for n := 0; len(b.again) == 0; n++ {
		if n == 100 {
			b.tb.Fatal("nobody is asked")
		}
		b.wait()
	}
}

// That a task failed is checked by others as any result is: who ran it before has no say, none is
// asked where the end depends on the machine, and what most say stands, be it that it fails.
func TestOthersRunFailedTasks(t *testing.T) {
	const exit = task.ExitFailure
	b := newInvitedBench(t, 1, "full")
	b.deliver(0, nil, b.fails(2, 0, exit, 1), b.fails(3, 0, exit, 1))
	b.hear()
	b.untilAsked()
	if !b.barred(2, 0) || !b.barred(3, 0) || b.barred(4, 0) {
		t.Errorf("%+v", b.again[0])
	}
	b.deliver(0, nil, b.fails(2, 0, exit, 1), b.fails(3, 0, exit, 1)) // the same again
	if b.hear(); b.allChecks().Due != 1 {
		t.Error("the same workers' word counts")
	}
	b.reborn(false)
	b.deliver(0, nil, b.fails(2, 0, exit, 1), b.fails(4, 0, exit, 1))
	st, _ := b.s.Job(b.id)
	if c := b.allChecks(); c.Accepted != 1 || !c.Delivered || st.Tasks.Failed != 1 || c.Agreed != 1 {
		t.Errorf("all say that it fails: %+v, %+v", c, st.Tasks)
	}

	b = newInvitedBench(t, 1, "full")
	b.deliver(0, nil, b.fails(2, 0, exit, 1))
	b.hear()
	b.untilAsked()
	for w := 3; len(b.lacks()) == 0; w++ {
		if w > 3+mostOpposed {
			t.Fatalf("%+v", b.allChecks())
		}
		b.bring(w, 0, truth)
	}
	b.bring(3, 0, truth)
	st, _ = b.s.Job(b.id)
	if c := b.allChecks(); c.Agreed != 1 || !c.Delivered || st.Tasks.Failed != 0 || st.Tasks.Done != 1 || b.faults(2) > 0 {
		t.Errorf("most say that it does not fail: %+v, %+v", c, st.Tasks)
	}

	b = newLeaderBench(t, 1, "full", false)
	b.bring(2, 0, truth)
	b.untilAsked()
	b.deliver(0, nil, b.fails(3, 0, exit, 1))
	if b.hear(); len(b.s.jobs[b.id].checks.polls[0].against) != 1 {
		t.Error("that it failed elsewhere is no word")
	}

	b = newLeaderBench(t, 1, "full", false)
	b.deliver(0, nil, b.fails(2, 0, task.TimedOut, 0))
	b.hear()
	for range 10 {
		if _, ok := b.s.NextWake(); ok {
			b.wait()
		}
	}
	if len(b.again) > 0 || b.allChecks().Due != 1 {
		t.Errorf("what took too long is run by others: %+v", b.again)
	}
	if b.act(message.OwnerState{Slots: 1}); len(b.audits) == 1 {
		b.answer(b.says(truth))
	}
	if c := b.allChecks(); c.Open != 1 {
		t.Errorf("%+v", c)
	}
}

// Of the runs by which a task failed each is judged for itself: nobody is named for what another
// signed, or for what depends on the machine, and none is praised that was wrong.
func TestRunsOfAFailureAreJudgedEach(t *testing.T) {
	const honest, wrong, slow = 2, 3, 4
	for name, first := range map[string]int{"the first is right": honest, "the first is wrong": wrong} {
		b := newLeaderBench(t, 1, "full", true)
		runs := map[int]task.Result{honest: b.fails(honest, 0, task.ExitFailure, 1),
			wrong: b.fails(wrong, 0, task.ExitFailure, 7), slow: b.fails(slow, 0, task.TimedOut, 0)}
		b.deliver(0, nil, runs[first], runs[slow], runs[honest+wrong-first])
		for n := 0; len(b.audits) > 0 && n < 10; n++ {
			b.answer(b.ends(task.ExitFailure))
		}
		if b.faults(honest) != 0 || b.faults(slow) != 0 || b.faults(wrong) != 1 {
			t.Errorf("%s: faults %d, %d, %d", name, b.faults(honest), b.faults(slow), b.faults(wrong))
		}
		_, id := schedtest.Identity(wrong)
		if b.s.audits.known(id).Known != 0 {
			t.Errorf("%s: who was wrong is praised", name)
		}
	}
}

// Results that were accepted, and delivered, and are doubted now, are run by others too where this
// machine lends nothing: they are read first, to know who made them. What was delivered stays.
func TestOthersRunDeliveredTasks(t *testing.T) {
	for _, says := range []string{truth, "other"} {
		b := newInvitedBench(t, 1, "1%")
		for nonce := range 50 { // one that is not drawn
			if b.bring(2+nonce, 0, truth); b.allChecks().Accepted == 1 {
				break
			}
			b = newInvitedBench(t, 1, "1%")
		}
		if c := b.allChecks(); !c.Delivered || c.Accepted != 1 {
			t.Fatalf("%+v", c)
		}
		worker := b.held(0).Results[0].Worker
		b.act(message.Proven{Worker: worker, Task: task.TaskID{Job: "elsewhere"}, Why: "it lied"})
		for n := 0; len(b.again) == 0; n++ {
			if n == 100 {
				t.Fatalf("nobody is asked: %+v", b.allChecks())
			}
			b.wait()
		}
		for w := 100; w < 100+mostOpposed && b.s.jobs[b.id].checks.away.Contains(0); w++ {
			b.bring(w, 0, says)
		}
		c := b.allChecks()
		if says == truth && (c.Accepted+c.Right != 1 || c.Doubted != 0) || says != truth && c.Doubted != 1 {
			t.Errorf("others say %q: %+v", says, c)
		}
		if got := b.held(0).Results[0].Worker; got != worker || len(b.lacks()) > 0 {
			t.Errorf("others say %q: what was delivered is %v", says, got)
		}
	}
}
