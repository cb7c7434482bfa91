package schedtest

import (
	"slices"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// EveryMessage has one message of each kind.
func EveryMessage(tb testing.TB) []message.Message {
	s := newSample(tb)
	return slices.Concat(s.ofSubmitters(), s.ofWorkers(), s.ofMoves(), s.ofReplicas(tb))
}

// A sample is what the messages speak of.
type sample struct {
	sign   func(task.JobID) []byte // a cancel
	id     task.PeerID
	rec    task.Record
	name   task.TaskID
	a      message.Attempt // of the task
	later  message.Attempt // what it becomes elsewhere
	result task.Result
}

func newSample(tb testing.TB) *sample {
	key, id := Identity(1)
	s := &sample{id: id, rec: Job(tb, key, 3, Seal), a: message.Attempt{Epoch: 3, Seq: 4},
		later: message.Attempt{Epoch: 3, Seq: 5}}
	s.sign = func(job task.JobID) []byte { return task.SignCancel(job, key) }
	s.name = task.TaskID{Job: s.rec.ID(), Index: 2}
	s.result = task.Result{Task: s.name, Outcome: task.Completed, Outputs: []task.Output{
		{Name: "stdout", CID: task.RawCID([]byte("x")), Size: 1, Inline: []byte("x")},
	}}
	if err := s.result.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return s
}

// ofSubmitters are those between a submitter and its leader.
func (s *sample) ofSubmitters() []message.Message {
	job := s.rec.ID()
	return []message.Message{
		{Submit: &message.Submit{Record: s.rec, Have: []message.Range{{From: 1, To: 2}}}},
		{Submit: &message.Submit{Record: s.rec, Accepted: true, Delivery: 3, Signature: s.sign(job),
			Again: []message.Again{{Index: 2, Not: []task.PeerID{s.id}}}}},
		{Accepted: &message.Accepted{Job: job, Error: "no", RetryAfter: time.Second}},
		{Accepted: &message.Accepted{Job: job, Held: &task.Held{Delivery: 2, Count: 1, Signature: s.sign(job)}}},
		{Progress: &message.Progress{Job: job, Summary: message.JobSummary{State: message.JobDone, Total: 3},
			Tasks: []message.TaskSummary{{
				Index: 2, Results: []task.Result{s.result},
				Attempts: []message.AttemptLog{{Attempt: s.a, Worker: s.id, Start: task.At(Start), Outcome: "completed"}},
			}}}},
		{Got: &message.Got{Job: job, Have: []message.Range{{From: 0, To: 3}}, Delivery: 3, Held: s.sign(job)}},
		{Got: &message.Got{Job: job, Final: true, Lacking: []message.Range{{From: 0, To: 3}},
			Refused: []task.PeerID{s.id}, Again: []message.Again{{Index: 1, Only: []task.PeerID{s.id}}}}},
		{Cancel: &message.Cancel{Job: job, Signature: s.sign(job)}},
		{Progress: &message.Progress{Job: job, Unknown: []message.Range{{From: 1, To: 3}}}},
		{Made: &message.Made{Job: job, Tasks: []message.MadeTask{{Index: 1, Outputs: s.result.Outputs},
			{Index: 2, Failed: true}}}},
	}
}

// ofWorkers are those between a leader and a worker, but for hand-overs.
func (s *sample) ofWorkers() []message.Message {
	saved := message.Checkpoint{CID: task.RawCID([]byte("state")), Fuel: 7, CPU: time.Second, Voucher: &task.Voucher{
		Worker: s.id, Receipt: task.Receipt{Leader: s.id, Epoch: 3, Seq: 4, Issued: 5, Since: 2}, Signature: []byte("s")}}
	return []message.Message{
		{Place: &message.Place{Epoch: 3,
			Leases:  []message.Lease{{Task: s.name, Attempt: s.a, TTL: time.Second, Left: task.MaxDuration}},
			Holders: map[task.JobID][]task.PeerID{s.rec.ID(): {s.id}},
			Keys:    map[task.JobID][]byte{s.rec.ID(): s.rec.Key}}},
		{Report: &message.Report{Epoch: 3, Slots: 4, Held: []message.Held{{Task: s.name, Attempt: s.a}},
			Ended:   []message.Ending{{Attempt: s.a, Result: s.result}},
			Refused: []message.Refusal{{Task: s.name, Attempt: s.a, Reason: "no"}}, Full: true}},
		{Report: &message.Report{
			Epoch: 3, Held: []message.Held{{Task: s.name, Attempt: s.a, Running: true, Fixed: true, Bad: saved.Voucher}},
			Withheld: 35,
			Saved: []message.SavedState{{Task: s.name, Attempt: s.a, Checkpoint: saved,
				Marks: []message.Mark{{Fuel: 1, State: [32]byte{1}}}}}, Full: true,
		}},
		{Ack: &message.Ack{Epoch: 3, Drop: []message.AttemptName{{Task: s.name, Attempt: s.a, Reason: message.DropMoved}}}},
		{Ack: &message.Ack{Epoch: 3, Ended: []message.AttemptName{{Task: s.name, Attempt: s.a}},
			Drop: []message.AttemptName{{Task: s.name, Attempt: s.a, Reason: message.DropRecall}}}},
	}
}

// ofMoves are what a leader and the two workers of a hand-over say.
func (s *sample) ofMoves() []message.Message {
	return []message.Message{
		{Ack: &message.Ack{Epoch: 3, Moves: []message.MoveOrder{{Task: s.name, Attempt: s.a, To: s.id, As: s.later,
			Urgent: true}}}},
		{Place: &message.Place{Epoch: 3, Leases: []message.Lease{{Task: s.name, Attempt: s.later, TTL: time.Second,
			Await: &message.Await{Worker: s.id, Attempt: s.a}}}, Holders: map[task.JobID][]task.PeerID{}}},
		{Report: &message.Report{
			Epoch: 3, Slots: 1, Full: true, Hands: true,
			Unmoved: []message.Unmoved{{Task: s.name, Attempt: s.a, As: s.later, Reason: "refused"}},
			Held: []message.Held{{Task: s.name, Attempt: s.later, Awaiting: true, After: s.a},
				{Task: s.name, Attempt: s.a, Running: true, Moving: s.later}},
			Ended: []message.Ending{{Attempt: s.a, Result: s.result,
				Handed: &message.Handed{To: s.id, As: s.later, Bytes: 1 << 20, State: 1 << 26, Rounds: 3, Took: time.Second,
					Down: time.Millisecond}}},
		}},
	}
}

// runs is a copy of two tasks' rows.
func (s *sample) runs(row []byte) *message.Copy {
	c := &message.Copy{Epoch: 3, Session: 9, Seq: 2}
	var w message.RowWriter
	for i := range uint64(2) {
		w.Add(task.TaskID{Job: s.name.Job, Index: s.name.Index + i}, row)
	}
	c.Runs, c.Names = w.Take()
	return c
}

// ofReplicas are those between a leader and who copies its ledger.
func (s *sample) ofReplicas(tb testing.TB) []message.Message {
	row, facts := new(ledger.Row), &ledger.Facts{Done: ledger.Set{{From: 0, To: 1}}}
	row.AddResult(s.a, s.result)
	job := s.rec.ID()
	record := message.Pair{Key: ledger.JobKey(job), Value: s.rec.Whole()}
	rowPair := message.Pair{Key: ledger.RowKey(s.name), Value: Encoded(tb, row)}
	return []message.Message{
		{Known: &message.Known{Epoch: 3, Session: 9, Seq: 1,
			Jobs: []message.JobDigest{{Job: job, Digest: [message.DigestLen]byte{1, 2}}}}},
		{Known: &message.Known{Epoch: 3, Session: 9, Seq: 2,
			Pairs: []message.Pair{record, {Key: ledger.FactsKey(job), Value: Encoded(tb, facts)}, rowPair}}},
		{Known: &message.Known{Epoch: 3, Session: 9, Seq: 3, Last: true, Runs: true}},
		{Wanted: &message.Wanted{Epoch: 3, Session: 9, Seq: 1, Jobs: []task.JobID{job}, Done: true, Follow: true}},
		{Copy: &message.Copy{
			Epoch: 3, Session: 9, Seq: 1, Pairs: []message.Pair{record, rowPair}, Gone: []task.JobID{job},
			Live: []message.LiveLeases{{Task: s.name,
				Leases: []message.LiveLease{{Worker: s.id, Attempt: s.a, Start: task.At(Start), To: s.id, As: s.later}}}},
			Hold: []message.Hold{{Name: message.HoldName{Task: s.name, Kind: message.HoldOutputs},
				CIDs: []task.CID{s.result.Outputs[0].CID}, Holders: []task.PeerID{s.id}}},
		}},
		{Copy: s.runs(rowPair.Value)},
		{Copied: &message.Copied{Epoch: 3, Session: 9, Seq: 1, Gap: true,
			Held: []message.HeldBlocks{{Name: message.HoldName{Task: s.name, Kind: message.HoldJob}, Err: "gone"}}}},
		{Retired: &message.Retired{Session: 9, Seq: 1,
			Jobs:  []message.JobDigest{{Job: job, Digest: [message.DigestLen]byte{1, 2}}},
			Pairs: []message.Pair{record, rowPair}}},
		{Kept: &message.Kept{Session: 9, Seq: 1, Lacking: []task.JobID{job}}},
		{Wrong: &message.Wrong{Result: s.result, Why: "stdout has other bytes here"}},
	}
}

// Encoded returns the durable form of a row, or of facts.
func Encoded(tb testing.TB, v interface{ Encode() ([]byte, error) }) []byte {
	tb.Helper()
	b, err := v.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
