package scheduler

import (
	"bytes"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// copies has the leader tell more.
func (d *told) copies(pairs ...message.Pair) []message.Effect {
	s := &d.r.session
	return d.r.Step(schedtest.Start, &message.Received{From: d.leader, Message: &message.Message{Copy: &message.Copy{
		Epoch: 5, Session: s.id, Seq: s.taken + 1, Pairs: pairs}}})
}

// onDisk returns what the effects write and erase under a row's key.
func (d *told) onDisk(effects []message.Effect) (values [][]byte) {
	for _, e := range effects {
		if e, ok := e.(message.Persist); ok && e.Key == coordinatorPrefix+ledger.RowKey(d.id) {
			values = append(values, e.Value)
		}
	}
	return values
}

func asItShouldBe(*task.Result, *task.Receipt) {}

func unchanged(*task.Result) {}

// A row that is told is on the disk as it came, and nobody opens it when its task is delivered
// first: then it is off the disk.
func TestDeliveredUnread(t *testing.T) {
	d := newTold(t, asItShouldBe, unchanged)
	value := d.r.unread.rows[d.rec.ID()][0]
	if n := d.r.LedgerCounts(); n.Rows != 1 || n.Bytes < int64(len(value)) {
		t.Errorf("the copy is said to have %+v", n)
	}
	f := said(t, d.rec.ID(), 0, 1, ledger.Set{{From: 0, To: 1}})
	got := d.onDisk(d.copies(message.Pair{Key: ledger.FactsKey(d.rec.ID()), Value: schedtest.Encoded(t, f)}))
	if len(got) != 1 || got[0] != nil || d.r.unread.count != 0 || len(d.r.ledger.Jobs[d.rec.ID()].Rows) != 0 {
		t.Errorf("written %q; %d unread", got, d.r.unread.count)
	}
}

// What is told again of a task is merged with what was left unread.
func TestUnreadMerges(t *testing.T) {
	d := newTold(t, asItShouldBe, unchanged)
	workerKey, worker := schedtest.Identity(3)
	leaderKey, leader := schedtest.Identity(1)
	receipt, err := task.NewReceipt(leaderKey, leader, d.id, worker, task.Receipt{Epoch: 5, Seq: 2})
	if err != nil {
		t.Fatal(err)
	}
	res := task.Result{Task: d.id, Outcome: task.Completed, Receipt: receipt}
	if err := res.Sign(workerKey); err != nil {
		t.Fatal(err)
	}
	row := new(ledger.Row)
	row.AddResult(message.Attempt{Epoch: 5, Seq: 2}, res)
	got := d.onDisk(d.copies(message.Pair{Key: ledger.RowKey(d.id), Value: schedtest.Encoded(t, row)}))
	if d.r.unread.count != 0 || len(d.r.ledger.Jobs[d.rec.ID()].Rows[0].Results) != 2 || len(got) != 1 {
		t.Fatalf("%d unread; %d written", d.r.unread.count, len(got))
	}
	if row, err := ledger.DecodeRow(got[0]); err != nil || len(row.Results) != 2 {
		t.Errorf("the disk has %+v, %v", row, err)
	}
}

// A leader that tells what is no row is found out when it is read, and nothing of it stays: a copy
// never has what does not decode, and whoever asks outside a Step sees none of it.
func TestUnreadable(t *testing.T) {
	for name, value := range map[string][]byte{
		"no CBOR": {0xff}, "another thing": {0x01}, "cut off": {0xa1, 0x01},
		"a list too long": bytes.Repeat([]byte{0x9a}, 40),
	} {
		d := newTold(t, asItShouldBe, unchanged)
		id := task.TaskID{Job: d.id.Job, Index: 1}
		d.id = id
		d.copies(message.Pair{Key: ledger.RowKey(id), Value: value})
		if d.r.unread.count != 2 {
			t.Fatalf("%s: %d unread", name, d.r.unread.count)
		}
		want := d.r.ledger.Digest()
		if d.r.Roots(); d.r.unread.count != 0 || d.r.ledger.Jobs[id.Job].Rows[1] != nil {
			t.Errorf("%s: it is in the copy", name)
		}
		if d.r.Digest() == want {
			t.Errorf("%s: the row that is one is not in the copy", name)
		}
		at, ok := d.r.NextWake()
		if !ok || at.After(schedtest.Start) {
			t.Fatalf("%s: what follows waits until %v", name, at)
		}
		effects := d.r.Step(at, message.Wake{})
		refused := 0
		for _, e := range effects {
			if e, ok := e.(message.Decided); ok && e.Action == "refused" {
				refused++
			}
		}
		if got := d.onDisk(effects); len(got) != 1 || got[0] != nil || refused != 1 {
			t.Errorf("%s: written %q, refused %d", name, got, refused)
		}
	}
}

// A row is not left unread for longer than results are left unverified, and reading it costs no
// second write where the leader wrote what this node would.
func TestReadInTime(t *testing.T) {
	d := newTold(t, asItShouldBe, unchanged)
	d.r.Step(schedtest.Start.Add(vetAfter-time.Nanosecond), message.Wake{})
	if d.r.unread.count != 1 {
		t.Error("it is read before its time")
	}
	got := d.onDisk(d.r.Step(schedtest.Start.Add(vetAfter), message.Wake{}))
	if d.r.unread.count != 0 || len(d.r.ledger.Jobs[d.rec.ID()].Rows) != 1 || len(got) != 0 {
		t.Errorf("%d unread, %d written", d.r.unread.count, len(got))
	}
}

// Rows that are told by runs are taken like pairs; a leader that names what it has not said is told all
// that the copy has, in another session.
func TestRuns(t *testing.T) {
	d := newTold(t, asItShouldBe, unchanged)
	value := d.r.unread.rows[d.rec.ID()][0]
	copies := func(c *message.Copy) []message.Effect {
		c.Epoch, c.Session, c.Seq = 5, d.r.session.id, d.r.session.taken+1
		return d.r.Step(schedtest.Start, &message.Received{From: d.leader, Message: &message.Message{Copy: c}})
	}
	var w message.RowWriter
	for i := range uint64(2) { // the second has no names of its own
		c := &message.Copy{}
		w.Add(task.TaskID{Job: d.rec.ID(), Index: 1 + i}, value)
		c.Runs, c.Names = w.Take()
		copies(c)
		if got := d.r.unread.rows[d.rec.ID()][1+i]; !bytes.Equal(got, value) || (len(c.Names) == 0) != (i == 1) {
			t.Errorf("the row of task %d is %x, with %d names", 1+i, got, len(c.Names))
		}
	}
	was := d.r.session.id
	effects := copies(&message.Copy{Runs: []message.RowRun{{Job: d.rec.ID(), Rows: [][]byte{{0, 99, 0, 0}}}}})
	known, copied := 0, 0
	for _, e := range effects {
		if e, ok := e.(message.Send); ok && e.Message.Known != nil {
			known++
		} else if ok && e.Message.Copied != nil {
			copied++
		}
	}
	if d.r.session.id <= was || known != 1 || copied != 0 || d.r.Synced() {
		t.Errorf("session %d after %d, %d known, %d copied", d.r.session.id, was, known, copied)
	}
}
