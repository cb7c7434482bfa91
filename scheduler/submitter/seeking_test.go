package submitter

import (
	"slices"
	"testing"
	"time"

	"godwit/task"
)

// newKept is a job of one task whose result others are to run again, with a leader that brings nothing of that.
func newKept(t *testing.T) (b *leaderBench, drawn, other int) {
	t.Helper()
	const second, maker = 4, 5
	b = newInvitedBench(t, 1, "full")
	lends := []int{second, maker, 6, 7, 8, 9, 10, 11, 12}
	b.s.cfg.Where = &crew{[]int{second}, lends} // and no coordinators: nobody is asked for what else is missing
	b.bring(maker, 0, truth)
	b.untilAsked()
	for _, w := range lends[2:] {
		if b.named(w, 0) {
			drawn = w
		} else {
			other = w
		}
	}
	if drawn == 0 || other == 0 {
		t.Fatalf("drawn are %v", b.again[0].Only)
	}
	return b, drawn, other
}

// untilSought lets time pass until a member is asked that was drawn, and returns who is.
func (b *leaderBench) untilSought(most time.Duration) (asked []task.PeerID) {
	drawn := func(p task.PeerID) bool { return slices.Contains(b.again[0].Only, p) }
	for end := b.now.Add(most); b.now.Before(end) && !slices.ContainsFunc(asked, drawn); asked = b.asks() {
		b.wait()
	}
	return asked
}

// TestRepeatsThatALeaderKeeps: what was run once more comes of the members that were drawn, halfway to when it had to
// come, if the leader brings it not.
func TestRepeatsThatALeaderKeeps(t *testing.T) {
	b, drawn, _ := newKept(t)
	since := b.now
	asked := b.untilSought(time.Hour)
	if took := b.now.Sub(since); took < answerIn/2 || took >= answerIn*2/3 || len(asked) != referees {
		t.Errorf("%d members are asked after %v", len(asked), took)
	}
	b.brings(drawn, "running", b.ran(drawn, 0, truth))
	b.hear()
	if c := b.allChecks(); c.Agreed != 1 || c.Due != 0 {
		t.Errorf("%+v", c)
	}
	if n := len(b.s.jobs[b.id].checks.polls); n > 0 {
		t.Errorf("%d tasks run again", n)
	}
}

// TestRepeatsOfLiars: who was not drawn, was not asked, or brings what another signed or nobody did, is not heard; and
// nobody loses by it.
func TestRepeatsOfLiars(t *testing.T) {
	b, drawn, other := newKept(t)
	ran := func() int { return b.s.jobs[b.id].checks.polls[0].ran() }
	if b.brings(drawn, "running", b.ran(drawn, 0, truth)); ran() > 0 {
		t.Error("who was not asked is heard")
	}
	b.untilSought(time.Hour)
	forged := b.ran(drawn, 0, truth)
	forged.Signature = make([]byte, 64)
	for name, lie := range map[string]func(){
		"not drawn": func() { b.brings(other, "running", b.ran(other, 0, truth)) },
		"another's": func() { b.brings(drawn, "running", b.ran(other, 0, truth)) },
		"forged":    func() { b.brings(drawn, "running", forged) },
		"its maker": func() { b.brings(drawn, "running", b.ran(5, 0, truth)) },
	} {
		b.s.jobs[b.id].withheld.asked = map[task.PeerID]bool{}
		for _, w := range []int{drawn, other} {
			b.s.jobs[b.id].withheld.asked[peers([]int{w})[0]] = true
		}
		if lie(); ran() > 0 {
			t.Errorf("%s: it counts", name)
		}
	}
	if p := b.s.jobs[b.id].checks.polls[0]; p.vain+p.tries > 0 || b.faults(drawn)+b.faults(other) > 0 {
		t.Errorf("the wait ends by what was not heard: %+v", p)
	}
	// Who was drawn and keeps it as the leader does costs what it did: the wait ends.
	for n := 0; !b.s.jobs[b.id].checks.stays.Contains(0); n++ {
		if n == 10_000 {
			t.Fatal("it waits for ever")
		}
		b.wait()
	}
}
