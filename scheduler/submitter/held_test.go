package submitter

import (
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
)

// TestSaysLittle: of results that come one after the other the leader hears the first at once and the others together,
// a moment later; none is left unsaid, also where no leader is known meanwhile.
func TestSaysLittle(t *testing.T) {
	b, id := newSigning(t)
	b.apart = time.Millisecond
	words := 0
	var held ledger.Set
	hear := func() {
		for _, e := range b.last {
			if s, ok := e.(message.Send); ok && s.Message.Got != nil {
				words, held = words+1, s.Message.Got.Have
			}
		}
	}
	wait := func(d time.Duration) {
		b.now = b.now.Add(d)
		b.step(nil)
		hear()
	}
	b.now = b.now.Add(gotPause)
	for _, i := range []uint64{1, 2, 4, 5, 7} { // none of which has blocks, or failed
		b.bring(id, message.JobRunning, "a", i)
		hear()
	}
	if words != 1 || held.Count() != 1 {
		t.Errorf("of five results it speaks %d times, last of %v", words, held)
	}
	if at, ok := b.s.NextWake(); !ok || at.After(b.now.Add(gotPause)) {
		t.Errorf("it wakes at %v, %v; it is %v", at, ok, b.now)
	}
	wait(gotPause)
	if words != 2 || held.Count() != 5 {
		t.Errorf("then it has spoken %d times, last of %v", words, held)
	}
	wait(gotPause)
	if words != 2 {
		t.Errorf("with nothing new it speaks, %d times in all", words)
	}

	b.bring(id, message.JobRunning, "a", 8)
	b.step(message.LeaderChanged{Epoch: 2})
	wait(gotPause)
	b.step(message.LeaderChanged{Leader: b.self, Epoch: 3})
	b.bring(id, message.JobRunning, "a", 8)
	hear()
	wait(gotPause)
	if held.Count() != 6 {
		t.Errorf("after a while without a leader it says %v", held)
	}
}
