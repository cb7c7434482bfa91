package submitter

import (
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"godwit/credibility"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

func (b *auditBench) standings(tasks ...uint64) []message.Standing {
	out, _ := b.s.Standings(b.id, tasks)
	return out
}

// acceptsMore has a worker bring results of tasks from next on until one is not run again; what
// is runs here, and is right.
func (b *auditBench) acceptsMore(worker int, next uint64) uint64 {
	notRun := func() uint64 { c := b.allChecks(); return c.Accepted + c.Unchecked }
	before := notRun()
	for ; notRun() == before; next++ {
		b.deliver(next, nil, b.ran(worker, next, truth))
		for len(b.audits) > 0 {
			b.answer(b.says(truth))
		}
	}
	return next
}

func TestStandings(t *testing.T) {
	b := newAuditBench(t, 100, "50%")
	var due uint64 // the first that is to be run again
	for ; b.checks().Due == 0; due++ {
		b.deliver(due, nil, b.ran(2, due, truth))
	}
	due--
	if got := b.standings(due, due+1)[:2]; got[0] != message.StandingHeld || got[1] != "" {
		t.Errorf("to be checked, and not held: %q", got)
	}
	b.answer(b.says(truth))
	if got := b.standings(due); got[0] != message.StandingFinal {
		t.Errorf("once it was: %q", got)
	}
	next := b.acceptsMore(2, due+1)
	b.s.audits.credits[peerOf(2)].Known = 1
	if got := b.standings(next - 1); got[0] != message.StandingUnchecked {
		t.Errorf("of a stranger's that is not run again: %q", got)
	}
	b.knows(2, acceptedAfter+1)
	if got := b.standings(next - 1); got[0] != message.StandingAccepted {
		t.Errorf("of a known worker's that is not run again: %q", got)
	}
	c := b.allChecks()
	if c.Accepted+c.Final != next || c.Delivered || c.Recalled() != 0 {
		t.Errorf("%+v after %d tasks", c, next)
	}
	b.restart()
	if again := b.allChecks(); again != c {
		t.Errorf("after a restart %+v, before %+v", again, c)
	}
	if s, _ := b.s.Standings("no such job", []uint64{1}); !slices.Equal(s, []message.Standing{""}) {
		t.Errorf("of a job that is not here: %q", s)
	}
}

// What was accepted is final after so many audits more, or after some time and one. Time alone does not suffice.
func TestAcceptedBecomesFinal(t *testing.T) {
	for name, clean := range map[string]func(b *auditBench){
		"audits": func(b *auditBench) {
			_, worker := schedtest.Identity(2)
			for range credibility.FinalAudits {
				b.s.audits.credit(worker).Confirm(1, 1, b.now)
			}
		},
		"time and one audit of a worker with enough in all": func(b *auditBench) {
			known := b.s.audits.credit(peerOf(2))
			for known.Audits < credibility.FinalAudits-1 {
				known.Confirm(1, 1, b.now)
			}
			b.pass(credibility.FinalAfter + time.Second)
			b.do(message.Wake{})
			if c := b.allChecks(); c.Accepted+c.Unchecked == 0 {
				b.tb.Error("time alone makes results final")
			}
			b.s.audits.credit(peerOf(2)).Confirm(1, 1, b.now)
		},
	} {
		b := newAuditBench(t, 200, "10%")
		last := b.acceptsMore(2, 0) - 1
		clean(b)
		if got := b.standings(last); got[0] != message.StandingFinal || b.allChecks().Accepted+b.allChecks().Unchecked != 0 {
			t.Errorf("%s: %q, %+v", name, got, b.allChecks())
		}
	}
}

// Results that were delivered and are doubted, or wrong, are told apart from those that are found
// in time.
func TestRecalled(t *testing.T) {
	b := newAuditBench(t, 60, "10%")
	_, liar := schedtest.Identity(2)
	for i := range uint64(60) {
		says := truth
		if i < 2 {
			says = "wrong"
		}
		b.deliver(i, nil, b.ran(2, i, says))
		for len(b.audits) > 0 {
			b.answer(b.says(says)) // as if it were right
		}
	}
	c := b.allChecks()
	if !c.Delivered || c.Recalled() != 0 || c.Due != 0 {
		t.Fatalf("%+v", c)
	}
	accepted := c.Accepted + c.Unchecked
	doubting{&b.s.audits}.distrust(liar, false)
	b.do(message.Wake{})
	if c = b.allChecks(); c.Doubted != accepted || c.Recalled() != accepted {
		t.Fatalf("%d accepted, and once their worker was wrong elsewhere %+v", accepted, c)
	}
	if got := b.standings(b.audits[0].Task.Index); got[0] != message.StandingDoubted {
		t.Errorf("%q", got)
	}
	for len(b.audits) > 0 {
		b.answer(b.says(truth))
	}
	late := c.Late
	if c = b.allChecks(); c.Doubted != 0 || c.Late != c.Wrong || c.Recalled() != c.Late || c.Late == late {
		t.Errorf("%+v", c)
	}
	for i := range uint64(2) {
		if got := b.standings(i); c.Late == 2 && got[0] != message.StandingReplaced {
			t.Errorf("task %d: %q", i, got)
		}
	}
	if b.restart(); b.allChecks() != c {
		t.Errorf("after a restart %+v, before it %+v", b.allChecks(), c)
	}
}

// The key of the draw is told when nobody can make use of it any more, and is that of the record.
func TestKeyIsPublished(t *testing.T) {
	b := newAuditBench(t, 2, "full")
	b.deliver(0, nil, b.ran(2, 0, truth))
	b.deliver(1, nil, b.ran(2, 1, truth))
	for range 2 {
		if c := b.allChecks(); c.Key != "" {
			t.Fatal("the key is told while results are to be checked")
		}
		b.answer(b.says(truth))
	}
	b.restart()
	key, err := hex.DecodeString(b.allChecks().Key)
	want := task.DrawKey(b.key, b.s.jobs[b.id].spec.Nonce)
	if err != nil || string(key) != string(want[:]) {
		t.Errorf("%x, %v", key, err)
	}
	if _, got := b.s.Standings(b.id, []uint64{0, 1}); !got[0] || !got[1] {
		t.Errorf("run again: %v", got)
	}
}
