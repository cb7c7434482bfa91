package worker

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// An awaiting lease of task i, of attempt 100+i, that worker 7 is to bring.
func (b *bench) awaiting(i uint64) *message.Place {
	_, source := schedtest.Identity(7)
	return &message.Place{Epoch: 5, Leases: []message.Lease{{
		Task: b.task(i), Attempt: message.Attempt{Epoch: 5, Seq: 100 + i}, TTL: time.Second,
		Await: &message.Await{Worker: source, Attempt: message.Attempt{Epoch: 5, Seq: i}},
	}}}
}

// order has task i handed over to worker 8.
func (b *bench) order(i, as uint64) message.MoveOrder {
	_, to := schedtest.Identity(8)
	return message.MoveOrder{Task: b.task(i), Attempt: message.Attempt{Epoch: 5, Seq: i}, To: to,
		As: message.Attempt{Epoch: 5, Seq: as}}
}

// last effect of a type, of the last step.
func lastOf[E message.Effect](b *bench) (found E, n int) {
	for _, e := range b.last {
		if e, ok := e.(E); ok {
			found = e
			n++
		}
	}
	return found, n
}

// The source hands over once, tells what came of it whenever it is asked, and
// ends the attempt where its guest runs on elsewhere.
func TestWorkerHandsOver(t *testing.T) {
	b := busy(t)
	order := b.order(1, 50)
	b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{order}})
	if e, n := lastOf[message.HandOver](b); n != 1 || e.To != order.To || e.As != order.As ||
		e.Attempt != order.Attempt || e.Named != order.Attempt {
		t.Fatalf("it hands over %+v", e)
	}
	if r := b.report(); !r.Full || r.Held[0].Moving != order.As || !r.Held[0].Running {
		t.Errorf("it holds %+v", r.Held)
	}
	b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{order}})
	if _, n := lastOf[message.HandOver](b); n != 0 {
		t.Error("it hands over again")
	}
	b.step(message.NotHanded{Task: b.task(1), Attempt: order.Attempt, Reason: "refused"})
	for range 2 { // the word is lost, the order repeated
		if r := b.report(); len(r.Unmoved) != 1 || r.Unmoved[0].As != order.As || r.Unmoved[0].Reason != "refused" {
			t.Errorf("it tells of %+v", r.Unmoved)
		}
		b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{order}})
	}
	order = b.order(1, 51)
	b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{order}})
	b.step(message.Ended{
		Task: b.task(1), Attempt: order.Attempt, Result: task.Result{Task: b.task(1), Outcome: task.Interrupted},
		Handed: &message.Handed{Bytes: 5},
	})
	if r := b.report(); len(r.Ended) != 1 || r.Ended[0].Handed == nil ||
		*r.Ended[0].Handed != (message.Handed{To: order.To, As: order.As, Bytes: 5}) {
		t.Errorf("it ends %+v", r.Ended)
	}
}

// What has not started is given back, what cannot be saved stays.
func TestWorkerCannotHandOver(t *testing.T) {
	b := busy(t)
	b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{b.order(3, 50), b.order(2, 51)}})
	if r := b.report(); len(r.Refused) != 1 || r.Refused[0].Task != b.task(3) || r.Refused[0].Reason != message.DropMoved {
		t.Errorf("it refuses %+v", r.Refused)
	}
	b.step(message.NotSaved{Task: b.task(2), Attempt: message.Attempt{Epoch: 5, Seq: 2}, Reason: "never"})
	if r := b.report(); !r.Held[1].Fixed || r.Held[1].Moving != (message.Attempt{}) {
		t.Errorf("it holds %+v", r.Held)
	}
}

// The destination takes a slot, waits, and runs; or gives the lease back with what
// had come; or begins from what the leader names instead.
func TestWorkerAwaits(t *testing.T) {
	begin := func() *bench {
		b := newBench(t)
		b.place(b.awaiting(1))
		b.step(message.Prepared{ID: b.job, Job: b.spec})
		e, n := lastOf[message.Expect](b)
		if _, source := schedtest.Identity(7); n != 1 || e.From != source || e.FromAttempt.Seq != 1 ||
			e.Attempt.Seq != 101 || len(b.started()) > 0 {
			t.Fatalf("it does %+v", b.last)
		}
		b.now = b.now.Add(message.DefaultTiming().ReportEvery)
		b.step(message.Wake{})
		if h := b.report().Held; len(h) != 1 || h[0].Running || !h[0].Awaiting || h[0].After.Seq != 1 {
			t.Fatalf("it holds %+v", h)
		}
		if running, queued, _ := b.w.Load(); running != 1 || queued != 0 {
			t.Fatalf("it runs %d, %d wait", running, queued)
		}
		return b
	}
	as := message.Attempt{Epoch: 5, Seq: 101}
	b := begin()
	b.place(b.awaiting(1)) // said again
	b.step(message.Arrived{Task: b.task(1), Attempt: as})
	if h := b.report().Held; !h[0].Running || h[0].Awaiting {
		t.Errorf("it holds %+v", h)
	}
	b.step(message.Ended{Task: b.task(1), Attempt: as, Result: task.Result{Task: b.task(1), Outcome: task.Completed}})
	if r := b.report(); len(r.Ended) != 1 || r.Ended[0].Attempt != as {
		t.Errorf("it ends %+v", r.Ended)
	}

	b = begin()
	state := message.Checkpoint{CID: task.RawCID([]byte("round")), Fuel: 4}
	b.step(message.NotArrived{Task: b.task(1), Attempt: as, Reason: "the stream broke", Saved: &state})
	if r := b.report(); len(r.Refused) != 1 || r.Refused[0].Reason != "the stream broke" || len(r.Saved) != 1 ||
		!reflect.DeepEqual(r.Saved[0].Checkpoint, state) {
		t.Errorf("it gives back %+v with %+v", r.Refused, r.Saved)
	}
	if !slices.Contains(b.w.Roots(), state.CID) {
		t.Error("it does not keep what came")
	}
	b.now = b.now.Add(keepArrived)
	b.step(message.Wake{})
	if r := b.report(); len(r.Saved) != 0 || slices.Contains(b.w.Roots(), state.CID) {
		t.Error("it keeps what came for ever")
	}

	b = begin()
	b.place(&message.Place{Epoch: 5, Leases: []message.Lease{{Task: b.task(1),
		Attempt: message.Attempt{Epoch: 5, Seq: 200}, From: &state}}})
	if e, n := lastOf[message.Start](b); n != 1 || e.Attempt != as || e.From == nil || !reflect.DeepEqual(*e.From, state) {
		t.Fatalf("it starts %+v", e)
	}
	b.step(message.NotArrived{Task: b.task(1), Attempt: as, Reason: "crossed"})
	b.now = b.now.Add(message.DefaultTiming().ReportEvery)
	b.step(message.Wake{})
	if h := b.report().Held; len(h) != 1 || !h[0].Running || h[0].Attempt.Seq != 200 {
		t.Errorf("it holds %+v", h)
	}
}

// A lease that is dropped while it waits frees its slot when the wait ends; what
// is placed meanwhile comes next.
func TestWorkerAwaitsNoLonger(t *testing.T) {
	b := newBench(t)
	b.step(message.OwnerState{State: overlay.Available, Slots: 1})
	b.place(b.awaiting(1))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.ack(&message.Ack{Epoch: 5, Drop: []message.AttemptName{{Task: b.task(1),
		Attempt: message.Attempt{Epoch: 5, Seq: 101}, Reason: message.DropSuperseded}}})
	if s := b.stops(); len(s) != 1 || s[0].Save {
		t.Fatalf("it stops %+v", s)
	}
	b.place(&message.Place{Epoch: 5, Leases: []message.Lease{{Task: b.task(1),
		Attempt: message.Attempt{Epoch: 5, Seq: 300}}}})
	if len(b.started()) != 0 {
		t.Error("it starts in a slot that is not free")
	}
	b.step(message.NotArrived{Task: b.task(1), Attempt: message.Attempt{Epoch: 5, Seq: 101}, Reason: "stopped"})
	b.want("started", b.started(), []uint64{1})
	if running, queued, _ := b.w.Load(); running != 1 || queued != 0 {
		t.Errorf("it runs %d, %d wait", running, queued)
	}
}
