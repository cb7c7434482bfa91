package scheduler

import (
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// told is a replica that has just been told of a result of a job's first task, by the leader
// whose lease it was, or so it is said: with what receipt, and changed how.
type told struct {
	r      *Replica
	rec    task.Record
	id     task.TaskID
	leader task.PeerID
}

func newTold(t *testing.T, change func(res *task.Result, other *task.Receipt), after func(*task.Result)) *told {
	t.Helper()
	key, self := schedtest.Identity(0)
	leaderKey, leader := schedtest.Identity(1)
	rec := schedtest.Job(t, key, 3, nil)
	cfg := Default()
	cfg.Key = key
	id, other := task.TaskID{Job: rec.ID()}, task.TaskID{Job: rec.ID(), Index: 1}
	receipt := func(of task.TaskID) *task.Receipt {
		r, err := task.NewReceipt(leaderKey, leader, of, self, task.Receipt{Epoch: 5, Seq: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := NewReplica(self, cfg)
	r.Step(schedtest.Start, message.LeaderChanged{Leader: leader, Epoch: 5})
	r.session.state = following
	res := task.Result{Task: id, Outcome: task.Completed, Receipt: receipt(id)}
	change(&res, receipt(other))
	if err := res.Sign(key); err != nil {
		t.Fatal(err)
	}
	after(&res)
	row := new(ledger.Row)
	row.AddResult(message.Attempt{Epoch: 5, Seq: 1}, res)
	r.Step(schedtest.Start, &message.Received{From: leader, Message: &message.Message{Copy: &message.Copy{Epoch: 5,
		Session: r.session.id, Seq: 1, Pairs: []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()},
			{Key: ledger.RowKey(id), Value: schedtest.Encoded(t, row)}}}}})
	if n := r.unread.count; n != 1 {
		t.Fatalf("%d rows are kept as the leader told them, want one", n)
	}
	return &told{r, rec, id, leader}
}

// TestCopiesAreVerified: a follower keeps no result that others would refuse, though its leader
// tells of it: not for long, and never when the copy is to be more than that leader's word.
func TestCopiesAreVerified(t *testing.T) {
	_, another := schedtest.Identity(2)
	moments := map[string]func(d *told) *ledger.Row{
		"a while later": func(d *told) *ledger.Row {
			at, ok := d.r.NextWake()
			if !ok || at.After(schedtest.Start.Add(vetAfter)) {
				t.Fatalf("it is looked at after %v", at.Sub(schedtest.Start))
			}
			d.r.Step(at, message.Wake{})
			return d.r.ledger.Jobs[d.rec.ID()].Rows[0]
		},
		"following another": func(d *told) *ledger.Row {
			d.r.Step(schedtest.Start, message.LeaderChanged{Leader: another, Epoch: 6})
			return d.r.ledger.Jobs[d.rec.ID()].Rows[0]
		},
		"leading": func(d *told) *ledger.Row {
			c, _ := d.r.Lead(schedtest.Start, 6)
			return c.ledger.Jobs[d.rec.ID()].Rows[0]
		},
		"told to forget": func(d *told) *ledger.Row {
			d.r.Step(schedtest.Start, &message.Received{From: d.leader, Message: &message.Message{Copy: &message.Copy{
				Epoch: 5, Session: d.r.session.id, Seq: 2, Gone: []task.JobID{d.rec.ID()}}}})
			return d.r.ledger.Jobs[d.rec.ID()].Rows[0]
		},
		"asked about the job": func(d *told) *ledger.Row {
			d.r.Step(schedtest.Start, &message.Received{From: another, Message: &message.Message{Retired: &message.Retired{
				Session: 1, Seq: 1, Jobs: []message.JobDigest{{Job: d.rec.ID()}}}}})
			return d.r.ledger.Jobs[d.rec.ID()].Rows[0]
		},
		"asked about the task": func(d *told) *ledger.Row {
			d.r.Step(schedtest.Start, &message.Received{From: another, Message: &message.Message{Retired: &message.Retired{
				Session: 1, Seq: 1, Pairs: []message.Pair{{Key: ledger.RowKey(d.id)}}}}})
			return d.r.ledger.Jobs[d.rec.ID()].Rows[0]
		},
		"restarted": func(d *told) *ledger.Row {
			pairs, err := d.r.allRead().Pairs()
			if err != nil {
				t.Fatal(err)
			}
			own := map[string][]byte{}
			for k, v := range pairs {
				own[coordinatorPrefix+k] = v
			}
			r := NewReplica(d.r.self, d.r.cfg)
			if _, err := r.Restore(own); err != nil {
				t.Fatal(err)
			}
			r.Step(schedtest.Start, message.Wake{})
			return r.ledger.Jobs[d.rec.ID()].Rows[0]
		},
	}
	same := func(*task.Result, *task.Receipt) {}
	none := func(*task.Result) {}
	for moment, then := range moments {
		for name, tt := range map[string]struct {
			change func(*task.Result, *task.Receipt)
			after  func(*task.Result)
			kept   bool
		}{
			"as it should be":     {same, none, true},
			"without a receipt":   {func(r *task.Result, _ *task.Receipt) { r.Receipt = nil }, none, false},
			"of another lease":    {func(r *task.Result, other *task.Receipt) { r.Receipt = other }, none, false},
			"changed by somebody": {same, func(r *task.Result) { r.CPU++ }, false},
		} {
			row := then(newTold(t, tt.change, tt.after))
			if kept := row != nil && len(row.Results) > 0; kept != tt.kept {
				t.Errorf("%s, a result %s: kept %v", moment, name, kept)
			}
		}
	}
}

// What is taken out is taken out of the disk as well, and somebody may ask why.
func TestRefusedLater(t *testing.T) {
	d := newTold(t, func(r *task.Result, _ *task.Receipt) { r.Receipt = nil }, func(*task.Result) {})
	var why string
	persisted := false
	for _, e := range d.r.Step(schedtest.Start.Add(vetAfter), message.Wake{}) {
		switch e := e.(type) {
		case message.Decided:
			why = e.Reason
		case message.Persist:
			row, err := ledger.DecodeRow(e.Value)
			persisted = persisted || e.Key == coordinatorPrefix+ledger.RowKey(d.id) && err == nil && len(row.Results) == 0
		}
	}
	if !persisted || !strings.Contains(why, "nothing shows that") {
		t.Errorf("persisted: %v, because %q", persisted, why)
	}
	if at, ok := d.r.NextWake(); ok {
		t.Errorf("it wakes again after %v", at.Sub(schedtest.Start))
	}
}

// However many tasks are told at once, no Step looks at more than a batch, and all are looked
// at in the end.
func TestVettedInBatches(t *testing.T) {
	const tasks = 5 * vetBatch
	key, self := schedtest.Identity(0)
	rec := schedtest.Job(t, key, tasks, nil)
	r := NewReplica(self, Default())
	j, err := r.ledger.Add(rec)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(tasks) {
		j.Row(i)
		r.unvetted.mark(task.TaskID{Job: rec.ID(), Index: i}, schedtest.Start)
		r.unvetted.mark(task.TaskID{Job: rec.ID(), Index: i}, schedtest.Start) // once is enough
	}
	if r.Step(schedtest.Start.Add(vetAfter-time.Nanosecond), message.Wake{}); len(r.unvetted.marked) != tasks {
		t.Errorf("%d of %d are left before their time", len(r.unvetted.marked), tasks)
	}
	for left := tasks; left > 0; left -= vetBatch {
		at, ok := r.NextWake()
		if !ok || len(r.unvetted.marked) != left {
			t.Fatalf("%d are left, want %d; it wakes: %v", len(r.unvetted.marked), left, ok)
		}
		r.Step(at, message.Wake{})
	}
	if at, ok := r.NextWake(); ok || len(r.unvetted.marked) > 0 {
		t.Errorf("it wakes at %v, %d are left", at, len(r.unvetted.marked))
	}
}

// What its submitter holds is looked at by nobody, and wakes nobody.
func TestDeliveredIsNotVetted(t *testing.T) {
	d := newTold(t, func(r *task.Result, _ *task.Receipt) { r.Receipt = nil }, func(*task.Result) {})
	d.r.ledger.Jobs[d.rec.ID()].Facts.Done.Add(0)
	for _, e := range d.r.Step(schedtest.Start, message.Wake{}) {
		if e, ok := e.(message.Decided); ok {
			t.Errorf("%s: %s", e.Action, e.Reason)
		}
	}
	if at, ok := d.r.NextWake(); ok || len(d.r.unvetted.marked) > 0 {
		t.Errorf("it wakes after %v, %d are left", at.Sub(schedtest.Start), len(d.r.unvetted.marked))
	}
}
