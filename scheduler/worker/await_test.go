package worker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// expecting is a worker whose one slot awaits task 1, as attempt 101, from worker 7.
func expecting(t *testing.T) *bench {
	b := newBench(t)
	b.step(message.OwnerState{State: overlay.Available, Slots: 1})
	b.place(b.awaiting(1))
	b.step(message.Prepared{ID: b.job, Job: b.spec})
	if _, n := lastOf[message.Expect](b); n != 1 {
		t.Fatalf("it does %+v", b.last)
	}
	return b
}

// says is what it reported in the last step, or when its time has come.
func (b *bench) says() *message.Report {
	b.Helper()
	for _, e := range b.last {
		if s, ok := e.(message.Send); ok && s.Message.Report != nil {
			return b.report()
		}
	}
	b.now = b.now.Add(message.DefaultTiming().ReportEvery)
	b.step(message.Wake{})
	return b.report()
}

// TestLeasesWhileOneIsAwaited: what another lease of a task does that is awaited here: an earlier
// one, or the same again, nothing; one of another hand-over is refused; one that names a state
// begins from that, or is given back where the owner has the machine.
func TestLeasesWhileOneIsAwaited(t *testing.T) {
	_, other := schedtest.Identity(8)
	at := func(epoch, seq uint64, await *message.Await) message.Lease {
		return message.Lease{Attempt: message.Attempt{Epoch: epoch, Seq: seq}, TTL: time.Second, Await: await}
	}
	for name, tt := range map[string]struct {
		lease   message.Lease
		away    bool   // the owner takes the machine
		starts  bool   // it begins, without what was awaited
		stops   bool   // it gives up what was awaited
		refuses string // why the lease is given back at once
		held    uint64 // the attempt that it holds
	}{
		"an earlier one":          {at(5, 90, nil), false, false, false, "", 101},
		"of an earlier leader":    {at(4, 900, nil), false, false, false, "", 101},
		"the same, nobody brings": {at(5, 101, nil), false, true, false, "", 101},
		"a later one":             {at(5, 200, nil), false, true, false, "", 200},
		"of another hand-over": {at(5, 200, &message.Await{Worker: other, Attempt: message.Attempt{Epoch: 5, Seq: 1}}), false,
			false, false, "another hand-over of the task has not ended here yet", 101},
		"a later one, owner there": {at(5, 200, nil), true, false, true, "", 200},
	} {
		b := expecting(t)
		if tt.away {
			b.step(message.OwnerState{State: overlay.UserPresent})
		}
		tt.lease.Task = b.task(1)
		b.place(&message.Place{Epoch: 5, Leases: []message.Lease{tt.lease}})
		if starts := len(b.started()) > 0; starts != tt.starts {
			t.Errorf("%s: it starts: %v", name, starts)
		}
		if s := b.stops(); (len(s) > 0) != tt.stops || tt.stops && s[0].Save {
			t.Errorf("%s: it stops %+v", name, s)
		}
		r := b.says()
		if refuses := len(r.Refused) == 1 && r.Refused[0].Reason == tt.refuses; refuses != (tt.refuses != "") {
			t.Errorf("%s: it refuses %+v, want %q", name, r.Refused, tt.refuses)
		}
		if !r.Full {
			b.last = nil
			r = b.says()
		}
		if len(r.Held) != 1 || r.Held[0].Attempt.Seq != tt.held || r.Held[0].Awaiting == tt.starts && !tt.stops {
			t.Errorf("%s: it holds %+v, want attempt %d", name, r.Held, tt.held)
		}
		if !tt.stops {
			continue
		}
		b.step(message.NotArrived{Task: b.task(1), Attempt: message.Attempt{Epoch: 5, Seq: 101}, Reason: "stopped"})
		if r := b.says(); len(r.Refused) != 1 || r.Refused[0].Reason != ownerReason(b.w.owner) {
			t.Errorf("%s: it gives back %+v, want that the owner is there", name, r.Refused)
		}
		if running, _, _ := b.w.Load(); running != 0 || b.w.Leases() != 0 {
			t.Errorf("%s: when it is stopped it runs %d and holds %d leases", name, running, b.w.Leases())
		}
	}
}

// TestWhereItHandsTo: to whom tasks go is known until a leader has the end of it.
func TestWhereItHandsTo(t *testing.T) {
	b := busy(t)
	order := b.order(1, 50)
	want := func(when string, to ...task.PeerID) {
		t.Helper()
		if got := b.w.HandsTo(); !slices.Equal(got, to) {
			t.Errorf("%s it hands over to %v, want %v", when, got, to)
		}
	}
	want("before")
	b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{order}})
	want("when it is ordered", order.To)
	again := b.order(1, 60)
	b.ack(&message.Ack{Epoch: 5, Moves: []message.MoveOrder{again}}) // while the first is under way
	if _, n := lastOf[message.HandOver](b); n != 0 {
		t.Error("two hand-overs of one task are under way")
	}
	if r := b.says(); len(r.Unmoved) != 1 || r.Unmoved[0].As != again.As {
		t.Errorf("of the second it says %+v", r.Unmoved)
	}
	want("while another is ordered", order.To)
	b.step(message.Ended{Task: b.task(1), Attempt: order.Attempt,
		Result: task.Result{Task: b.task(1), Outcome: task.Interrupted}, Handed: &message.Handed{}})
	want("when it is done", order.To)
	b.ack(&message.Ack{Epoch: 5, Ended: []message.AttemptName{{Task: b.task(1), Attempt: order.Attempt}}})
	want("when a leader knows")
}

// TestConfig: a configuration is refused where a number is none, by its name.
func TestConfig(t *testing.T) {
	good := Default()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Config){
		"IdleReportEvery": func(c *Config) { c.IdleReportEvery = 0 },
		"KeepJob":         func(c *Config) { c.KeepJob = -1 },
		"TellWithin":      func(c *Config) { c.TellWithin = -1 },
		"MaxUnackedBytes": func(c *Config) { c.MaxUnackedBytes = 0 },
	} {
		bad := good
		change(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
