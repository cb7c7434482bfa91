package submitter

import (
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// TestLoansAreTold: who has which tasks of a job is told, since when, and until when: a borrower that is heard
// of puts that off, a restart forgets nothing of it, and there is nothing to tell once all is held.
func TestLoansAreTold(t *testing.T) {
	b := newLendBench(t, 400, 2, func(j *task.Job) { j.Work = time.Second })
	if got := Loans(b.s, b.id); len(got) != 0 {
		t.Fatalf("before anything is lent: %+v", got)
	}
	b.accept(b.home)
	b.brings(b.home, 0)
	lent := b.now
	told := func() message.LoanStatus {
		t.Helper()
		got := Loans(b.s, b.id)
		if len(got) != 2 || got[0].Cell != "cell 1" || got[1].Cell != "cell 2" {
			t.Fatalf("two cells have tasks: %+v", got)
		}
		set, err := got[0].Set()
		if err != nil || set.Count() != got[0].Tasks || len(set.Minus(b.wanted(b.others[0]))) > 0 ||
			!got[0].Since.Equal(lent.Truncate(time.Millisecond)) {
			t.Errorf("cell 1 has %v since %v: %+v, %v", b.wanted(b.others[0]), lent, got[0], err)
		}
		return got[0]
	}
	if l := told(); !l.Until.Equal(lent.Add(lendSilence)) || l.Running != 0 {
		t.Errorf("unless it is heard it comes back at %v: %+v", lent.Add(lendSilence), l)
	}
	b.pass(time.Minute)
	b.others[0].load.Idle = 0 // it is lent no more
	b.others[1].load.Idle = 0
	b.home.load.Idle = 0
	b.tellCells()
	b.brings(b.others[0], 0)
	if l := told(); !l.Until.Equal(b.now.Add(lendSilence)) || l.Running == 0 {
		t.Errorf("it was heard at %v: %+v", b.now, l)
	}
	b.restart()
	told()
	for range 100 {
		for _, l := range b.leaders() {
			b.brings(l, 50)
		}
		b.pass(time.Second)
	}
	if got := Loans(b.s, b.id); len(got) != 0 {
		t.Errorf("all is held: %+v", got)
	}
}
