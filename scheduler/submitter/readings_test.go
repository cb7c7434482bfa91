package submitter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A stagedBench is an auditBench of a job of two stages: two tasks, and one that reads both; and a driver that tells
// what a task reads, by what is held.
type stagedBench struct {
	*auditBench
	spec     *task.Job
	compares []task.TaskID // not answered
}

func newStagedBench(tb testing.TB, verify string) *stagedBench {
	b := &stagedBench{auditBench: &auditBench{subBench: newSubBench(tb).unlimited()}}
	v, err := task.ParseVerify(verify)
	if err != nil {
		tb.Fatal(err)
	}
	rec := schedtest.Job(tb, b.key, 1, func(j *task.Job) {
		reads := []task.Need{{Stage: 0, Kind: task.NeedAfter, Reads: []string{task.Stdout}}}
		j.Stages = []task.Stage{
			{Name: "each", Module: j.Module, Outputs: j.Outputs, Sweep: task.Sweep{Repeat: 2}},
			{Name: "all", Module: j.Module, Outputs: j.Outputs, Needs: reads}}
		j.Outputs, j.Sweep, j.Verify, j.Retries = nil, task.Sweep{}, v, 0
	})
	b.id = rec.ID()
	b.step(message.Offer{Record: rec})
	b.spec = b.s.Spec(b.id)
	return b
}

// act is do, and notes what is to be compared.
func (b *stagedBench) act(ev message.Event) {
	b.do(ev)
	b.note()
}

func (b *stagedBench) note() {
	for _, e := range b.last {
		if e, ok := e.(message.Compare); ok {
			b.compares = append(b.compares, e.Task)
		}
	}
}

// name is of what a task reads, of results that say so.
func (b *stagedBench) name(says ...string) []byte {
	r := &message.Reads{}
	for u, text := range says {
		out := schedtest.Result(b.tb, b.key, b.task(uint64(u)), text).Outputs
		for n := range b.spec.Needed(2) {
			r.Files = append(r.Files, b.spec.FilesOf(n, uint64(u), out)...)
		}
	}
	return r.Name()
}

// reading is what a worker comes to of the task that reads, and says that it read that.
func (b *stagedBench) reading(worker int, says string, name []byte) task.Result {
	key, _ := schedtest.Identity(worker)
	r := schedtest.Result(b.tb, key, b.task(2), says)
	r.Reads = name
	if err := r.Sign(key); err != nil {
		b.tb.Fatal(err)
	}
	return r
}

// brings has the leader bring the end of a task.
func (b *stagedBench) brings(r task.Result) {
	b.act(&message.Received{From: b.self, Message: &message.Message{Progress: &message.Progress{Job: b.id,
		Summary: message.JobSummary{State: message.JobRunning, Total: 3},
		Tasks: []message.TaskSummary{{Index: r.Task.Index, Failed: r.Outcome != task.Completed,
			Results: []task.Result{r}}}}}})
}

// compared answers all that is to be compared.
func (b *stagedBench) compared() (n int) {
	for ; len(b.compares) > 0; n++ {
		id := b.compares[0]
		b.compares = b.compares[1:]
		b.act(message.Compared{Task: id, Held: b.held(id.Index), Name: b.nameHeld()})
	}
	return n
}

func (b *stagedBench) nameHeld() []byte {
	r := &message.Reads{}
	for u := range uint64(2) {
		for n := range b.spec.Needed(2) {
			r.Files = append(r.Files, b.spec.FilesOf(n, u, b.held(u).Results[0].Outputs)...)
		}
	}
	return r.Name()
}

// runs answers the audits at hand: the tasks come to "0", "1" and "2 of" what is held of the two.
func (b *stagedBench) runs() {
	for len(b.audits) > 0 {
		a := b.audits[0]
		b.audits = b.audits[1:]
		here := schedtest.Result(b.tb, b.key, a.Task, fmt.Sprint(a.Task.Index))
		if a.Task.Index == 2 {
			here = b.reading(1, b.sum(), b.nameHeld())
		}
		b.act(message.Audited{Task: a.Task, Interpreted: a.Interpreted, Held: b.held(a.Task.Index), Here: here})
	}
}

// sum is what the last task comes to, of what is held.
func (b *stagedBench) sum() string {
	out := "2 of"
	for u := range uint64(2) {
		out += " " + string(b.held(u).Results[0].Outputs[0].Inline)
	}
	return out
}

func (b *stagedBench) named() (out []string) {
	for _, d := range b.log {
		if d.Action == "found wrong" && d.Peer != "" {
			out = append(out, fmt.Sprint(d.Task.Index))
		}
	}
	return out
}

// Nobody else can run tasks of a job with stages again. While this machine lends no core their results wait for the owner,
// who is told why, and they are checked once it lends one.
func TestStagesWaitForALentCore(t *testing.T) {
	b := newStagedBench(t, "full")
	b.act(message.OwnerState{Slots: 1})
	b.act(message.OwnerState{})
	b.brings(b.ran(2, 0, "0"))
	b.brings(b.ran(3, 1, "1"))
	b.brings(b.reading(4, "2 of 0 1", b.name("0", "1")))
	b.compared()
	if st, _ := b.s.Job(b.id); !st.Final || st.Settled() {
		t.Fatalf("before others would be asked: %+v", st.Checks)
	}
	b.now = b.now.Add(askAfter)
	b.act(message.Wake{})
	st, _ := b.s.Job(b.id)
	if !st.Settled() || st.Checks.Waits != 3 || !st.Checks.NoCore || !strings.Contains(st.Reason, "stages") {
		t.Fatalf("%q, %+v", st.Reason, st.Checks)
	}
	b.act(message.OwnerState{Slots: 1})
	for range 3 {
		b.runs()
		b.compared()
	}
	if st, _ := b.s.Job(b.id); !st.Settled() || st.Checks.Waits > 0 || st.Checks.NoCore || !st.Checks.Delivered {
		t.Errorf("with a core: %+v", st.Checks)
	}
}

// What a result was made of is another, since that was wrong: it is given back, and what is made anew counts. Nobody is
// named but who was wrong.
func TestMadeOfWrong(t *testing.T) {
	b := newStagedBench(t, "full")
	b.brings(b.ran(2, 0, "0"))
	b.brings(b.ran(3, 1, "lie"))
	b.brings(b.reading(4, "2 of 0 lie", b.name("0", "lie")))
	if n := b.compared(); n != 1 {
		t.Fatalf("%d results were looked at", n)
	}
	b.runs() // task 1 was wrong
	if st := b.standings(0, 1, 2); st[1] != message.StandingReplaced || st[2] != message.StandingHeld {
		t.Fatalf("they stand as %v", st)
	}
	if n := b.compared(); n != 1 {
		t.Fatalf("%d results were looked at again", n)
	}
	if have := b.s.Held(b.id); have.Contains(2) {
		t.Fatalf("what was made of a wrong result is held: %v", have)
	}
	if own := b.s.jobs[b.id].own(); !slices.Equal(own, ledger.Set{{From: 1, To: 2}}) {
		t.Errorf("the leader hears that %v are this node's", own)
	}
	b.brings(b.reading(4, "2 of 0 1", b.name("0", "1")))
	b.compared()
	b.runs()
	st, _ := b.s.Job(b.id)
	if !st.Final || !st.Checks.Delivered || st.Checks.Wrong != 1 || st.Checks.Right != 2 {
		t.Errorf("it stands so: %+v %+v", st, st.Checks)
	}
	if got := b.named(); !slices.Equal(got, []string{"1"}) {
		t.Errorf("named are who made %v", got)
	}
}

// A wrong result that is right in what others read of it takes nothing with it.
func TestSameFilesStay(t *testing.T) {
	b := newStagedBench(t, "full")
	wrong := b.ran(3, 1, "1")
	key, _ := schedtest.Identity(3)
	if wrong.Trail = (&task.Trail{Pass: 1, Fuel: 7, Last: make([]byte, 32)}); wrong.Sign(key) != nil {
		t.Fatal("not signed")
	}
	b.brings(b.ran(2, 0, "0"))
	b.brings(wrong)
	b.brings(b.reading(4, "2 of 0 1", b.name("0", "1")))
	b.compared()
	for len(b.audits) > 0 {
		a := b.audits[0]
		if a.Task.Index != 1 {
			break
		}
		b.audits = b.audits[1:]
		here := schedtest.Result(t, b.key, a.Task, "1")
		if here.Trail = (&task.Trail{Pass: 1, Fuel: 8, Last: make([]byte, 32)}); here.Sign(b.key) != nil {
			t.Fatal("not signed")
		}
		b.act(message.Audited{Task: a.Task, Interpreted: a.Interpreted, Held: b.held(1), Here: here})
	}
	b.runs()
	b.compared()
	b.runs()
	if have := b.s.Held(b.id); have.Count() != 3 {
		t.Errorf("held are %v", have)
	}
}

// A result that was made of what nobody made, or less, is given back a few times; then this node runs the task. Nobody
// is named.
func TestMisread(t *testing.T) {
	for name, reads := range map[string]func(b *stagedBench) []byte{
		"something that nobody made": func(b *stagedBench) []byte { return b.name("0", "never") },
		"less":                       func(b *stagedBench) []byte { return b.name("0") },
		"it does not say":            func(*stagedBench) []byte { return nil },
	} {
		b := newStagedBench(t, "full")
		b.brings(b.ran(2, 0, "0"))
		b.brings(b.ran(3, 1, "1"))
		b.runs()
		for range maxGivenBack {
			b.brings(b.reading(4, "2 of it", reads(b)))
			if b.compared(); b.s.Held(b.id).Contains(2) {
				t.Fatalf("%s: it is held", name)
			}
		}
		b.brings(b.reading(4, "2 of it", reads(b)))
		b.compared()
		b.runs()
		end := b.held(2)
		if got := string(end.Results[0].Outputs[0].Inline); got != "2 of 0 1" || end.Refuted == nil || end.Refuted.By != "" {
			t.Errorf("%s: %q is held, refuted %+v", name, got, end.Refuted)
		}
		if st, _ := b.s.Job(b.id); len(b.named()) > 0 || !st.Checks.Delivered {
			t.Errorf("%s: named are %v; it stands so: %+v", name, b.named(), st.Checks)
		}
	}
}

// A worker that reads other bytes than it signs is wrong on what it signed, and is named.
func TestReadsOtherThanSigned(t *testing.T) {
	b := newStagedBench(t, "full")
	b.brings(b.ran(2, 0, "0"))
	b.brings(b.ran(3, 1, "1"))
	b.brings(b.reading(4, "2 of other", b.name("0", "1")))
	b.compared()
	b.runs()
	if got := b.named(); !slices.Equal(got, []string{"2"}) || !strings.HasPrefix(b.sum(), "2 of 0 1") {
		t.Errorf("named are who made %v", got)
	}
}

// What waits to be compared is compared after a restart, and what is accepted stands no better than what it was made
// of.
func TestComparedAfterRestart(t *testing.T) {
	b := newStagedBench(t, "1%")
	b.brings(b.ran(2, 0, "0"))
	b.brings(b.ran(3, 1, "1"))
	b.brings(b.reading(4, "2 of 0 1", b.name("0", "1")))
	b.compares = nil
	b.restart()
	b.note()
	b.compared()
	st := b.standings(0, 1, 2)
	if st[2] != worse(worse(st[2], st[0]), st[1]) || st[2] == message.StandingFinal {
		t.Errorf("they stand as %v", st)
	}
	if c := b.allChecks(); b.s.jobs[b.id].checks.unmatched.Count() > 0 {
		t.Errorf("it waits to be compared: %+v", c)
	}
}
