package message_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// told is a row as EachRow tells it.
type told struct {
	id  task.TaskID
	row string
}

// travel is a copy as it comes out of a frame.
func travel(c *message.Copy) (*message.Copy, error) {
	frame, err := message.EncodeFrame([]message.Message{{Copy: c}})
	if err != nil {
		return nil, err
	}
	got, err := message.DecodeFrame(frame)
	if err != nil {
		return nil, err
	}
	return got[0].Copy, nil
}

// Whatever the rows are, names or not, in how many copies of a session, they come out as they were put
// in, in order.
func TestRowRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, worker := schedtest.Identity(1)
		part := rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 0, 20),
			rapid.SampledFrom([][]byte{
				fmt.Appendf(nil, "x4%s", worker), // a peer ID as CBOR has it
				fmt.Appendf(nil, "x\x28%s", strings.Repeat("n", 40)), []byte("x"), []byte("xx4"), []byte("x\x28"),
			}))
		row := rapid.Map(rapid.SliceOfN(part, 0, 6), func(parts [][]byte) []byte { return bytes.Join(parts, nil) })
		c := &message.Copy{}
		var w message.RowWriter
		var r message.RowReader
		var want, got []told
		tell := func() {
			c.Runs, c.Names = w.Take()
			came, err := travel(c)
			if err == nil {
				err = r.Read(came.Runs, came.Names, func(id task.TaskID, row []byte) { got = append(got, told{id, string(row)}) })
			}
			if err != nil {
				t.Fatal(err)
			}
			c = &message.Copy{}
		}
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			id := task.TaskID{Job: rapid.SampledFrom([]task.JobID{"a", "b"}).Draw(t, "job"),
				Index: rapid.Uint64Range(0, 3).Draw(t, "task")}
			b := row.Draw(t, "row")
			w.Add(id, b)
			want = append(want, told{id, string(b)})
			if rapid.Bool().Draw(t, "in a copy of its own") {
				tell()
			}
		}
		tell()
		if !slices.Equal(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// Rows of short tasks that follow each other take less than two thirds of what pairs take.
func TestRunsAreSmaller(t *testing.T) {
	const tasks = 16
	key, worker := schedtest.Identity(1)
	leaderKey, leader := schedtest.Identity(2)
	rec := schedtest.Job(t, key, tasks, nil)
	pairs, runs := &message.Copy{}, &message.Copy{}
	var w message.RowWriter
	leases := make([]task.Leased, tasks)
	for i := range leases {
		leases[i] = task.Leased{Task: task.TaskID{Job: rec.ID(), Index: uint64(i)}, Worker: worker,
			Receipt: &task.Receipt{Leader: leader, Epoch: 5 << 24, Seq: uint64(i), Issued: schedtest.Start.UnixMilli()}}
	}
	if err := task.SignReceipts(leaderKey, leases); err != nil {
		t.Fatal(err)
	}
	for i, l := range leases {
		res := task.Result{Task: l.Task, Outcome: task.Completed, Receipt: l.Receipt,
			Outputs: []task.Output{{Name: "stdout", CID: task.RawCID(nil)}}}
		if err := res.Sign(key); err != nil {
			t.Fatal(err)
		}
		a := message.Attempt{Epoch: 5 << 24, Seq: uint64(i)}
		row := new(ledger.Row)
		row.AddResult(a, res)
		at := task.At(schedtest.Start)
		row.Note(message.AttemptLog{Attempt: a, Worker: worker, Start: at, End: at,
			Outcome: "completed", Reason: "the first that is idle"})
		b := schedtest.Encoded(t, row)
		pairs.Pairs = append(pairs.Pairs, message.Pair{Key: ledger.RowKey(l.Task), Value: b})
		w.Add(l.Task, b)
	}
	runs.Runs, runs.Names = w.Take()
	size := func(c *message.Copy) int {
		frame, err := message.EncodeFrame([]message.Message{{Copy: c}})
		if err != nil {
			t.Fatal(err)
		}
		return len(frame)
	}
	if a, b := size(pairs), size(runs); 3*b > 2*a || len(runs.Runs) != 1 {
		t.Errorf("%d bytes as pairs, %d in %d runs", a, b, len(runs.Runs))
	}
}

// What no RowWriter writes is refused before anything is made of it.
func TestBadRuns(t *testing.T) {
	name := bytes.Repeat([]byte("n"), 64)
	one := func(packed ...byte) []message.RowRun { return []message.RowRun{{Job: "a", Rows: [][]byte{packed}}} }
	many := bytes.Repeat([]byte{0, 1}, 4000) // nothing, and a name
	for what, c := range map[string]*message.Copy{
		"nothing":                 {Runs: one()},
		"no name":                 {Runs: one(1, 'x')},
		"longer than there is":    {Runs: one(2, 'x')},
		"much longer":             {Runs: one(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)},
		"a number without end":    {Runs: one(0xff, 0xff)},
		"a name far away":         {Runs: one(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)},
		"more after the end":      {Runs: one(0, 0, 0, 0)},
		"a name too long":         {Runs: one(0, 0), Names: [][]byte{append(name, 'x')}},
		"no such task":            {Runs: []message.RowRun{{Job: "a", From: math.MaxUint64, Rows: [][]byte{{0, 0}}}}},
		"too many names":          {Names: make([][]byte, message.MaxNames+1)},
		"far more than its bytes": {Names: [][]byte{name}, Runs: one(append(many, 0, 0)...)},
	} {
		if got, err := travel(c); err == nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
	read := func(r *message.RowReader, c *message.Copy) error {
		got, err := travel(c)
		if err != nil {
			t.Fatal(err)
		}
		return r.Read(got.Runs, got.Names, func(task.TaskID, []byte) {})
	}
	var r message.RowReader
	if err := read(&r, &message.Copy{Runs: one(1, 'x', 1, 0, 0), Names: [][]byte{name}}); err != nil {
		t.Errorf("what a RowWriter may write: %v", err)
	}
	if read(&r, &message.Copy{Runs: one(0, 2, 0, 0)}) == nil {
		t.Error("a name is read that nobody has said")
	}
	if read(&r, &message.Copy{Names: make([][]byte, message.MaxNames)}) == nil {
		t.Error("a session has more names than it may")
	}
}
