package scheduler

import (
	"bytes"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// ran is a leader with a job of six tasks, of which the submitter holds the first
// three, and their rows are gone.
type ran struct {
	c     *Coordinator
	job   *job
	owner task.PeerID
}

func newRan(t *testing.T, change func(*task.Job)) *ran {
	t.Helper()
	_, self := schedtest.Identity(0)
	key, owner := schedtest.Identity(1)
	rec := schedtest.Job(t, key, 6, change)
	r := &ran{c: NewCoordinator(self, Default(), 7), owner: owner}
	r.submit(rec, message.Range{From: 0, To: 3})
	r.job = r.c.table.jobs[rec.ID()]
	return r
}

func (r *ran) submit(rec task.Record, have ...message.Range) []message.Effect {
	effects := r.c.Step(schedtest.Start, &message.Received{From: r.owner,
		Message: &message.Message{Submit: &message.Submit{Record: rec, Have: have}}})
	for _, e := range effects {
		if f, ok := e.(message.Fetch); ok {
			r.c.Step(schedtest.Start, message.Fetched{Key: f.Key})
		}
	}
	return effects
}

// tell has a replica tell facts of the job.
func (r *ran) tell(session uint64, f *ledger.Facts, now time.Time) {
	value, err := f.Encode()
	if err != nil {
		panic(err)
	}
	_, from := schedtest.Identity(5)
	r.c.Step(now, &message.Received{From: from, Message: &message.Message{Known: &message.Known{
		Epoch: 7, Session: session, Seq: 1, Pairs: []message.Pair{{Key: ledger.FactsKey(r.job.id), Value: value}},
	}}})
}

// TestOnlyTheSubmitterEnds: a copy that says that a job is over is believed if the
// submitter signed it, or the deadline passed.
func TestOnlyTheSubmitterEnds(t *testing.T) {
	key, _ := schedtest.Identity(1)
	other, _ := schedtest.Identity(2)
	for _, tt := range []struct {
		name  string
		facts func(id task.JobID) *ledger.Facts
		after time.Duration
		over  bool
	}{
		{"signed", func(id task.JobID) *ledger.Facts { return &ledger.Facts{Cancel: task.SignCancel(id, key)} }, 0, true},
		{"by another", func(id task.JobID) *ledger.Facts { return &ledger.Facts{Cancel: task.SignCancel(id, other)} }, 0,
			false},
		{"of another job", func(task.JobID) *ledger.Facts { return &ledger.Facts{Cancel: task.SignCancel("another", key)} },
			0, false},
		{"not signed", func(task.JobID) *ledger.Facts { return &ledger.Facts{Cancel: make([]byte, 64)} }, 0, false},
		{"ending, by another", func(id task.JobID) *ledger.Facts { return &ledger.Facts{Ending: task.SignCancel(id, other)} },
			0, false},
		{"expired", func(task.JobID) *ledger.Facts { return &ledger.Facts{Expired: true} }, 0, false},
		{"expired, in time", func(task.JobID) *ledger.Facts { return &ledger.Facts{Expired: true} }, time.Hour, true},
		{"beyond the job", func(task.JobID) *ledger.Facts { return &ledger.Facts{Done: ledger.Set{{From: 0, To: 7}}} }, 0,
			false},
		{"far ahead", func(task.JobID) *ledger.Facts {
			return &ledger.Facts{Done: ledger.Set{{From: 0, To: 6}}, Delivery: maxLeap + 1}
		}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRan(t, func(j *task.Job) { j.Deadline = time.Hour })
			facts := tt.facts(r.job.id)
			r.tell(1, facts, schedtest.Start.Add(tt.after))
			if over := r.job.state == jobOver; over != tt.over {
				t.Errorf("the leader takes the job for over: %v", over)
			}
			_, self := schedtest.Identity(4)
			f := NewReplica(self, Default())
			f.now = schedtest.Start.Add(tt.after)
			j, err := f.ledger.Add(r.job.ledger.Record)
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.merge(message.Pair{Key: ledger.FactsKey(r.job.id), Value: schedtest.Encoded(t, facts)})
			if over := j.Over(); over != tt.over {
				t.Errorf("a follower takes the job for over: %v (%v)", over, err)
			}
		})
	}
}

// TestFinalIsSigned: that a job is over for its submitter is in the ledger with
// its signature; without it the job is over at this leader alone.
func TestFinalIsSigned(t *testing.T) {
	key, _ := schedtest.Identity(1)
	for _, signed := range []bool{true, false} {
		r := newRan(t, nil)
		g := &message.Got{Job: r.job.id, Final: true}
		if signed {
			g.Signature = task.SignCancel(r.job.id, key)
		}
		r.c.Step(schedtest.Start, &message.Received{From: r.owner, Message: &message.Message{Got: g}})
		if r.job.state != jobOver || r.job.summary().State != message.JobCancelled || r.job.ledger.Over() != signed {
			t.Errorf("signed %v: %s, in the ledger %v", signed, r.job.summary().State, r.job.ledger.Over())
		}
	}
}

// TestSubmitterLacks: what the submitter lacks is run again, whatever a copy said
// of it, and copies that said so before do not bring it back.
func TestSubmitterLacks(t *testing.T) {
	r := newRan(t, nil)
	lie := &ledger.Facts{Done: ledger.Set{{From: 0, To: 6}}}
	r.tell(1, lie, schedtest.Start)
	if r.job.state != jobOver || r.job.done != 6 {
		t.Fatalf("the copy was not believed: %+v", r.job.summary())
	}
	for n, session := range []uint64{2, 3} {
		r.submit(r.job.ledger.Record, message.Range{From: 0, To: 1}, message.Range{From: 2, To: 3})
		s := r.job.summary()
		if r.job.state != jobOpen || s.Done != 2 || s.Waiting != 4 || r.job.wait.cursor != 1 ||
			r.job.ledger.Facts.Delivery != 1 {
			t.Fatalf("round %d: %+v, cursor %d, delivery %d", n, s, r.job.wait.cursor, r.job.ledger.Facts.Delivery)
		}
		r.tell(session, lie, schedtest.Start)
	}
	// Another copy of the leader's takes the newer delivery over the older.
	o := &ledger.Facts{Done: ledger.Set{{From: 0, To: 6}}}
	if o.Merge(&r.job.ledger.Facts); !bytes.Equal(schedtest.Encoded(t, o), schedtest.Encoded(t, &r.job.ledger.Facts)) {
		t.Errorf("a copy makes of it %+v", o)
	}
}

// TestSubmitterLacksWhatIsHere: a result that is still in the ledger is brought
// again, not made again.
func TestSubmitterLacksWhatIsHere(t *testing.T) {
	r := newRan(t, nil)
	key, worker := schedtest.Identity(3)
	res := task.Result{Task: task.TaskID{Job: r.job.id, Index: 4}, Outcome: task.Completed}
	if err := res.Sign(key); err != nil {
		t.Fatal(err)
	}
	r.c.Step(schedtest.Start, &message.Received{From: worker,
		Message: &message.Message{Report: &message.Report{Ended: []message.Ending{{Attempt: message.Attempt{Epoch: 3,
			Seq: 1}, Result: res}}}}})
	all := []message.Range{{From: 0, To: 3}, {From: 4, To: 5}}
	r.submit(r.job.ledger.Record, all...)
	if !r.job.ledger.Delivered(4) || r.job.done != 4 {
		t.Fatalf("not delivered: %+v", r.job.summary())
	}
	var brought []uint64
	for _, e := range r.submit(r.job.ledger.Record, all[:1]...) {
		if s, ok := e.(message.Send); ok && s.Message.Progress != nil {
			for _, t := range s.Message.Progress.Tasks {
				brought = append(brought, t.Index)
			}
		}
	}
	if len(brought) != 1 || brought[0] != 4 || r.job.done != 4 {
		t.Errorf("brought %v, %+v", brought, r.job.summary())
	}
}

// TestFactsOfFormerDeliveries: what a copy calls delivered of a delivery that is past takes
// nobody's lease away, and leaves no task that nobody runs and that does not wait.
func TestFactsOfFormerDeliveries(t *testing.T) {
	r := newRan(t, nil)
	_, worker := schedtest.Identity(3)
	r.submit(r.job.ledger.Record) // it lacks all: another delivery begins
	if r.job.ledger.Facts.Delivery != 1 {
		t.Fatalf("delivery %d", r.job.ledger.Facts.Delivery)
	}
	r.c.Step(schedtest.Start, message.MemberSeen{Advert: overlay.Advert{Peer: worker, Slots: 6, Memory: 1 << 40}})
	r.c.Step(schedtest.Start, &message.Received{From: worker, Message: &message.Message{Report: &message.Report{Epoch: 7,
		Slots: 6, Full: true}}})
	before := len(r.job.live)
	if before == 0 {
		t.Fatal("nobody has a lease")
	}
	r.tell(1, &ledger.Facts{Done: ledger.Set{{From: 0, To: 6}}}, schedtest.Start)
	if n := len(r.job.live); n != before {
		t.Errorf("%d of %d leases are left", n, before)
	}
}
