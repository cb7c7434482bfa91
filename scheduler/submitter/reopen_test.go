package submitter

import (
	"testing"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// A final job of which results were lost goes on in another delivery. A canceled one stays as it is.
func TestLostJobGoesOn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state submittedState
		again bool
		final bool
	}{
		{"its program is here", submittedState{Final: true}, true, false},
		{"its program is gone", submittedState{Final: true}, false, true},
		{"it was canceled", submittedState{Final: true, Cancelled: true}, true, true},
		{"it was refused", submittedState{Final: true, Error: "too large"}, true, true},
		{"it was ending", submittedState{Final: true, Ending: true}, true, true},
	} {
		tt.state.Have, tt.state.Failed = []message.Range{{From: 0, To: 5}}, 2
		value, err := durable.Encode(&tt.state)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := DecodeKept(JobsPrefix+"job", value)
		if err != nil || kept.ID != "job" || kept.Held != 5 {
			t.Fatalf("%s: %+v, %v", tt.name, kept, err)
		}
		if value, err = kept.Lost(tt.again); err != nil {
			t.Fatal(err)
		}
		after, err := DecodeKept(JobsPrefix+"job", value)
		if err != nil || after.Final != tt.final || after.Held != 0 || after.state.Failed != 0 ||
			!tt.final != (after.state.Delivery == tt.state.Delivery+1) {
			t.Errorf("%s: %+v, %v", tt.name, after, err)
		}
	}
}

// Keys of a job lead to the key that notes that the job was forgotten; others lead nowhere.
func TestForgottenKey(t *testing.T) {
	for key, want := range map[string]string{
		JobsPrefix + "a":                submitterForgotten + "a",
		ResultKey("a", 7):               submitterForgotten + "a",
		submitterLoans + "a/peer":       submitterForgotten + "a",
		submitterProven + "12D3KooW":    "",
		submitterForgotten + "a":        "",
		checkKey(task.TaskID{Job: "a"}): submitterForgotten + "a",
	} {
		if got := ForgottenKey(key); got != want {
			t.Errorf("%s leads to %q, want %q", key, got, want)
		}
	}
}

// Whatever the bytes of a job, what is decoded is encoded again without its results.
func FuzzDecodeKept(f *testing.F) {
	value, err := durable.Encode(&submittedState{Final: true, Have: []message.Range{{From: 1, To: 3}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(value)
	f.Fuzz(func(t *testing.T, value []byte) {
		kept, err := DecodeKept(JobsPrefix+"job", value)
		if err != nil {
			return
		}
		if _, err := kept.Blocks(); err == nil && kept.Record.ID() == "" {
			t.Error("a job without a record has blocks")
		}
		again, err := kept.Lost(true)
		if err != nil {
			t.Fatal(err)
		}
		if after, err := DecodeKept(JobsPrefix+"job", again); err != nil || after.Held != 0 {
			t.Errorf("%d results are left: %v", after.Held, err)
		}
	})
}
