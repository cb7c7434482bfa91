package submitter

import (
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// Who is proven wrong elsewhere is refused here: what it made is in doubt, leaders hear of it once, and
// it stays so.
func TestProven(t *testing.T) {
	b := newAuditBench(t, 40, "0.0001%")
	b.s.cfg.Pool.Least = 0
	_, liar := schedtest.Identity(2)
	for i := range uint64(4) {
		b.deliver(i, nil, b.ran(2+int(i%2), i, truth))
	}
	proven := message.Proven{Task: task.TaskID{Job: "elsewhere"}, Worker: liar, Why: "stdout has other bytes"}
	b.do(proven)
	if got := b.gots(b.id); len(got) == 0 || len(got[0].Refused) != 1 || got[0].Refused[0] != liar {
		t.Errorf("leaders hear %+v", got)
	}
	if c := b.allChecks(); c.Unchecked != 2 || b.s.jobs[b.id].have.Count() != 2 || !b.s.Refuses(liar) {
		t.Errorf("%+v, %d held", c, b.s.jobs[b.id].have.Count()) // others run its two tasks again
	}
	b.do(proven)
	b.do(message.Proven{Worker: b.self})
	b.restart()
	if !b.s.Refuses(liar) || b.s.Refuses(b.self) || b.s.audits.credits[liar].Faults != 1 {
		t.Errorf("%+v", b.s.audits.credits[liar])
	}
}

// What was found wrong is shown with its program and its inputs, which are kept for that; of sealed
// jobs to those alone who have the key.
func TestFoundWrong(t *testing.T) {
	b := newAuditBench(t, 3, "full")
	for i := range uint64(3) {
		b.deliver(i, nil, b.ran(2+int(i), i, map[bool]string{true: "wrong", false: truth}[i > 0]))
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
	}
	if got := b.s.FoundWrong(9, false); len(got) != 2 || got[0] != b.task(2) || got[1] != b.task(1) {
		t.Errorf("shown is %v", got)
	}
	if got := b.s.FoundWrong(1, false); len(got) != 1 {
		t.Errorf("of one %v", got)
	}
	if st, _ := b.s.Job(b.id); !st.Settled() || len(b.s.Roots()) == 0 {
		t.Errorf("%+v, %v are kept", st, b.s.Roots())
	}
	b.s.jobs[b.id].spec.Sealed = make([]byte, task.KeySize)
	if len(b.s.FoundWrong(9, false)) > 0 || len(b.s.FoundWrong(9, true)) != 2 || len(b.s.Roots()) == 0 {
		t.Error("a sealed job is shown to those without its key, or not to those with it")
	}
}
