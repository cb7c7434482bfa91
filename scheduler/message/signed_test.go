package message_test

import (
	"testing"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// signedResult is a result by a worker, and spoiled one that was changed since.
func signedResult(t *testing.T, worker int) (good, spoiled task.Result) {
	t.Helper()
	key, _ := schedtest.Identity(worker)
	rec := schedtest.Job(t, key, 3, nil)
	id := task.TaskID{Job: rec.ID()}
	good = schedtest.Result(t, key, id, "x")
	spoiled = good
	spoiled.CPU++
	return good, spoiled
}

func verifyAll(results []*task.Result) (good []bool) {
	for _, r := range results {
		good = append(good, r.Verify() == nil)
	}
	return good
}

// A result is marked as signed where its signature was seen, and a peer's Report only marks its own.
func TestLookAtSignatures(t *testing.T) {
	good, spoiled := signedResult(t, 1)
	other, _ := signedResult(t, 2)
	_, from := schedtest.Identity(1)
	ended := func(results ...task.Result) (out []message.Ending) {
		for _, r := range results {
			out = append(out, message.Ending{Result: r})
		}
		return out
	}
	r := message.Message{Report: &message.Report{Ended: ended(good, spoiled, other)}}
	message.LookAtSignatures(from, []message.Message{{Ack: &message.Ack{}}, r}, 10, verifyAll)
	for i, want := range []bool{true, false, false} {
		if got := r.Report.Ended[i].Signed; got != want {
			t.Errorf("end %d: signed %v, want %v", i, got, want)
		}
	}
	p := message.Message{Progress: &message.Progress{Tasks: []message.TaskSummary{
		{Results: []task.Result{good, other}}, {Results: []task.Result{good, spoiled}}, {Failed: true}}}}
	message.LookAtSignatures("whoever leads", []message.Message{p}, 10, verifyAll)
	for i, want := range []bool{true, false, false} {
		if got := p.Progress.Tasks[i].Signed; got != want {
			t.Errorf("task %d: signed %v, want %v", i, got, want)
		}
	}
}

// What is beyond the bound is not looked at, and not marked: not a task either of whose results only
// some are.
func TestLookAtSoMany(t *testing.T) {
	good, _ := signedResult(t, 1)
	other, _ := signedResult(t, 2)
	p := message.Message{Progress: &message.Progress{Tasks: []message.TaskSummary{
		{Results: []task.Result{good}}, {Results: []task.Result{good, other}}, {Results: []task.Result{good}}}}}
	message.LookAtSignatures("whoever leads", []message.Message{p}, 2, verifyAll)
	for i, want := range []bool{true, false, false} {
		if got := p.Progress.Tasks[i].Signed; got != want {
			t.Errorf("task %d: signed %v, want %v", i, got, want)
		}
	}
}

// No peer can say that a signature was seen.
func TestSignedDoesNotTravel(t *testing.T) {
	_, spoiled := signedResult(t, 1)
	frame, err := message.EncodeFrame([]message.Message{
		{Report: &message.Report{Ended: []message.Ending{{Result: spoiled, Signed: true}}}},
		{Progress: &message.Progress{Tasks: []message.TaskSummary{{Results: []task.Result{spoiled}, Signed: true}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := message.DecodeFrame(frame)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Report.Ended[0].Signed || got[1].Progress.Tasks[0].Signed {
		t.Error("it came over the wire")
	}
}
