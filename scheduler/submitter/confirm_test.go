package submitter

import (
	"strings"
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newConfirmBench has a job of n tasks of which those results are all run again that contain a word.
func newConfirmBench(tb testing.TB, n uint64) *auditBench {
	b := &auditBench{subBench: newSubBench(tb).unlimited()}
	rec := schedtest.Job(tb, b.key, n, func(j *task.Job) { j.Verify = &task.Verify{Confirm: "stdout contains FOUND"} })
	b.id = rec.ID()
	b.s.cfg.Pool.Least = 0
	b.do(message.Offer{Record: rec})
	return b
}

// asked lists the results that the last step had examined.
func (b *auditBench) asked() []uint64 {
	var out []uint64
	for _, e := range b.last {
		if e, ok := e.(message.Examine); ok {
			if e.Condition != "stdout contains FOUND" {
				b.tb.Errorf("examined is %q", e.Condition)
			}
			out = append(out, e.Task.Index)
		}
	}
	return out
}

// tell answers an Examine as a driver does, or with an error.
func (b *auditBench) tell(i uint64, failing string) {
	ev := message.Examined{Task: b.task(i), Held: b.held(i), Err: failing}
	for _, o := range ev.Held.Results[0].Outputs {
		ev.Meets = ev.Meets || strings.Contains(string(o.Inline), "FOUND")
	}
	b.do(ev)
}

// What matters is run again, and nothing else; a job is not over before that is known.
func TestConfirm(t *testing.T) {
	b := newConfirmBench(t, 3)
	b.deliver(0, nil, b.ran(2, 0, "nothing"))
	if got := b.asked(); len(got) != 1 || got[0] != 0 {
		t.Fatalf("examined: %v", got)
	}
	b.tell(0, "")
	b.deliver(1, nil, b.ran(2, 1, "FOUND"))
	b.deliver(2, nil, b.ran(2, 2, "nothing"))
	if st, _ := b.s.Job(b.id); !st.Final || st.Settled() || st.Checks.Due != 2 || st.Checks.Unchecked != 1 {
		t.Fatalf("%+v", st.Checks)
	}
	b.tell(1, "")
	b.tell(2, "its block is gone")
	if c := b.allChecks(); c.Due != 2 || len(b.audits) != 1 || b.audits[0].Task.Index != 1 || c.Confirm == "" {
		t.Fatalf("%+v, %v", c, b.audits)
	}
	b.answer(b.says("nothing"))
	b.answer(b.says("nothing"))
	if c := b.allChecks(); c.Wrong != 1 {
		t.Errorf("a lie that matters: %+v", c)
	}
	if d := b.log[0]; d.Action != "to be run again" || !strings.Contains(d.Reason, "its block is gone") {
		t.Errorf("%+v", d)
	}
}

// What was not read before a restart is read after it, and what came of its worker meanwhile counts.
func TestConfirmAfterRestart(t *testing.T) {
	b := newConfirmBench(t, 2)
	b.deliver(0, nil, b.ran(2, 0, "nothing"))
	b.deliver(1, nil, b.ran(3, 1, "FOUND"))
	b.restart()
	if got := b.asked(); len(got) != 2 || b.allChecks().Due != 2 {
		t.Fatalf("after a restart %v are examined, %+v", got, b.allChecks())
	}
	_, liar := schedtest.Identity(2)
	b.s.audits.credit(liar).Faults++
	b.tell(0, "")
	b.do(message.Examined{Task: b.task(0)}) // nobody asked any more
	b.tell(1, "")
	if c := b.allChecks(); c.Due != 1 || c.Doubted != 0 || len(b.asked()) != 0 {
		t.Errorf("%+v", c)
	}
	if b.s.jobs[b.id].have.Contains(0) { // others run the task again
		t.Error("a result of a refused worker is kept")
	}
}

func TestExaminedAtOnce(t *testing.T) {
	b := newConfirmBench(t, 3*maxExamined)
	asked := 0
	for i := range uint64(3 * maxExamined) {
		b.deliver(i, nil, b.ran(2, i, "nothing"))
		asked += len(b.asked())
	}
	for i := range uint64(3 * maxExamined) {
		if asked > int(i)+maxExamined {
			t.Fatalf("%d are examined, %d answered", asked, i)
		}
		b.tell(i, "")
		asked += len(b.asked())
	}
	if c := b.allChecks(); asked != 3*maxExamined || c.Unchecked != 3*maxExamined || c.Due != 0 {
		t.Errorf("%d examined, %+v", asked, c)
	}
}
