package submitter

import (
	"strings"
	"testing"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// wrongHere has this machine come to something else than a held result of worker, compiled and interpreted.
func (b *gateBench) wrongHere(i uint64, r task.Result) {
	b.tb.Helper()
	key, _ := schedtest.Identity(1)
	id := task.TaskID{Job: b.id, Index: i}
	if at := b.s.audits.at[id]; at == nil {
		b.tb.Fatalf("task %d does not run again here", i)
	}
	for _, interpreted := range []bool{false, true} {
		b.do(message.Audited{Task: id, Interpreted: interpreted, Here: schedtest.Result(b.tb, key, id, "other"),
			Held: message.TaskSummary{Index: i, Results: []task.Result{r}}})
	}
}

// runsAgain returns the task that runs again here.
func (b *gateBench) runsAgain() uint64 {
	b.tb.Helper()
	for id := range b.s.audits.at {
		return id.Index
	}
	b.tb.Fatal("nothing runs again here")
	return 0
}

// The first results of a borrower are checked. After a wrong one all that it delivered without a check is returned, its
// delegation ends, and nothing more of it counts; results of the home stay. It is refused after a restart, too.
func TestWrongResultRefusesItsSource(t *testing.T) {
	b := newGateBench(t, checkedJob)
	b.s.cfg.Evidence = b
	b.do(message.OwnerState{Slots: 1})
	b.delegates(gateBorrower, 10, 20)
	j := b.s.jobs[b.id]
	j.checks.sources.home = credibility.SampleSource
	brought := map[uint64]task.Result{}
	for i := uint64(10); i < 18; i++ {
		brought[i] = b.run(100+int(i), gateBorrower, i, b.now)
		if why := b.brings(gateBorrower, false, i, brought[i]); why != "" {
			t.Fatalf("task %d: %s", i, why)
		}
	}
	for i := uint64(10); i < 10+credibility.SampleSource; i++ {
		if !j.checks.due.Contains(i) {
			t.Errorf("task %d is among the first of its source, and is not checked", i)
		}
	}
	if why := b.brings(gateLeader, false, 0, b.run(gateWorker, gateLeader, 0, b.now)); why != "" {
		t.Fatal(why)
	}
	wrong := b.runsAgain()
	b.wrongHere(wrong, brought[wrong])
	for i := range brought {
		if i != wrong && j.have.Contains(i) && b.s.audits.at[task.TaskID{Job: b.id, Index: i}] == nil {
			t.Errorf("task %d of a refused source is held", i)
		}
	}
	if !j.have.Contains(0) {
		t.Error("a result of the home is returned")
	}
	if _, l := j.loanOf(peerOf(gateBorrower)); l != nil && len(l.tasks()) > 0 {
		t.Errorf("the source still has tasks: %v", l.tasks())
	}
	if why := b.brings(gateBorrower, false, 19, b.run(gateOther, gateBorrower, 19, b.now)); !strings.Contains(why, "wrong result") {
		t.Errorf("a result of a refused source: %q", why)
	}
	c := checked{Index: wrong, State: verdictWrong, From: []task.PeerID{peerOf(gateBorrower)}, Restored: true}
	var again checks
	again.put(c)
	if !again.sources.refuses(peerOf(gateBorrower)) {
		t.Error("after a restart the source is not refused")
	}
}

// The first results of a borrower are also checked if the borrower names itself as their worker.
func TestBorrowerThatWorksItselfIsASource(t *testing.T) {
	b := newGateBench(t, checkedJob)
	b.do(message.OwnerState{Slots: 1})
	b.delegates(gateBorrower, 10, 20)
	j := b.s.jobs[b.id]
	j.checks.sources.home = 2 * credibility.SampleSource
	for i := uint64(10); i < 10+credibility.SampleSource; i++ {
		if why := b.brings(gateBorrower, false, i, b.run(gateBorrower, gateBorrower, i, b.now)); why != "" {
			t.Fatalf("task %d: %s", i, why)
		}
		if !j.checks.due.Contains(i) {
			t.Errorf("task %d is among the first of its source, and is not checked", i)
		}
	}
}

// When two checks and a tenth of all were wrong, all results of strangers that nobody checked are returned, whoever leads.
func TestErrorsOfAJobReturnStrangersResults(t *testing.T) {
	b := newGateBench(t, checkedJob)
	b.do(message.OwnerState{Slots: 1})
	j := b.s.jobs[b.id]
	brought := map[uint64]task.Result{}
	known := peerOf(gateWorker)
	c := b.s.audits.credit(known)
	c.Known, c.At = 1e6, b.now
	for i := range uint64(15) {
		worker := 100 + int(i)
		if i == 14 {
			worker = gateWorker
		}
		brought[i] = b.run(worker, gateLeader, i, b.now)
		if why := b.brings(gateLeader, false, i, brought[i]); why != "" {
			t.Fatalf("task %d: %s", i, why)
		}
	}
	for n := range wrongChecks {
		strangers := j.checks.unchecked(j.have).Minus(j.checks.due)
		if n == wrongChecks-1 && len(strangers) == 0 {
			t.Fatal("all are checked: it tests nothing")
		}
		i := b.runsAgain()
		b.wrongHere(i, brought[i])
	}
	for w, its := range j.checks.by {
		if w != known && len(its.tasks) > 0 {
			t.Errorf("results %v of a stranger are held without a check", its.tasks)
		}
	}
}

// Of a job whose share is too small for that the least sample is checked in the end.
func TestLeastSampleIsChecked(t *testing.T) {
	const tasks = 60
	b := newAuditBench(t, tasks, "0.0001%")
	b.s.cfg.Pool.Least, b.s.cfg.FirstOfSource = 0, credibility.SampleSource
	for i := range uint64(tasks) {
		b.deliver(i, nil, b.ran(2+int(i), i, truth))
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
	}
	if c := b.allChecks(); c.Right < credibility.SampleTasks || c.Right > tasks/2 || !c.Delivered {
		t.Errorf("%+v, want at least %d checked", c, credibility.SampleTasks)
	}
}
