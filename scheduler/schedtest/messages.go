package schedtest

import (
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// EveryMessage has one message of each kind.
func EveryMessage(tb testing.TB) []message.Message {
	key, id := Identity(1)
	rec := Job(tb, key, 3, nil)
	name := task.TaskID{Job: rec.ID(), Index: 2}
	a := message.Attempt{Epoch: 3, Seq: 4}
	r := task.Result{Task: name, Outcome: task.Completed, Outputs: []task.Output{
		{Name: "stdout", CID: task.RawCID([]byte("x")), Size: 1, Inline: []byte("x")},
	}}
	if err := r.Sign(key); err != nil {
		tb.Fatal(err)
	}
	row, facts := new(ledger.Row), &ledger.Facts{Done: ledger.Set{{From: 0, To: 1}}}
	row.AddResult(a, r)
	return []message.Message{
		{Submit: &message.Submit{Record: rec, Have: []message.Range{{From: 1, To: 2}}}},
		{Accepted: &message.Accepted{Job: rec.ID(), Error: "no", RetryAfter: time.Second}},
		{Progress: &message.Progress{Job: rec.ID(), Summary: message.JobSummary{State: message.JobDone, Total: 3},
			Tasks: []message.TaskSummary{{
				Index: 2, Results: []task.Result{r}, Attempts: []message.AttemptLog{{Attempt: a, Worker: id, Start: Start,
					Outcome: "completed"}},
			}}}},
		{Got: &message.Got{Job: rec.ID(), Have: []message.Range{{From: 0, To: 3}}}},
		{Cancel: &message.Cancel{Job: rec.ID(), Signature: task.SignCancel(rec.ID(), key)}},
		{Place: &message.Place{Epoch: 3, Leases: []message.Lease{{Task: name, Attempt: a, TTL: time.Second,
			Left: task.MaxDuration}}, Holders: map[task.JobID][]task.PeerID{rec.ID(): {id}}}},
		{Report: &message.Report{Epoch: 3, Slots: 4, Held: []message.Held{{Task: name, Attempt: a}},
			Ended:   []message.Ending{{Attempt: a, Result: r}},
			Refused: []message.Refusal{{Task: name, Attempt: a, Reason: "no"}}, Full: true}},
		{Report: &message.Report{
			Epoch: 3, Held: []message.Held{{Task: name, Attempt: a, Running: true, Fixed: true}}, Withheld: 35,
			Saved: []message.SavedState{{Task: name, Attempt: a,
				Checkpoint: message.Checkpoint{CID: task.RawCID([]byte("state")), Fuel: 7, CPU: time.Second}}}, Full: true,
		}},
		{Ack: &message.Ack{Epoch: 3, Drop: []message.AttemptName{{Task: name, Attempt: a, Reason: message.DropMoved}}}},
		{Ack: &message.Ack{Epoch: 3, Moves: []message.MoveOrder{{Task: name, Attempt: a, To: id,
			As: message.Attempt{Epoch: 3, Seq: 5}, Urgent: true}}}},
		{Place: &message.Place{Epoch: 3, Leases: []message.Lease{{Task: name, Attempt: message.Attempt{Epoch: 3, Seq: 5},
			TTL: time.Second, Await: &message.Await{Worker: id, Attempt: a}}}, Holders: map[task.JobID][]task.PeerID{}}},
		{Report: &message.Report{
			Epoch: 3, Slots: 1, Full: true, Hands: true,
			Unmoved: []message.Unmoved{{Task: name, Attempt: a, As: message.Attempt{Epoch: 3, Seq: 5}, Reason: "refused"}},
			Held: []message.Held{{Task: name, Attempt: message.Attempt{Epoch: 3, Seq: 5}, Awaiting: true, After: a},
				{Task: name, Attempt: a, Running: true, Moving: message.Attempt{Epoch: 3, Seq: 5}}},
			Ended: []message.Ending{{Attempt: a, Result: r,
				Handed: &message.Handed{To: id, As: message.Attempt{Epoch: 3, Seq: 5}, Bytes: 1 << 20, State: 1 << 26, Rounds: 3,
					Took: time.Second, Down: time.Millisecond}}},
		}},
		{Ack: &message.Ack{Epoch: 3, Ended: []message.AttemptName{{Task: name, Attempt: a}},
			Drop: []message.AttemptName{{Task: name, Attempt: a, Reason: message.DropRecall}}}},
		{Got: &message.Got{Job: rec.ID(), Final: true, Lacking: []message.Range{{From: 0, To: 3}}}},
		{Known: &message.Known{Epoch: 3, Session: 9, Seq: 1,
			Jobs: []message.JobDigest{{Job: rec.ID(), Digest: [message.DigestLen]byte{1, 2}}}}},
		{Known: &message.Known{Epoch: 3, Session: 9, Seq: 2,
			Pairs: []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()},
				{Key: ledger.FactsKey(rec.ID()), Value: facts.Encode()}, {Key: ledger.RowKey(name), Value: row.Encode()}}}},
		{Known: &message.Known{Epoch: 3, Session: 9, Seq: 3, Last: true}},
		{Wanted: &message.Wanted{Epoch: 3, Session: 9, Seq: 1, Jobs: []task.JobID{rec.ID()}, Done: true, Follow: true}},
		{Copy: &message.Copy{
			Epoch: 3, Session: 9, Seq: 1, Pairs: []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()},
				{Key: ledger.RowKey(name), Value: row.Encode()}}, Gone: []task.JobID{rec.ID()},
			Live: []message.LiveLeases{{Task: name,
				Leases: []message.LiveLease{{Worker: id, Attempt: a, Start: Start, To: id,
					As: message.Attempt{Epoch: 3, Seq: 5}}}}},
			Hold: []message.Hold{{Name: message.HoldName{Task: name, Kind: message.HoldOutputs},
				CIDs: []task.CID{r.Outputs[0].CID}, Holders: []task.PeerID{id}}},
		}},
		{Copied: &message.Copied{Epoch: 3, Session: 9, Seq: 1, Gap: true,
			Held: []message.HeldBlocks{{Name: message.HoldName{Task: name, Kind: message.HoldJob}, Err: "gone"}}}},
	}
}
