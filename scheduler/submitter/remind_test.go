package submitter

import (
	"slices"
	"testing"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// newSigning is a submitter that signs what it holds, with a job of ten tasks that is accepted.
func newSigning(t *testing.T) (*subBench, task.JobID) {
	b := newSubBench(t)
	b.s.cfg.Signs = true
	id := b.offer(10, 0)
	b.say(message.Message{Accepted: &message.Accepted{Job: id}})
	return b, id
}

// word is what a key signs that it holds of a job in a delivery.
func word(t *testing.T, signer int, id task.JobID, delivery uint64, held ledger.Set) *task.Held {
	t.Helper()
	key, _ := schedtest.Identity(signer)
	h, err := ledger.HeldOf(delivery, held)
	if err != nil {
		t.Fatal(err)
	}
	h.Sign(id, key)
	return &h
}

// says is what it last told its leader that it holds, checked as any copy does.
func (b *subBench) says(id task.JobID) (delivery uint64, held ledger.Set) {
	b.tb.Helper()
	delivery, ok := 0, false
	check := func(have []message.Range, d uint64, signature []byte) {
		set, err := ledger.MakeSet(have)
		if err != nil {
			b.tb.Fatal(err)
		}
		f := &ledger.Facts{}
		f.Deliver(d, set, nil, signature)
		if !f.Proven(id, b.s.Key()) || len(signature) == 0 {
			b.tb.Fatalf("what it says it holds, %v in delivery %d, is not signed by it", have, d)
		}
		delivery, held, ok = d, set, true
	}
	for _, e := range b.last {
		if s, is := e.(message.Send); is && s.Message.Submit != nil {
			check(s.Message.Submit.Have, s.Message.Submit.Delivery, s.Message.Submit.Signature)
		} else if is && s.Message.Got != nil {
			check(s.Message.Got.Have, s.Message.Got.Delivery, s.Message.Got.Held)
		}
	}
	if !ok {
		b.tb.Fatal("it says nothing")
	}
	return delivery, held
}

// TestSaysWhatItHolds: each word about what it holds is signed anew, and is of exactly that.
func TestSaysWhatItHolds(t *testing.T) {
	b, id := newSigning(t)
	var want ledger.Set
	for _, i := range []uint64{1, 5, 2, 4, 8} { // none of which has blocks, or failed
		b.bring(id, message.JobRunning, "a", i)
		want.Add(i)
		if d, held := b.says(id); d != 0 || !slices.Equal(held, want) {
			t.Errorf("in delivery %d it says %v, want %v", d, held, want)
		}
	}
	b.bring(id, message.JobRunning, "a", 4) // known
	if _, held := b.says(id); !slices.Equal(held, want) {
		t.Errorf("said again it is %v", held)
	}
}

// TestReminded: a leader that shows a later word of its own has the submitter begin another
// delivery, of what it has; nothing else does, and nobody can make it give up what it holds.
func TestReminded(t *testing.T) {
	set := func(from, to uint64) ledger.Set { return ledger.Set{{From: from, To: to}} }
	for name, tt := range map[string]struct {
		word func(id task.JobID) *task.Held
		want uint64 // the delivery that it is in then, of one in 3 that holds the first of ten
	}{
		"no word":             {func(task.JobID) *task.Held { return nil }, 3},
		"the same":            {func(id task.JobID) *task.Held { return word(t, 1, id, 3, set(1, 2)) }, 3},
		"less":                {func(id task.JobID) *task.Held { return word(t, 1, id, 3, nil) }, 3},
		"an earlier delivery": {func(id task.JobID) *task.Held { return word(t, 1, id, 2, set(0, 10)) }, 3},
		"more":                {func(id task.JobID) *task.Held { return word(t, 1, id, 3, set(0, 2)) }, 4},
		"as many others":      {func(id task.JobID) *task.Held { return word(t, 1, id, 3, set(4, 5)) }, 4},
		"a later delivery":    {func(id task.JobID) *task.Held { return word(t, 1, id, 9, nil) }, 10},
		"the last delivery":   {func(id task.JobID) *task.Held { return word(t, 1, id, ledger.MaxDelivery, nil) }, 3},
		"the last but one": {func(id task.JobID) *task.Held { return word(t, 1, id, ledger.MaxDelivery-1, nil) },
			ledger.MaxDelivery},
		"another's word":        {func(id task.JobID) *task.Held { return word(t, 66, id, 9, set(0, 10)) }, 3},
		"its word on other job": {func(task.JobID) *task.Held { return word(t, 1, "another", 9, set(0, 10)) }, 3},
		"changed since": {func(id task.JobID) *task.Held {
			h := word(t, 1, id, 9, set(0, 10))
			h.Delivery++
			return h
		}, 3},
	} {
		b, id := newSigning(t)
		b.say(message.Message{Accepted: &message.Accepted{Job: id, Held: word(t, 1, id, 2, set(3, 5))}})
		b.bring(id, message.JobRunning, "a", 1)
		if d, _ := b.says(id); d != 3 {
			t.Fatalf("it is in delivery %d", d)
		}
		b.say(message.Message{Accepted: &message.Accepted{Job: id, Held: tt.word(id)}})
		said := 0
		for _, e := range b.last {
			if d, ok := e.(message.Decided); ok && d.Action == "delivered anew" {
				said++
			}
		}
		if want := tt.want > 3; (said == 1) != want {
			t.Errorf("%s: it is told %d times that another delivery begins", name, said)
		}
		b.bring(id, message.JobRunning, "a", 1) // known
		if d, held := b.says(id); d != tt.want || !slices.Equal(held, set(1, 2)) {
			t.Errorf("%s: at once it says %v in delivery %d, want %d", name, held, d, tt.want)
		}
		b.bring(id, message.JobRunning, "a", 2)
		if d, held := b.says(id); d != tt.want || !slices.Equal(held, set(1, 3)) {
			t.Errorf("%s: in delivery %d it says %v, want %d", name, d, held, tt.want)
		}
		again := New(b.self, b.timing, Default(), b.key)
		if err := again.Restore(schedtest.ScanOf(b.disk)); err != nil || again.jobs[id].state.Delivery != tt.want {
			t.Errorf("%s: after a restart it is in delivery %d (%v)", name, again.jobs[id].state.Delivery, err)
		}
	}
}

// TestLostDisk: a submitter that lost its results asks for all of them again, and the leader that
// shows what it said before believes it.
func TestLostDisk(t *testing.T) {
	b, id := newSigning(t)
	b.bring(id, message.JobRunning, "a", 1, 2, 4, 5)
	_, before := b.says(id)
	for key := range b.disk {
		if key == ResultKey(id, 2) || key == ResultKey(id, 4) {
			delete(b.disk, key)
		}
	}
	b.restart()
	b.s.cfg.Signs = true
	b.say(message.Message{Accepted: &message.Accepted{Job: id, Held: word(t, 1, id, 0, before)}})
	b.pass(b.timing.RetryMax)
	d, held := b.says(id)
	if want := (ledger.Set{{From: 1, To: 2}, {From: 5, To: 6}}); d != 1 || !slices.Equal(held, want) {
		t.Fatalf("after a lost disk it says %v in delivery %d, want %v in 1", held, d, want)
	}
	ours, theirs := &ledger.Facts{}, &ledger.Facts{} // of a leader
	ours.Deliver(0, before, nil, word(t, 1, id, 0, before).Signature)
	theirs.Deliver(d, held, nil, word(t, 1, id, d, held).Signature)
	if ours.LaterThan(theirs) || !theirs.LaterThan(ours) {
		t.Error("a leader takes what was said before for later")
	}
}
