package submitter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/credibility"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
	"pgregory.net/rapid"
)

// A leaderBench is an audit bench with a leader that brings what its workers come to.
type leaderBench struct {
	*auditBench
	delivery uint64
	have     ledger.Set
	again    map[uint64]message.Again
}

func newLeaderBench(tb testing.TB, n uint64, verify string, lends bool) *leaderBench {
	b := &leaderBench{auditBench: newAuditBench(tb, n, verify), again: map[uint64]message.Again{}}
	b.hear()
	if !lends {
		b.reborn(false)
	}
	return b
}

// newInvitedBench is a leader bench whose machine lends nothing, in a pool in which each member was let in: there, two
// workers that agree suffice.
func newInvitedBench(tb testing.TB, n uint64, verify string) *leaderBench {
	b := newLeaderBench(tb, n, verify, false)
	b.s.Assume(credibility.InvitedPool, credibility.Strangers{})
	return b
}

func (b *leaderBench) act(ev message.Event) { b.do(ev); b.hear() }

// hear takes in what the last step told the leader, what is held only grows within a delivery, and
// reads what it has the driver read.
func (b *leaderBench) hear() {
	last := b.last
	b.hearLeader()
	for _, e := range last {
		if e, ok := e.(message.Examine); ok {
			b.act(message.Examined{Task: e.Task, Held: b.held(e.Task.Index)})
		}
	}
}

func (b *leaderBench) hearLeader() {
	for _, e := range b.last {
		s, ok := e.(message.Send)
		if !ok {
			continue
		}
		var have ledger.Set
		var delivery uint64
		var again []message.Again
		switch m := s.Message; {
		case m.Submit != nil && m.Submit.Record.ID() != b.id, m.Got != nil && m.Got.Job != b.id:
			continue
		case m.Submit != nil:
			have, delivery, again = m.Submit.Have, m.Submit.Delivery, m.Submit.Again
			clear(b.again)
		case m.Got != nil:
			have, delivery, again = m.Got.Have, m.Got.Delivery, m.Got.Again
		default:
			continue
		}
		if delivery < b.delivery || delivery == b.delivery && len(b.have.Minus(have)) > 0 {
			b.tb.Fatalf("delivery %d has %v, %d had %v", delivery, have, b.delivery, b.have)
		}
		b.have, b.delivery = slices.Clone(have), delivery
		for _, a := range again {
			if b.have.Contains(a.Index) || len(a.Not) == 0 || len(a.Not) > message.MaxBarred {
				b.tb.Fatalf("%+v, of which %v is held", a, b.have)
			}
			b.again[a.Index] = a
		}
	}
}

// lacking lists what the leader is to bring.
func (b *leaderBench) lacking() (out []uint64) {
	for i := range b.s.jobs[b.id].total {
		if !b.have.Contains(i) {
			out = append(out, i)
		}
	}
	return out
}

// ran is a worker's result with a receipt.
func (b *leaderBench) ran(worker int, i uint64, says string) task.Result {
	key, _ := schedtest.Identity(worker)
	r := schedtest.Result(b.tb, key, b.task(i), says)
	r.Wall, r.CPU, r.Receipt = time.Second, time.Second, &task.Receipt{Epoch: 1, Seq: i}
	if err := r.Sign(key); err != nil {
		b.tb.Fatal(err)
	}
	return r
}

func (b *leaderBench) bring(worker int, i uint64, says string) {
	b.deliver(i, nil, b.ran(worker, i, says))
	b.hear()
}

// barred reports whether a worker is not to have a task.
func (b *leaderBench) barred(worker int, i uint64) bool {
	_, id := schedtest.Identity(worker)
	return slices.Contains(b.again[i].Not, id)
}

// answer is auditBench.answer with what others came to.
func (b *leaderBench) answer(came func(a message.Audit) task.Result) {
	a := b.audits[0]
	b.audits = b.audits[1:]
	held, err := DecodeSummary(b.disk[ResultKey(a.Task.Job, a.Task.Index)])
	if err != nil {
		b.tb.Fatal(err)
	}
	ev := message.Audited{Task: a.Task, Interpreted: a.Interpreted, StopAt: a.StopAt, Held: held, Here: came(a)}
	for _, key := range OtherKeys(a.Task) {
		if value := b.disk[key]; value != nil {
			r, err := DecodeOther(value)
			if err != nil {
				b.tb.Fatal(err)
			}
			ev.Others = append(ev.Others, r)
		}
	}
	b.act(ev)
}

func (b *leaderBench) wait() { b.auditBench.wait(); b.hear() }

// reborn starts the node anew.
func (b *leaderBench) reborn(lends bool) {
	b.audits, b.lends = nil, lends
	b.restart()
	b.look()
	b.hear()
}

// rest lets time pass until something happens. Where it waits for a core alone, it gets one.
func (b *leaderBench) rest(lends *bool) {
	switch _, ok := b.s.NextWake(); {
	case ok:
		b.wait()
	case !*lends:
		*lends = true
		b.act(message.OwnerState{Slots: 1})
	case len(b.audits)+len(b.lacking()) == 0:
		b.tb.Fatal("it waits for ever")
	}
}

func (b *leaderBench) faults(worker int) int {
	_, id := schedtest.Identity(worker)
	return b.s.audits.known(id).Faults
}

// A machine that lends nothing has all of a job run again by others, and the job is delivered.
func TestOthersRunAgain(t *testing.T) {
	b := newInvitedBench(t, 3, "full")
	for i := range uint64(3) {
		b.bring(2, i, truth)
	}
	if st, _ := b.s.Job(b.id); st.Final || len(b.audits) > 0 || st.Held != 3 {
		t.Fatalf("%+v, %d run here", st, len(b.audits))
	}
	for n := 0; len(b.again) < 3; n++ {
		if n == 10 {
			t.Fatalf("asked for %v", b.again)
		}
		b.wait()
	}
	if !b.barred(2, 0) || !b.barred(1, 0) || b.barred(3, 0) {
		t.Errorf("%+v", b.again[0])
	}
	if b.bring(2, 0, truth); b.checks().Due != 3 {
		t.Error("the same worker's word counts")
	}
	b.reborn(false)
	for i := range uint64(3) {
		b.bring(3, i, truth)
	}
	st, _ := b.s.Job(b.id)
	if c := b.allChecks(); !st.Final || c.Due != 0 || c.Accepted != 3 || !c.Delivered || len(b.audits) > 0 {
		t.Errorf("%+v, %+v", st, c)
	}
	if got := b.standings(0)[0]; got != message.StandingAccepted {
		t.Errorf("the standing is %q", got)
	}
	b.act(message.ForgetJob{Job: b.id})
	b.pass(rememberForgotten + time.Hour)
	for key := range b.disk {
		if strings.HasPrefix(key, submitterOthers) {
			t.Errorf("%s is left", key)
		}
	}
}

// Nobody answers: the machine runs the tasks itself in the end.
func TestNobodyAnswers(t *testing.T) {
	b := newLeaderBench(t, 1, "full", false)
	b.bring(2, 0, truth)
	for n := 0; !b.s.jobs[b.id].checks.stays.Contains(0); n++ {
		if n == 10_000 || b.now.Sub(schedtest.Start) > time.Hour {
			t.Fatal("it waits for ever")
		}
		b.wait()
	}
	b.act(message.OwnerState{Slots: 1})
	for len(b.audits) == 0 {
		b.wait()
	}
	b.answer(b.says(truth))
	if c := b.allChecks(); c.Right != 1 || !c.Delivered {
		t.Errorf("%+v", c)
	}
}

// What most came to takes the place of a result that is something else, and nobody is named; it needs
// no other run.
func TestOutvoted(t *testing.T) {
	b := newInvitedBench(t, 1, "full")
	b.bring(2, 0, "wrong")
	for len(b.again) == 0 {
		b.wait()
	}
	for w := 3; len(b.lacks()) == 0; w++ {
		if w > 3+mostOpposed {
			t.Fatalf("%+v", b.allChecks())
		}
		b.bring(w, 0, truth)
	}
	b.bring(3, 0, truth)
	if c := b.allChecks(); c.Agreed != 1 || !c.Delivered || b.faults(2) > 0 {
		t.Errorf("%+v, %d faults", c, b.faults(2))
	}
}

// Who names auditors has his results checked by these alone beside his own machine, and their word
// is his own.
func TestNamedAuditors(t *testing.T) {
	b := newLeaderBench(t, 1, "full", false)
	_, mine := schedtest.Identity(5)
	b.s.jobs[b.id].spec.Verify.Auditors = []task.PeerID{mine}
	b.bring(2, 0, "wrong")
	for len(b.again) == 0 {
		b.wait()
	}
	if a := b.again[0]; !slices.Equal(a.Only, []task.PeerID{mine}) {
		t.Errorf("%+v", a)
	}
	if b.bring(3, 0, "wrong"); b.allChecks().Accepted != 0 {
		t.Error("another's word counts")
	}
	if b.bring(5, 0, truth); !slices.Equal(b.lacks(), []uint64{0}) || b.faults(2) > 0 {
		t.Fatalf("what the auditor of the owner denies is held: %+v", b.allChecks())
	}
	b.bring(4, 0, truth)
	if c := b.allChecks(); c.Agreed != 1 || !c.Delivered {
		t.Errorf("%+v", c)
	}
}

// A worker of whom little is known gets some tasks whose results are known here, one in ten and ten
// at most: where it lies there it is found, and it is believed for those that are right.
func TestNewcomers(t *testing.T) {
	for _, lies := range []bool{false, true} {
		const tasks = 400
		b := newLeaderBench(t, tasks, "5%", true)
		b.s.cfg.Pool.Least = 0
		probed := 0
		for i := uint64(0); i < tasks-1 && b.faults(3) == 0; i++ {
			b.bring(2+int(i%2), i, truth)
			b.wait()
			for _, k := range b.lacking() {
				a := b.again[k]
				if k > i || len(a.Only) != 1 {
					continue
				}
				w := 2
				if _, id := schedtest.Identity(3); a.Only[0] == id {
					w = 3
				}
				if b.barred(w, k) {
					t.Fatalf("a worker is to run again what it ran: %+v", a)
				}
				probed++
				b.bring(w, k, map[bool]string{true: "wrong", false: truth}[lies && w == 3])
			}
			for len(b.audits) > 0 {
				b.answer(b.says(truth))
			}
		}
		_, id := schedtest.Identity(3)
		switch n := b.s.audits.fresh.probes[id]; {
		case n == 0 || n > mostProbes || n*probeShare > b.s.audits.fresh.seen[id]:
			t.Errorf("lies %v: %d of %d leases of a newcomer check it", lies, n, b.s.audits.fresh.seen[id])
		case lies != (b.faults(3) > 0), b.faults(2) > 0:
			t.Errorf("lies %v: %d faults after %d probes", lies, b.faults(3), probed)
		}
		b.bring(2, tasks-1, truth)
		if st, _ := b.s.Job(b.id); !lies && !st.Final {
			t.Errorf("the job waits for a newcomer: %+v", st)
		}
	}
}

// Who agrees with a wrong result is found wrong with its signer, by the share of what others ran
// again that this machine does itself; then all that either had a say in is run again.
func TestAuditorsAgreeWithLiars(t *testing.T) {
	const tasks = 40
	b := newInvitedBench(t, tasks, "full")
	for i := range uint64(tasks) {
		b.bring(2, i, "wrong")
	}
	for n := 0; len(b.again) < tasks; n++ {
		b.wait()
	}
	for i := range uint64(tasks) {
		b.bring(3, i, "wrong")
	}
	if c := b.allChecks(); c.Accepted != tasks || !c.Delivered {
		t.Fatalf("%+v", c)
	}
	b.act(message.OwnerState{Slots: 1})
	for n := 0; b.checks().Wrong < tasks; n++ {
		if n > 10*tasks || len(b.audits) == 0 {
			t.Fatalf("%+v, faults %d and %d", b.checks(), b.faults(2), b.faults(3))
		}
		b.answer(b.says(truth))
	}
	if b.faults(2) != tasks || b.faults(3) < 1 {
		t.Errorf("faults %d and %d", b.faults(2), b.faults(3))
	}
	if c := b.allChecks(); c.Late != tasks || c.Due != 0 {
		t.Errorf("%+v", c)
	}
}

// Who says that a right result is wrong is found wrong itself, once the task was compiled and
// interpreted here; and a proof of that is kept.
func TestAuditorAccusesTheHonest(t *testing.T) {
	b := newLeaderBench(t, 1, "full", false)
	b.bring(2, 0, truth)
	for len(b.again) == 0 {
		b.wait()
	}
	b.act(message.OwnerState{Slots: 1})
	b.bring(3, 0, "wrong")
	b.answer(b.says(truth))
	if b.faults(3) > 0 || len(b.audits) != 1 || !b.audits[0].Interpreted {
		t.Fatalf("accused before the task was interpreted: %+v", b.audits)
	}
	b.answer(b.says(truth))
	if c := b.checks(); c.Right != 1 || b.faults(2) > 0 || b.faults(3) != 1 {
		t.Errorf("%+v, faults %d and %d", c, b.faults(2), b.faults(3))
	}
	_, liar := schedtest.Identity(3)
	if h := b.held(0); h.Results[0].Worker == liar || h.Refuted == nil || h.Refuted.By != liar {
		t.Errorf("held is %+v", h)
	}
}

// Of one who says again and again that what is right is wrong the first few are looked into twice.
func TestAuditorAccusesAgain(t *testing.T) {
	const tasks = enginesAlike + 4
	b := newLeaderBench(t, tasks, "full", false)
	for i := range uint64(tasks) {
		b.bring(2, i, truth)
	}
	for n := 0; len(b.again) < tasks && n < 100; n++ {
		b.wait()
	}
	for i := range uint64(tasks) {
		b.bring(3, i, "wrong")
	}
	b.reborn(true)
	b.act(message.OwnerState{Slots: 1})
	interpreted := 0
	for n := 0; b.checks().Right < tasks; n++ {
		if n > 10*tasks {
			t.Fatalf("%+v, faults %d", b.checks(), b.faults(3))
		}
		if len(b.audits) == 0 {
			b.wait()
			continue
		}
		if b.audits[0].Interpreted {
			interpreted++
		}
		b.answer(b.says(truth))
	}
	if interpreted != enginesAlike || b.faults(2) > 0 || b.faults(3) < tasks {
		t.Errorf("%d were interpreted, want %d; faults %d and %d", interpreted, enginesAlike, b.faults(2), b.faults(3))
	}
}

// However many lie, alike or each for itself, accuse the honest, are brought by the leader again or
// bring nothing, and wherever the node is killed: no honest worker is named, what was run again here
// is right, of what is delivered is only wrong what all agreed on who had it, and in the end nothing
// waits.
func TestOthersProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const tasks, workers = 12, 8
		verify := rapid.SampledFrom([]string{"full", "1e-3", "50%"}).Draw(rt, "verify")
		lends := rapid.Bool().Draw(rt, "lends")
		b := newLeaderBench(t, tasks, verify, lends)
		liars := map[int]string{}
		for w := 2; w < 2+workers; w++ {
			if k := rapid.IntRange(0, 5).Draw(rt, fmt.Sprintf("worker %d", w)); k < 2 {
				liars[w] = []string{"agreed", fmt.Sprintf("wrong %d", w)}[k]
			}
		}
		routed := rapid.Bool().Draw(rt, "the leader is with the liars")
		says := func(w int) string {
			if liars[w] != "" && rapid.IntRange(0, 2).Draw(rt, "lies") > 0 {
				return liars[w]
			}
			return truth
		}
		for n := 0; ; n++ {
			st, _ := b.s.Job(b.id)
			if st.Settled() && b.s.jobs[b.id].checks.redo.Count() == 0 {
				break
			}
			if n == 20_000 {
				rt.Fatalf("%+v waits for %v, to be run here %d", st.Checks, b.again, len(b.audits))
			}
			lacking := b.lacking()
			switch k := rapid.IntRange(0, 11).Draw(rt, "next"); {
			case k == 0:
				b.reborn(lends)
			case k == 1 && n < 200:
				lends = !lends
				b.act(message.OwnerState{Slots: map[bool]int{true: 1}[lends]})
			case k == 2:
				b.rest(&lends)
			case k < 8 && len(lacking) > 0:
				i := rapid.SampledFrom(lacking).Draw(rt, "task")
				w := rapid.IntRange(2, 2+workers).Draw(rt, "by") // the last is honest
				if routed && n < 400 {
					for l := 2; l < 2+workers; l++ {
						if liars[l] == "agreed" && !b.barred(l, i) {
							w = l
						}
					}
				} else if n >= 400 && (b.barred(w, i) || b.faults(w) > 0) {
					w = 2 + workers
				}
				b.bring(w, i, says(w))
			case len(b.audits) > 0:
				b.mix(rt)
				b.answer(b.says(truth))
			default:
				if n > 1000 && !lends {
					lends = true
					b.act(message.OwnerState{Slots: 1})
				}
				b.rest(&lends)
			}
		}
		for w := 2; w <= 2+workers; w++ {
			if b.faults(w) > 0 && liars[w] == "" {
				rt.Errorf("the honest worker %d is named", w)
			}
		}
		c := b.s.jobs[b.id].checks
		for i := range uint64(tasks) {
			r := b.held(i).Results[0]
			text := string(r.Outputs[0].Inline)
			if (c.right.Contains(i) || c.wrong.Contains(i)) && text != truth {
				rt.Errorf("task %d was run again here, and is %q", i, text)
			}
			if s := b.standings(i)[0]; text != truth && s == message.StandingFinal {
				rt.Errorf("task %d is final, and is %q", i, text)
			}
		}
	})
}

// Whatever an auditor does, an honest task is run here twice at most, compiled and interpreted, its worker
// is not named, and the job comes to its end: also where the answer comes late, never, or is wrong.
func TestHostileAuditors(t *testing.T) {
	const maker, auditor = 2, 3
	for name, tt := range map[string]struct {
		says string // when asked; "" for nothing
		late string // when the task is settled
		runs int    // here, at most
	}{
		"never answers":          {"", "", 1},
		"answers late":           {"", truth, 1},
		"answers late and wrong": {"", "wrong", 1},
		"answers wrong":          {"wrong", "", 2},
		"answers wrong twice":    {"wrong", "wrong", 2},
		"answers well":           {truth, "wrong", 0},
	} {
		b := newInvitedBench(t, 1, "5%")
		b.s.cfg.Pool.Least = 1 // all is drawn; one other is enough
		b.bring(maker, 0, truth)
		b.untilAsked()
		if tt.says != "" {
			b.bring(auditor, 0, tt.says)
		}
		lends, ran := false, 0
		for n := 0; !b.allChecks().Delivered; n++ {
			switch {
			case n == 1000:
				t.Fatalf("%s: it waits for ever: %+v", name, b.allChecks())
			case len(b.audits) > 0:
				ran++
				b.answer(b.says(truth))
			default:
				b.rest(&lends)
			}
		}
		if tt.late != "" {
			b.bring(auditor, 0, tt.late)
		}
		c := b.allChecks()
		if ran > tt.runs || c.Wrong+c.Open+c.Due+c.Doubted != 0 || b.faults(maker) != 0 {
			t.Errorf("%s: run here %d times, %+v, %d faults", name, ran, c, b.faults(maker))
		}
		if named := b.faults(auditor) > 0; named != (tt.says == "wrong" && ran == 2) {
			t.Errorf("%s: the auditor is named: %v, after %d runs", name, named, ran)
		}
		if r := b.held(0); r.Results[0].Worker == b.self || r.Refuted != nil && r.Refuted.By == r.Results[0].Worker {
			t.Errorf("%s: held is %+v", name, r)
		}
	}
}
