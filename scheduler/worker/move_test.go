package worker

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// stops lists the stops of the last step.
func (b *bench) stops() (out []message.Stop) {
	for _, e := range b.last {
		if e, ok := e.(message.Stop); ok {
			out = append(out, e)
		}
	}
	return out
}

// report returns the last report of the last step.
func (b *bench) report() *message.Report {
	b.Helper()
	var r *message.Report
	for _, e := range b.last {
		if s, ok := e.(message.Send); ok && s.Message.Report != nil {
			r = s.Message.Report
		}
	}
	if r == nil {
		b.Fatal("nothing is reported")
	}
	return r
}

func (b *bench) dropMoved(i uint64) {
	b.ack(&message.Ack{Epoch: 5, Drop: []message.AttemptName{{Task: b.task(i),
		Attempt: message.Attempt{Epoch: 5, Seq: i}, Reason: message.DropMoved}}})
}

// A task that is to move is stopped with its state, once, and held until its
// end, which is told with that state until it is acknowledged.
func TestWorkerMoves(t *testing.T) {
	b := newBench(t)
	b.place(b.leases(5, 1))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.dropMoved(1)
	if s := b.stops(); len(s) != 1 || !s[0].Save || s[0].Attempt != (message.Attempt{Epoch: 5, Seq: 1}) {
		t.Fatalf("it stops %+v", s)
	}
	b.dropMoved(1)
	if s := b.stops(); len(s) != 0 {
		t.Errorf("it stops %+v again", s)
	}
	b.now = b.now.Add(message.DefaultTiming().ReportEvery)
	b.step(message.Wake{})
	if r := b.report(); len(r.Held) != 1 || !r.Held[0].Running || r.Held[0].Fixed {
		t.Errorf("it holds %+v", r.Held)
	}
	state := message.Checkpoint{CID: task.RawCID([]byte("state")), Fuel: 9, CPU: time.Second}
	b.step(message.Checkpointed{Task: b.task(1), Attempt: message.Attempt{Epoch: 5, Seq: 1}, Checkpoint: state})
	b.end(1, task.Interrupted)
	for range 2 {
		r := b.report()
		if len(r.Ended) != 1 || r.Ended[0].Result.Outcome != task.Interrupted || len(r.Saved) != 1 ||
			!reflect.DeepEqual(r.Saved[0].Checkpoint, state) {
			t.Errorf("it tells of %+v, %+v", r.Ended, r.Saved)
		}
		b.now = b.now.Add(message.DefaultTiming().ReportEvery) // the answer is lost
		b.step(message.Wake{})
	}
}

// What cannot be saved stays and is told so; what has not started is given back;
// what is dropped for another reason ends after all.
func TestWorkerCannotMove(t *testing.T) {
	b := newBench(t)
	b.place(b.leases(5, 1, 2, 3))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	b.dropMoved(3) // there are two slots
	if r := b.report(); len(r.Refused) != 1 || r.Refused[0].Task != b.task(3) || r.Refused[0].Reason != message.DropMoved {
		t.Errorf("it refuses %+v", r.Refused)
	}
	b.dropMoved(1)
	b.step(message.NotSaved{Task: b.task(1), Attempt: message.Attempt{Epoch: 5, Seq: 1}, Reason: "too large"})
	if r := b.report(); !r.Full || len(r.Held) != 2 || !r.Held[0].Fixed || r.Held[1].Fixed {
		t.Errorf("it holds %+v", r.Held)
	}
	b.dropMoved(1)
	if s := b.stops(); len(s) != 0 || !b.report().Held[0].Fixed {
		t.Errorf("it stops %+v", s)
	}
	b.dropMoved(2)
	b.ack(&message.Ack{Epoch: 5, Drop: []message.AttemptName{{Task: b.task(2),
		Attempt: message.Attempt{Epoch: 5, Seq: 2}, Reason: message.DropCancelled}}})
	if s := b.stops(); len(s) != 1 || s[0].Save {
		t.Errorf("it stops %+v", s)
	}
}

// A worker that could not go on from the state of its lease says so with all that it holds,
// until the lease ends, and keeps the state no longer.
func TestWorkerTellsOfABadState(t *testing.T) {
	b := newBench(t)
	from := &message.Checkpoint{CID: task.RawCID([]byte("bad")), Fuel: 9}
	p := b.leases(5, 1)
	p.Leases[0].From = from
	b.place(p)
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	word := func(of task.CID) message.StateBad {
		return message.StateBad{Task: b.task(1), Attempt: message.Attempt{Epoch: 5, Seq: 1},
			Word: task.Voucher{Receipt: task.Receipt{From: of}}}
	}
	b.step(word("another"))
	if slices.ContainsFunc(b.last, func(e message.Effect) bool { _, ok := e.(message.Send); return ok }) {
		t.Error("it tells of another state")
	}
	b.step(word(from.CID))
	for range 2 {
		if h := b.report().Held; len(h) != 1 || h[0].Bad == nil || h[0].Bad.Receipt.From != from.CID {
			t.Errorf("it holds %+v", h)
		}
		b.now = b.now.Add(message.DefaultTiming().ReportEvery)
		b.step(message.Wake{})
	}
	if slices.Contains(b.w.Roots(), from.CID) {
		t.Error("it keeps the state")
	}
}
