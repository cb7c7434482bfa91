package submitter

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newTold has two workers of whom little was seen here, and a job of which most is accepted of the first, whom a
// teller praises. It returns how many of each were accepted.
func newTold(t *testing.T, worker, other, teller int) (b *auditBench, praised, plain uint64) {
	t.Helper()
	const tasks = 60
	b = newAuditBench(t, 2*tasks, "1e-2")
	b.s.cfg.Strangers = credibility.Strangers{}
	b.knows(worker, 12)
	b.knows(other, 12)
	b.tried(b.tells(teller, 12, worker), true)
	for i := range uint64(2 * tasks) {
		b.deliver(i, nil, b.ran([]int{worker, other}[i/tasks], i, truth))
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
	}
	count := func(w int) uint64 {
		_, id := schedtest.Identity(w)
		return b.s.jobs[b.id].checks.by[id].tasks.Count()
	}
	praised, plain = count(worker), count(other)
	if praised == 0 || plain == 0 || b.allChecks().Due > 0 {
		t.Fatalf("accepted are %d and %d: %+v", praised, plain, b.allChecks())
	}
	return b, praised, plain
}

// A teller that calls a wrong result right: what was accepted by its word is run again, also after a restart;
// what others made, of whom it said nothing, is not. One that only does not show a result is no liar.
func TestUntrueTeller(t *testing.T) {
	const worker, other, teller = 2, 3, 9
	for name, tt := range map[string]struct {
		says           message.Redone
		proven         bool // a result of the teller's own is wrong
		again, restart bool
	}{
		"it is right":              {says: message.Redone{Right: true}},
		"it shows nothing":         {},
		"what it shows is wrong":   {says: message.Redone{Wrong: true}, again: true},
		"the same after a restart": {says: message.Redone{Wrong: true}, again: true, restart: true},
		"what it made is wrong":    {proven: true, again: true},
		"and that after a restart": {proven: true, again: true, restart: true},
		"nothing after a restart":  {restart: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, praised, plain := newTold(t, worker, other, teller)
			if tt.restart {
				b.restart()
			}
			b.now = b.now.Add(time.Second)
			_, liar := schedtest.Identity(teller)
			tally := b.tells(teller, 20, worker)
			if tt.proven {
				b.do(message.Proven{Worker: liar})
			} else {
				tt.says.Teller, tt.says.Issued = liar, tally.Issued
				b.do(tt.says)
			}
			want := map[bool]uint64{true: praised}[tt.again]
			if c := b.allChecks(); c.Doubted != want {
				t.Errorf("%d are doubted, want %d", c.Doubted, want)
			}
			for n := uint64(0); len(b.audits) > 0; n++ {
				if b.answer(b.says(truth)); n > praised+plain {
					t.Fatal("it goes on")
				}
			}
			if c := b.allChecks(); c.Doubted+c.Due+c.Wrong > 0 || b.faults(worker)+b.faults(other) > 0 {
				t.Errorf("in the end %+v", c)
			}
			if w := b.s.audits.heard.weight(liar); tt.again && w != 0 {
				t.Errorf("its word counts %g still", w)
			}
			b.restart()
			if w := b.s.audits.heard.weight(liar); tt.again && w != 0 {
				t.Errorf("after a restart its word counts %g", w)
			}
			if _, asked := b.s.audits.next(); asked {
				t.Error("something runs again after a restart")
			}
		})
	}
}

// A lie that was accepted by a friend's word is found once the friend is: whoever says what, in any order.
func TestLiesByAFriendsWord(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const tasks, liar, honest = 40, 2, 3
		b := newAuditBench(t, tasks, "1e-2")
		b.s.cfg.Strangers = credibility.Strangers{}
		b.knows(liar, 12)
		b.knows(honest, 12)
		tellers := rapid.IntRange(1, 3).Draw(rt, "tellers")
		for n := range tellers {
			b.tried(b.tells(10+n, 100, liar, honest), true)
		}
		lied := map[uint64]bool{}
		for i := range uint64(tasks) {
			w := rapid.SampledFrom([]int{liar, honest}).Draw(rt, "by")
			says := truth
			if w == liar && rapid.IntRange(0, 9).Draw(rt, "lies") == 0 {
				says, lied[i] = "lie", true
			}
			b.deliver(i, nil, b.ran(w, i, says))
			for len(b.audits) > 0 {
				b.answer(b.says(truth))
			}
		}
		if rapid.Bool().Draw(rt, "restart") {
			b.restart()
		}
		b.now = b.now.Add(time.Second)
		untrue := rapid.IntRange(0, tellers-1).Draw(rt, "untrue")
		tally := b.tells(10+untrue, 1, liar)
		b.do(message.Redone{Teller: tally.Teller, Issued: tally.Issued, Wrong: true})
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
		for i := range lied {
			if b.disk[ResultKey(b.id, i)] == nil { // it was given back
				continue
			}
			if held := b.held(i); string(held.Results[0].Outputs[0].Inline) != truth {
				rt.Errorf("the lie of task %d is held still", i)
			}
		}
		if b.faults(honest) > 0 || len(lied) > 0 != (b.faults(liar) > 0) {
			rt.Errorf("%d lies, and faults %d and %d", len(lied), b.faults(liar), b.faults(honest))
		}
		if c := b.allChecks(); c.Due+c.Doubted > 0 {
			rt.Errorf("%+v", c)
		}
	})
}

// What is kept of a result has who told, and only then.
func TestToldIsKept(t *testing.T) {
	b, _, _ := newTold(t, 2, 3, 9)
	_, teller := schedtest.Identity(9)
	of := b.s.jobs[b.id].checks.told[teller].Count()
	n := uint64(0)
	for i := range b.s.jobs[b.id].total {
		var c checked
		if err := task.Decode(b.disk[checkKey(b.task(i))], &c); err != nil {
			t.Fatal(err)
		}
		if len(c.Told) > 0 {
			n++
		}
	}
	if n == 0 || n != of {
		t.Errorf("%d are kept with it, %d known", n, of)
	}
}
