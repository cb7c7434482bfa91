package scheduler

import (
	"maps"
	"slices"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// said are facts of what a submitter holds, signed.
func said(t *testing.T, id task.JobID, signer int, delivery uint64, held ledger.Set) *ledger.Facts {
	t.Helper()
	key, _ := schedtest.Identity(signer)
	h, err := ledger.HeldOf(delivery, held)
	if err != nil {
		t.Fatal(err)
	}
	h.Sign(id, key)
	f := &ledger.Facts{}
	f.Deliver(delivery, held, nil, h.Signature)
	return f
}

// says has the job's submitter say what it holds, signed, by an offer or a Got.
func (r *ran) says(t *testing.T, offer bool, delivery uint64, held ...message.Range) []message.Effect {
	f := said(t, r.job.id, 1, delivery, held)
	m := message.Message{Got: &message.Got{Job: r.job.id, Have: held, Delivery: delivery, Held: f.Signed}}
	if offer {
		m = message.Message{Submit: &message.Submit{Record: r.job.ledger.Record, Have: held, Delivery: delivery,
			Signature: f.Signed}}
	}
	return r.c.Step(schedtest.Start, &message.Received{From: r.owner, Message: &m})
}

// newSigned is newRan of a leader that asks for signatures, whose submitter has given one.
func newSigned(t *testing.T, change func(*task.Job)) *ran {
	t.Helper()
	r := newRan(t, change)
	r.c.cfg.Signed = true
	r.says(t, true, 0, message.Range{From: 0, To: 3})
	return r
}

// TestDeliveredIsSigned: neither a leader nor a follower takes tasks for delivered because a
// copy says so: their submitter's signature does it.
func TestDeliveredIsSigned(t *testing.T) {
	all := ledger.Set{{From: 0, To: 6}}
	for name, tt := range map[string]struct {
		facts func(id task.JobID) *ledger.Facts
		want  uint64 // tasks delivered, with the leader, which has three
	}{
		"signed": {func(id task.JobID) *ledger.Facts { return said(t, id, 1, 0, all) }, 6},
		"signed, fewer": {func(id task.JobID) *ledger.Facts { return said(t, id, 1, 0, ledger.Set{{From: 4, To: 6}}) },
			3},
		"signed, a later delivery": {func(id task.JobID) *ledger.Facts {
			return said(t, id, 1, 1, ledger.Set{{From: 4, To: 6}})
		}, 2},
		"told":           {func(task.JobID) *ledger.Facts { return &ledger.Facts{Done: all} }, 3},
		"told as failed": {func(task.JobID) *ledger.Facts { return &ledger.Facts{Failed: all, Delivery: 9} }, 3},
		"by another":     {func(id task.JobID) *ledger.Facts { return said(t, id, 2, 0, all) }, 3},
		"of another job": {func(task.JobID) *ledger.Facts { return said(t, "another", 1, 0, all) }, 3},
		"with one more": {func(id task.JobID) *ledger.Facts {
			f := said(t, id, 1, 5, all[:0])
			f.Done = all
			return f
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSigned(t, nil)
			r.tell(1, tt.facts(r.job.id), schedtest.Start)
			if got := r.job.ledger.Facts.Held().Count(); got != tt.want || r.job.done != tt.want ||
				(r.job.state == jobOver) != (tt.want == 6) {
				t.Errorf("the leader takes %d tasks for delivered, %d for done", got, r.job.done)
			}
			_, self := schedtest.Identity(4)
			cfg := Default()
			cfg.Signed = true
			f := NewReplica(self, cfg)
			j, err := f.ledger.Add(r.job.ledger.Record)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if tt.want == 3 {
				want = 0 // what the follower has
			}
			if name == "signed, fewer" {
				want = 2
			}
			_, err = f.merge(message.Pair{Key: ledger.FactsKey(r.job.id), Value: schedtest.Encoded(t, tt.facts(r.job.id))})
			if got := j.Facts.Held().Count(); got != want {
				t.Errorf("a follower takes %d tasks for delivered (%v)", got, err)
			}
		})
	}
}

// TestSubmitterIsReminded: a submitter that came back with an older disk is shown the later
// word that it has given, and begins another delivery; nothing of it is made up.
func TestSubmitterIsReminded(t *testing.T) {
	r := newSigned(t, nil)
	var shown *task.Held
	for _, e := range r.says(t, true, 0, message.Range{From: 1, To: 2}) {
		if e, ok := e.(message.Send); ok && e.Message.Accepted != nil {
			shown = e.Message.Accepted.Held
		}
	}
	if n := r.job.ledger.Facts.Held().Count(); n != 3 || shown == nil || shown.Count != 3 {
		t.Fatalf("an earlier word stands for a later one: %d delivered, %+v is shown", n, shown)
	}
	key, owner := schedtest.Identity(1)
	cfg := submitter.Default()
	cfg.Signs = true
	for name, tt := range map[string]struct {
		change func(h *task.Held)
		want   uint64
	}{
		"its own": {func(*task.Held) {}, 1},
		"forged":  {func(h *task.Held) { h.Delivery = 1 << 20 }, 0},
		"another's": {func(h *task.Held) {
			other, _ := schedtest.Identity(2)
			h.Delivery = 1 << 20
			h.Sign(r.job.id, other)
		}, 0},
	} {
		s := submitter.New(owner, message.DefaultTiming(), cfg, key)
		s.Step(schedtest.Start, message.LeaderChanged{Leader: r.c.self, Epoch: 7})
		s.Step(schedtest.Start, message.Offer{Record: r.job.ledger.Record})
		h := *shown
		tt.change(&h)
		said := s.Step(schedtest.Start, &message.Received{From: r.c.self,
			Message: &message.Message{Accepted: &message.Accepted{Job: r.job.id, Held: &h}}})
		said = append(said, s.Step(schedtest.Start.Add(time.Minute), message.Wake{})...)
		k := slices.IndexFunc(said, func(e message.Effect) bool {
			send, ok := e.(message.Send)
			return ok && send.Message.Submit != nil
		})
		if k < 0 || said[k].(message.Send).Message.Submit.Delivery != tt.want {
			t.Fatalf("%s: it says %+v", name, said)
		}
		if tt.want > 0 {
			again := said[k].(message.Send).Message
			r.c.Step(schedtest.Start, &message.Received{From: owner, Message: &again})
			if f := r.job.ledger.Facts; f.Held().Count() != 0 || f.Delivery != 1 || r.job.state != jobOpen {
				t.Errorf("after another delivery began: %+v", f)
			}
		}
	}
}

// TestSubmitterComesBackOlder: a submitter whose disk is as it was before it had any results
// gets them again, with the group of coordinators as it is.
func TestSubmitterComesBackOlder(t *testing.T) {
	for _, seed := range []uint64{8, 9, 14} { // signed, and not
		s := calm(t, seed, 5)
		owner := s.nodes[4]
		s.work = 3 * time.Second
		id := owner.submit(12, nil)
		if !s.run(time.Minute, func() bool { return owner.sub.Accepted(id) }) {
			t.Fatalf("not accepted: %s", s.describe())
		}
		disk := maps.Clone(owner.disk)
		if !s.run(time.Minute, func() bool {
			return owner.sub.Held(id).Count() >= 4
		}) {
			t.Fatalf("nothing is delivered: %s", s.describe())
		}
		if j, _ := owner.sub.Job(id); j.Final {
			t.Fatal("it is over already")
		}
		owner.crash()
		owner.disk, owner.held = disk, map[string]bool{}
		owner.boot()
		if !s.run(4*time.Minute, func() bool { return owner.final(id) }) {
			t.Fatalf("the job does not end: %s", s.describe())
		}
		for i := range uint64(12) {
			s.checkResult(owner, task.TaskID{Job: id, Index: i})
		}
		if l := s.leader(); l.coord.cfg.Signed && l.coord.table.jobs[id].ledger.Facts.Delivery == 0 {
			t.Error("no other delivery began")
		}
	}
}
