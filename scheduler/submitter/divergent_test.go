package submitter

import (
	"slices"
	"strings"
	"testing"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// made is a result of a worker that ran the task with an engine.
func (b *auditBench) made(id task.TaskID, worker int, says, engine string) task.Result {
	key, _ := schedtest.Identity(worker)
	r := schedtest.Result(b.tb, key, id, says)
	r.Trail = &task.Trail{Pass: 1, Fuel: 100, Engine: engine}
	return r
}

// bring has the leader bring a result, and runs all that is run again because of it, compiled for
// amd64.
func (b *auditBench) bring(r task.Result) {
	b.do(&message.Received{From: b.self, Message: &message.Message{Progress: &message.Progress{Job: r.Task.Job,
		Summary: message.JobSummary{State: message.JobRunning, Total: 1 << 20},
		Tasks:   []message.TaskSummary{{Index: r.Task.Index, Results: []task.Result{r}}}}}})
	for len(b.audits) > 0 {
		b.answer(func(a message.Audit) task.Result {
			engine := "amd64"
			if a.Interpreted {
				engine = task.EngineInterpreter
			}
			return b.made(a.Task, 1, truth, engine)
		})
	}
}

// module offers a job of another program.
func (b *auditBench) module(name string, tasks uint64, verify string) task.JobID {
	v, err := task.ParseVerify(verify)
	if err != nil {
		b.tb.Fatal(err)
	}
	rec := schedtest.Job(b.tb, b.key, tasks, func(j *task.Job) { j.Verify, j.Module = v, task.RawCID([]byte(name)) })
	b.do(message.Offer{Record: rec})
	return rec.ID()
}

func (b *auditBench) faults(worker int) int {
	_, peer := schedtest.Identity(worker)
	return b.s.audits.known(peer).Faults
}

// TestDivergent: what a program comes to where it was compiled for another architecture than this
// node's is run again, all of it, and nobody is named for that. Whoever is wrong with another
// program, or with an engine that this node has, is.
func TestDivergent(t *testing.T) {
	b := newAuditBench(t, 1, "full")
	first := b.module("one", 20, "1e-6")
	b.s.cfg.Pool.Least = 0
	b.s.audits.credit(peerOf(3)).Known = 1e6 // so that nothing of it is drawn
	b.s.audits.credit(peerOf(3)).At = b.now
	at := func(job task.JobID, i uint64) task.TaskID { return task.TaskID{Job: job, Index: i} }
	b.bring(b.made(at(first, 0), 3, truth, "arm64"))
	before, _ := b.s.Job(first)
	if before.Checks.Accepted+before.Checks.Final != 1 {
		t.Fatalf("%+v", before.Checks)
	}
	b.knows(2, knownAfter+1)
	wrong := b.made(at(first, 1), 2, "wrong", "arm64")
	b.bring(wrong)
	look := func(when string) {
		st, _ := b.s.Job(first)
		c := st.Checks
		if b.faults(2)+b.faults(3) > 0 || c.Divergent != "arm64" || c.Wrong != 1 || c.Right != 1 || c.Due != 0 {
			t.Errorf("%s: %d and %d faults, %+v", when, b.faults(2), b.faults(3), c)
		}
		if got := b.s.audits.refused(b.s.jobs[first]); !slices.Equal(got, []task.PeerID{wrong.Worker}) {
			t.Errorf("%s: of this job %v are refused", when, got)
		}
		if got := b.s.audits.refused(b.s.jobs[b.id]); len(got) > 0 {
			t.Errorf("%s: of another job %v are refused", when, got)
		}
	}
	look("after one was wrong")
	held, err := DecodeSummary(b.disk[ResultKey(first, 1)])
	if w := held.Refuted; err != nil || w == nil || w.By != "" || !strings.Contains(w.Why, "compiled for arm64") {
		t.Errorf("refuted is %+v, %v", w, err)
	}
	b.restart()
	look("after a restart")

	b.bring(b.made(at(first, 2), 4, "wrong", "amd64"))
	b.bring(b.made(at(first, 3), 5, "wrong", task.EngineInterpreter))
	b.bring(b.made(at(first, 4), 6, "wrong", ""))
	if b.faults(4) != 1 || b.faults(5) != 1 || b.faults(6) != 1 {
		t.Errorf("with an engine that is here too: %d, %d, %d faults", b.faults(4), b.faults(5), b.faults(6))
	}
	second := b.module("two", 20, "full")
	b.bring(b.made(at(second, 0), 2, "wrong", "arm64"))
	if b.faults(2) != 1 {
		t.Error("who is wrong with another program, too, is not named")
	}
}

// TestCompilerErrs: where so many workers are wrong with one compiler, none of them is named, with
// whatever program.
func TestCompilerErrs(t *testing.T) {
	b := newAuditBench(t, 1, "full")
	one, two := b.module("one", 20, "full"), b.module("two", 20, "full")
	for w := range uint64(compilerErrs) {
		b.knows(2+int(w), knownAfter+1)
		b.bring(b.made(task.TaskID{Job: one, Index: w}, 2+int(w), "wrong", "arm64"))
	}
	b.bring(b.made(task.TaskID{Job: two, Index: 0}, 2, "wrong", "arm64"))
	st, _ := b.s.Job(two)
	if b.faults(2) > 0 || st.Checks.Divergent != "arm64" || st.Checks.Wrong != 1 {
		t.Errorf("%d faults, %+v", b.faults(2), st.Checks)
	}
}

// Strangers that claim an architecture make nobody's results doubtful but their own.
func TestStrangersClaimAnArchitecture(t *testing.T) {
	const honest, liars = 20, 19
	b := newAuditBench(t, 1, "full")
	id := b.module("one", 2*honest, "1e-6")
	b.s.cfg.Pool.Least = 0
	for i := range uint64(honest) {
		b.s.audits.credit(b.knows(2, 1e9)).First = b.now.Add(-credibility.FamiliarAfter) // so that nothing of it is drawn
		b.bring(b.made(task.TaskID{Job: id, Index: i}, 2, truth, "arm64"))
	}
	for i := range uint64(liars) {
		b.bring(b.made(task.TaskID{Job: id, Index: honest + i}, 100+int(i), "wrong", "arm64"))
	}
	st, _ := b.s.Job(id)
	if c := st.Checks; c.Divergent != "" || c.Doubted+c.Right > 0 || c.Wrong != liars || c.Accepted+c.Final != honest+liars {
		t.Errorf("%+v", c)
	}
	if got := b.s.audits.refused(b.s.jobs[id]); len(got) != liars {
		t.Errorf("%d workers are kept away, want %d", len(got), liars)
	}
}

func peerOf(n int) task.PeerID {
	_, peer := schedtest.Identity(n)
	return peer
}
