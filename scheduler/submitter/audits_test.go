package submitter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

const truth = "right" // what every task puts out that is run as it says

// An auditBench is a submitter whose results are brought by workers, and a machine that runs its
// audits.
type auditBench struct {
	*subBench
	id     task.JobID
	audits []message.Audit // not answered
	first  []message.Audit // of what nothing is held, not answered
	log    []message.Decided
}

// newAuditBench has a job of n tasks that says so of verify.
func newAuditBench(tb testing.TB, n uint64, verify string) *auditBench {
	b := &auditBench{subBench: newSubBench(tb).unlimited()}
	v, err := task.ParseVerify(verify)
	if err != nil {
		tb.Fatal(err)
	}
	rec := schedtest.Job(tb, b.key, n, func(j *task.Job) { j.Verify = v })
	b.id = rec.ID()
	b.do(message.Offer{Record: rec})
	return b
}

func (b *auditBench) do(ev message.Event) {
	b.step(ev)
	b.look()
}

// look takes in what the last step had run again.
func (b *auditBench) look() {
	for _, e := range b.last {
		switch e := e.(type) {
		case message.Audit:
			if e.First {
				b.first = append(b.first, e)
			} else {
				b.audits = append(b.audits, e)
			}
		case message.Decided:
			b.log = append(b.log, e)
		}
	}
	waits := 0
	for _, a := range b.audits {
		if !b.givenUp(a) {
			waits++
		}
	}
	if waits > b.s.cfg.Audits {
		b.tb.Fatalf("%d tasks are to run again at once", waits)
	}
}

// givenUp reports whether nobody waits for a part any more that was sought too long.
func (b *auditBench) givenUp(a message.Audit) bool {
	at := b.s.audits.at[a.Task]
	return (a.From != nil || a.Part != nil && a.Part.Seek != nil) && (at == nil || at.narrow == nil)
}

func (b *auditBench) task(i uint64) task.TaskID { return task.TaskID{Job: b.id, Index: i} }

// ran is a result of a worker, by its number.
func (b *auditBench) ran(worker int, i uint64, says string) task.Result {
	key, _ := schedtest.Identity(worker)
	return schedtest.Result(b.tb, key, b.task(i), says)
}

// deliver has the leader bring the end of a task.
func (b *auditBench) deliver(i uint64, attempts []message.AttemptLog, results ...task.Result) {
	failed := results[0].Outcome != task.Completed
	b.do(&message.Received{From: b.self, Message: &message.Message{Progress: &message.Progress{Job: b.id,
		Summary: message.JobSummary{State: message.JobRunning, Total: 1 << 20},
		Tasks:   []message.TaskSummary{{Index: i, Failed: failed, Results: results, Attempts: attempts}}}}})
}

// answer has the machine come to something of the audit at hand.
func (b *auditBench) answer(came func(a message.Audit) task.Result) {
	a := b.audits[0]
	b.audits = b.audits[1:]
	held, err := DecodeSummary(b.disk[ResultKey(a.Task.Job, a.Task.Index)])
	if err != nil {
		b.tb.Fatal(err)
	}
	b.do(message.Audited{Task: a.Task, Interpreted: a.Interpreted, Held: held, Here: came(a)})
}

// says is what this machine comes to.
func (b *auditBench) says(text string) func(message.Audit) task.Result {
	return func(a message.Audit) task.Result { return schedtest.Result(b.tb, b.key, a.Task, text) }
}

// ends is an outcome of this machine.
func (b *auditBench) ends(o task.Outcome) func(message.Audit) task.Result {
	return func(a message.Audit) task.Result {
		r := task.Result{Task: a.Task, Outcome: o}
		if o == task.ExitFailure {
			r.ExitCode = 1
		}
		if err := r.Sign(b.key); err != nil {
			b.tb.Fatal(err)
		}
		return r
	}
}

// checks are the counts of what was, and is to be, run again; allChecks has how the results stand too.
func (b *auditBench) checks() message.Checks {
	c := b.allChecks()
	c.Accepted, c.Final, c.Late, c.Delivered, c.Key, c.Promise = 0, 0, 0, false, "", ""
	return c
}

func (b *auditBench) allChecks() message.Checks {
	st, _ := b.s.Job(b.id)
	if st.Checks == nil {
		b.tb.Fatal("the job says nothing of checks")
	}
	return *st.Checks
}

// held is the end of a task as it is kept.
func (b *auditBench) held(i uint64) message.TaskSummary {
	t, err := DecodeSummary(b.disk[ResultKey(b.id, i)])
	if err != nil {
		b.tb.Fatal(err)
	}
	return t
}

func TestRightResult(t *testing.T) {
	b := newAuditBench(t, 1, "full")
	b.deliver(0, nil, b.ran(2, 0, truth))
	if c := b.checks(); c.Due != 1 || len(b.audits) != 1 || b.audits[0].Interpreted {
		t.Fatalf("%+v, %d run", c, len(b.audits))
	}
	if st, _ := b.s.Job(b.id); !st.Final || !strings.Contains(st.Reason, "1 results are to be checked") ||
		len(b.s.Roots()) == 0 {
		t.Errorf("%+v", st)
	}
	b.answer(b.says(truth))
	if c := b.checks(); c.Due != 0 || c.Right != 1 || len(b.audits) != 0 || b.held(0).Results[0].Worker == b.self {
		t.Errorf("%+v", c)
	}
	if st, _ := b.s.Job(b.id); st.Reason != "" || len(b.s.Roots()) == 0 {
		t.Errorf("%+v", st)
	}
	b.now = b.now.Add(shownFor) // until then others may ask for what was right
	if b.do(message.Wake{}); len(b.s.Roots()) != 0 {
		t.Errorf("%v are kept", b.s.Roots())
	}
}

// A wrong result is replaced by what this node made of the task, once the program came to it
// compiled and interpreted.
func TestWrongResult(t *testing.T) {
	b := newAuditBench(t, 2, "full")
	b.deliver(0, nil, b.ran(2, 0, "wrong"))
	b.answer(b.says(truth))
	if len(b.audits) != 1 || !b.audits[0].Interpreted || b.checks().Wrong != 0 {
		t.Fatalf("%+v, %+v", b.audits, b.checks())
	}
	b.answer(b.says(truth))
	r := b.held(0).Results[0]
	if c := b.checks(); c.Wrong != 1 || c.Due != 0 || r.Worker != b.self || string(r.Outputs[0].Inline) != truth {
		t.Errorf("%+v, %+v is held", c, r)
	}
	d := b.log[len(b.log)-1]
	_, liar := schedtest.Identity(2)
	if d.Action != "found wrong" || d.Peer != liar || d.Reason != "stdout has other bytes here" {
		t.Errorf("%+v", d)
	}
	b.restart()
	if c := b.checks(); c.Wrong != 1 || b.s.audits.credits[d.Peer].Faults != 1 {
		t.Errorf("after a restart %+v, %+v", c, b.s.audits.credits[d.Peer])
	}
}

// wrongOnes has workers bring some results each that are wrong, all of which are run again here: the
// job is settled, so that no leader has it any more who would give them to others.
func wrongOnes(t *testing.T, each uint64, workers ...int) *auditBench {
	t.Helper()
	b := newAuditBench(t, 20, "full")
	for i, worker := range workers {
		for k := range each {
			b.deliver(each*uint64(i)+k, nil, b.ran(worker, each*uint64(i)+k, "wrong"))
		}
	}
	b.s.jobs[b.id].state.Settled = true
	return b
}

// Wrong results are not interpreted each, whoever signed them, once the compiler is seen to do well with the program.
func TestProvenWrongAgain(t *testing.T) {
	const each = enginesAlike + 3
	b := wrongOnes(t, each, 2, 3)
	var interpreted []uint64
	for range 2 * each {
		b.answer(b.says(truth))
		if a := b.audits[0]; a.Interpreted {
			interpreted = append(interpreted, a.Task.Index)
		}
		b.answer(b.says(truth))
	}
	if c := b.checks(); c.Wrong != 2*each || c.Open > 0 {
		t.Errorf("%+v", c)
	}
	if len(interpreted) != enginesAlike {
		t.Errorf("%v were interpreted, want %d", interpreted, enginesAlike)
	}
	for i := range uint64(2 * each) {
		if r := b.held(i).Results[0]; string(r.Outputs[0].Inline) != truth {
			t.Errorf("of task %d %q is held", i, r.Outputs[0].Inline)
		}
	}
}

// A memory fault in the first of the two runs accuses nobody, of whoever the result is.
func TestProvenWrongIsRight(t *testing.T) {
	for _, tt := range []struct {
		second string
		want   message.Checks
	}{{"wrong", message.Checks{Right: 1}}, {"another", message.Checks{Open: 1}}} {
		b := wrongOnes(t, enginesAlike+1, 2)
		for range enginesAlike {
			b.answer(b.says(truth))
			b.answer(b.says(truth))
		}
		b.answer(b.says(truth))
		if b.audits[0].Interpreted {
			t.Fatal("it is interpreted")
		}
		b.answer(b.says(tt.second))
		tt.want.Verify, tt.want.Wrong = "full", enginesAlike
		if b.checks() != tt.want {
			t.Errorf("the second run says %s: %+v, want %+v", tt.second, b.checks(), tt.want)
		}
	}
}

// A machine that is at odds with itself, or cannot run the task, accuses nobody; one that its owner
// takes back tries again, however often.
func TestFaultyMachine(t *testing.T) {
	for name, tt := range map[string]struct {
		came []string // what each run comes to: text, or an outcome in brackets
		want message.Checks
	}{
		"its compiler errs":             {[]string{"x", truth}, message.Checks{Open: 1}},
		"it errs twice":                 {[]string{"x", "y"}, message.Checks{Open: 1}},
		"its compiler errs, theirs not": {[]string{"x", "signed"}, message.Checks{Right: 1}},
		"taken back":                    {[]string{"[i]", "[i]", "[i]", "[i]", "[i]", "signed"}, message.Checks{Right: 1}},
		"taken back between":            {[]string{truth, "[i]", truth}, message.Checks{Wrong: 1}},
		"it fails for a time":           {[]string{"[h]", "[h]", "[h]", "[h]", "signed"}, message.Checks{Right: 1}},
		"it fails":                      {[]string{"[h]", "[h]", "[h]", "[h]", "[h]"}, message.Checks{Open: 1}},
		"it is too slow":                {[]string{"[t]"}, message.Checks{Open: 1}},
		"it has too little memory":      {[]string{"[m]"}, message.Checks{Open: 1}},
	} {
		b := newAuditBench(t, 1, "full")
		b.deliver(0, nil, b.ran(2, 0, "signed"))
		for i, came := range tt.came {
			for n := 0; len(b.audits) == 0; n++ {
				if n == 10 {
					t.Fatalf("%s: run %d does not begin", name, i)
				}
				b.wait()
			}
			outcome := map[string]task.Outcome{"[i]": task.Interrupted, "[h]": task.HostError, "[t]": task.TimedOut,
				"[m]": task.OutOfMemory}[came]
			if outcome != task.OutcomeUnknown {
				b.answer(b.ends(outcome))
				continue
			}
			b.answer(b.says(came))
		}
		tt.want.Verify = "full"
		if c := b.checks(); c != tt.want {
			t.Errorf("%s: %+v, want %+v", name, c, tt.want)
		}
		_, worker := schedtest.Identity(2)
		if c := b.s.audits.credits[worker]; tt.want.Wrong == 0 && c != nil && c.Faults > 0 {
			t.Errorf("%s: the worker is blamed", name)
		}
	}
}

// wait lets time pass until the submitter does something.
func (b *auditBench) wait() {
	at, ok := b.s.NextWake()
	if !ok {
		b.tb.Fatal("it waits for ever")
	}
	b.now = at
	b.do(message.Wake{})
}

// Failures are checked as results are: a task that is said to fail, and does not, is done.
func TestFailureThatIsNone(t *testing.T) {
	b := newAuditBench(t, 3, "full")
	fail := func(worker int, i uint64) task.Result {
		key, _ := schedtest.Identity(worker)
		r := task.Result{Task: b.task(i), Outcome: task.ExitFailure, ExitCode: 1}
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		return r
	}
	b.deliver(0, nil, fail(2, 0))
	b.answer(b.says(truth))
	b.answer(b.says(truth))
	if st, _ := b.s.Job(b.id); b.held(0).Failed || st.Tasks.Failed != 0 || b.checks().Wrong != 1 {
		t.Errorf("%+v, %+v", st.Tasks, b.checks())
	}
	b.deliver(1, nil, fail(4, 1))
	b.answer(b.ends(task.ExitFailure))
	b.deliver(2, nil, b.ran(3, 2, truth)) // does fail
	b.answer(b.ends(task.ExitFailure))
	b.answer(b.ends(task.ExitFailure))
	if st, _ := b.s.Job(b.id); !b.held(2).Failed || st.Tasks.Failed != 2 || st.Tasks.Done != 1 || b.checks().Right != 1 {
		t.Errorf("%+v, %+v", st.Tasks, b.checks())
	}
}

// Who was wrong once is believed nothing any more: of what its owner has already, all that was not
// run again is, the newest first, and so is all that comes.
func TestDoubt(t *testing.T) {
	b := newAuditBench(t, 400, "4%")
	settle := func() {
		b.s.jobs[b.id].state.Settled = true
	}
	settle()
	says := func(i uint64) string { return map[uint64]string{0: "wrong", 1: truth}[i%2] }
	next := uint64(0)
	for ; b.checks().Wrong == 0; next++ {
		b.deliver(next, nil, b.ran(2+int(next%2), next, says(next))) // every second is of the liar
		for len(b.audits) > 0 && b.checks().Wrong == 0 {
			b.answer(b.says(truth))
		}
	}
	c := b.checks()
	if c.Doubted < 5 || c.Due != c.Doubted || c.Wrong != 1 || c.Right > 10 {
		t.Fatalf("after %d tasks %+v", next, c)
	}
	b.audits = nil
	if b.restart(); b.checks() != c {
		t.Errorf("after a restart %+v, before it %+v", b.checks(), c)
	}
	settle()
	b.look()
	last := next
	for n := c.Doubted; n > 0; n-- {
		if i := b.audits[0].Task.Index; i >= last || i%2 != 0 {
			t.Errorf("task %d runs again, after %d", i, last)
		} else {
			last = i
		}
		b.answer(b.says(truth))
		b.answer(b.says(truth))
	}
	if end := b.checks(); end.Due != 0 || end.Wrong != 1+c.Doubted || end.Right != c.Right {
		t.Errorf("%+v", end)
	}
	b.deliver(next, nil, b.ran(2, next, truth))
	if end := b.checks(); end.Due != 0 || b.s.jobs[b.id].have.Contains(next) {
		t.Errorf("a new result of a worker with a proven fault counts: %+v", end)
	}
}

// However a job is checked, its machine and its workers behave, and wherever the node is killed: no
// honest worker is named, what was run again is right, every liar that was met in an audit is
// named, and in the end nothing waits.
func TestAuditsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const tasks, workers = 40, 6
		verify := rapid.SampledFrom([]string{"full", "1e-3", "0.05", "10%", "50%"}).Draw(rt, "verify")
		b := newAuditBench(t, tasks, verify)
		b.s.cfg.Audits = rapid.IntRange(1, 4).Draw(rt, "at once")
		liars := map[int]bool{}
		for w := 2; w < 2+workers; w++ {
			liars[w] = rapid.IntRange(0, 3).Draw(rt, fmt.Sprintf("worker %d", w)) == 0
		}
		lied := map[uint64]bool{}
		turn := func() {
			if len(b.audits) == 0 {
				return
			}
			switch rapid.IntRange(0, 9).Draw(rt, "machine") {
			case 0:
				b.mix(rt)
				b.answer(b.ends(task.Interrupted))
			case 1:
				b.audits = nil
				b.restart()
				b.look()
			default:
				b.mix(rt)
				b.answer(b.says(truth))
			}
		}
		deliver := func(i uint64, w int) {
			says := truth
			if lied[i] = liars[w] && rapid.IntRange(0, 2).Draw(rt, "lies") == 0; lied[i] {
				says = "wrong"
			}
			b.deliver(i, nil, b.ran(w, i, says))
		}
		for _, i := range rapid.Permutation(indices(tasks)).Draw(rt, "order") {
			deliver(i, rapid.IntRange(2, 1+workers).Draw(rt, "by"))
			for range rapid.IntRange(0, 2).Draw(rt, "turns") {
				turn()
			}
		}
		for n := 0; b.checks().Due > 0 || len(b.lacks()) > 0; n++ {
			if n == 10_000 {
				rt.Fatalf("%+v after %d turns", b.checks(), n)
			}
			for _, i := range b.lacks() { // given back: a worker that is not refused runs it
				w := rapid.IntRange(2, 1+workers).Draw(rt, "by")
				if _, p := schedtest.Identity(w); b.s.audits.known(p).Faults > 0 {
					w = 2 + workers // who is honest
				}
				deliver(i, w)
			}
			if len(b.audits) == 0 && b.checks().Due > 0 {
				b.wait()
			}
			turn()
		}
		b.isRight(rt, liars, lied, verify == "full")
	})
}

// lacks lists the tasks of which no result is held.
func (b *auditBench) lacks() (out []uint64) {
	j := b.s.jobs[b.id]
	for i := range j.total {
		if !j.have.Contains(i) {
			out = append(out, i)
		}
	}
	return out
}

// mix has any of the tasks that run again be answered next.
func (b *auditBench) mix(rt *rapid.T) {
	i := rapid.IntRange(0, len(b.audits)-1).Draw(rt, "answered")
	b.audits[0], b.audits[i] = b.audits[i], b.audits[0]
}

// What a worker made that is wrong elsewhere is given back to others, at most so often, while its
// owner does not have it: all but what failed. It counts as never held.
func TestGivenBack(t *testing.T) {
	b := newAuditBench(t, 40, "0.05")
	b.s.cfg.Pool.Least = 0
	fail := b.ran(3, 0, truth)
	fail.Outcome = task.Trapped
	key, liar := schedtest.Identity(3)
	if err := fail.Sign(key); err != nil {
		t.Fatal(err)
	}
	b.deliver(0, nil, fail)
	for i := uint64(1); i < 40; i++ {
		b.deliver(i, nil, b.ran(2+int(i%2), i, map[uint64]string{0: truth, 1: "wrong"}[i%2]))
	}
	if st, _ := b.s.Job(b.id); !st.Final || st.Held != 40 {
		t.Fatalf("%+v", st)
	}
	for n := 0; b.checks().Wrong == 0; n++ {
		if len(b.audits) == 0 {
			t.Skip("no wrong result was drawn")
		}
		b.answer(b.says(truth))
	}
	wrong := uint64(1) // but for the first, which failed
	if b.standings(0)[0] == message.StandingReplaced {
		wrong = 0
	}
	st, _ := b.s.Job(b.id)
	if lacks := uint64(len(b.lacks())); st.Final || lacks+wrong != 20 || st.Held != 40-lacks ||
		st.Tasks.Done+st.Tasks.Failed != st.Held {
		t.Fatalf("lacking %v, wrong %d, %+v", b.lacks(), wrong, st)
	}
	for _, i := range b.lacks() {
		if b.disk[ResultKey(b.id, i)] != nil || b.disk[checkKey(b.task(i))] != nil || b.standings(i)[0] != "" {
			t.Errorf("something is left of task %d", i)
		}
	}
	before := b.lacks()
	if b.restart(); !slices.Equal(b.lacks(), before) {
		t.Errorf("after a restart %v, before it %v", b.lacks(), before)
	}
	i := b.lacks()[0]
	for n := 0; n < maxGivenBack; n++ {
		if b.deliver(i, nil, b.ran(3, i, "wrong")); b.s.jobs[b.id].have.Contains(i) {
			t.Fatalf("after %d times a result of %s is held", n, liar)
		}
	}
	if b.deliver(i, nil, b.ran(3, i, "wrong")); b.s.jobs[b.id].have.Contains(i) {
		t.Errorf("a result of %s is held, however often it is delivered", liar)
	}
}

// Who made a result wrong is to have no more tasks, of any job, whoever leads then.
func TestLiarsAreRefused(t *testing.T) {
	b := newAuditBench(t, 2, "full")
	refused := func() (got, offered []task.PeerID) {
		for _, e := range b.last {
			if s, ok := e.(message.Send); ok && s.Message.Got != nil {
				got = s.Message.Got.Refused
			} else if ok && s.Message.Submit != nil {
				offered = s.Message.Submit.Refused
			}
		}
		return got, offered
	}
	right, wrong := b.ran(2, 0, truth), b.ran(3, 1, "wrong")
	b.deliver(0, nil, right)
	b.answer(b.says(truth))
	if b.deliver(1, nil, wrong); len(b.audits) != 1 {
		t.Fatalf("%d tasks run again", len(b.audits))
	}
	if got, _ := refused(); len(got) > 0 {
		t.Errorf("refused before anything is wrong: %v", got)
	}
	b.answer(b.says(truth))
	other := schedtest.Job(t, b.key, 1, func(j *task.Job) { j.Name = "another" })
	b.do(message.Offer{Record: other})
	b.answer(b.says(truth))
	want := []task.PeerID{wrong.Worker}
	if got, _ := refused(); !slices.Equal(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
	b.restart()
	if _, offered := refused(); !slices.Equal(offered, want) {
		t.Errorf("a new leader is told of %v, want %v", offered, want)
	}
}

func indices(n uint64) (out []uint64) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// isRight checks what the property promises.
func (b *auditBench) isRight(rt *rapid.T, liars map[int]bool, lied map[uint64]bool, full bool) {
	named := map[task.PeerID]bool{}
	for p, c := range b.s.audits.credits {
		named[p] = c.Faults > 0
	}
	for w, lies := range liars {
		if _, p := schedtest.Identity(w); named[p] && !lies {
			rt.Errorf("an honest worker is named")
		}
	}
	c := b.s.jobs[b.id].checks
	for i := range uint64(b.s.jobs[b.id].total) {
		r := b.held(i).Results[0]
		says := string(r.Outputs[0].Inline)
		switch {
		case c.known(i) && says != truth, full && says != truth:
			rt.Errorf("task %d was run again, and is %q", i, says)
		case says != truth && named[r.Worker]:
			rt.Errorf("task %d of a worker that was named is %q", i, says)
		case c.wrong.Contains(i) != (lied[i] && says == truth):
			rt.Errorf("task %d: lied %v, is %q, found wrong %v", i, lied[i], says, c.wrong.Contains(i))
		}
	}
	if st, _ := b.s.Job(b.id); !st.Final || st.Tasks.Done != b.s.jobs[b.id].total {
		rt.Errorf("%+v", st)
	}
}
