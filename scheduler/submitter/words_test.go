package submitter

import (
	"bytes"
	"fmt"
	"testing"

	"godwit/scheduler/message"
	"godwit/task"
)

// failed is the end of a task that failed and said much before.
func failed(id task.JobID, i uint64) message.TaskSummary {
	words := bytes.Repeat([]byte{byte(i)}, 2*task.MaxInline)
	return message.TaskSummary{Index: i, Failed: true, Results: []task.Result{{Task: task.TaskID{Job: id, Index: i},
		Worker: "w", Outcome: task.ExitFailure, ExitCode: 1, Message: fmt.Sprint("exit code 1: line ", i),
		Outputs: []task.Output{{Name: task.Stderr, CID: task.RawCID(words), Size: int64(len(words))}}}}}
}

// TestLastWordsAreFetched: what a task said before it failed is fetched from its worker and is to be kept; if it is
// not to be had the task has failed all the same, and nobody is asked to run it again.
func TestLastWordsAreFetched(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(7, 0)
	first, second := failed(id, 0), failed(id, 1)
	b.say(message.Message{Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{first, second}}})
	if held := b.s.Held(id); len(held) > 0 {
		t.Fatalf("%v are held before what they said is here", held)
	}
	b.answer(id, 0, "")
	for range wordsTries {
		b.answer(id, 1, "its worker is gone")
		b.pass(b.timing.RetryMax)
	}
	st, _ := b.s.Job(id)
	if st.Held != 2 || st.Tasks.Failed != 2 || len(b.s.jobs[id].lacking) > 0 {
		t.Fatalf("%+v, lacking %v", st, b.s.jobs[id].lacking)
	}
	if kept := message.OutputsOf(&first); len(kept) != 1 {
		t.Errorf("%v keep what the first said", kept)
	}
	if f := st.Failures; len(f) != 2 || f[1].Name != "1" || f[1].Reason != "exit code 1: line 1" {
		t.Errorf("failures are told as %+v", f)
	}
}

// TestLastWordsAreBounded: a job of which all fails does not fill the disk with what its tasks said, nor a status with
// failures; and no leader has more brought than is kept.
func TestLastWordsAreBounded(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(2*maxWords, 0)
	large := failed(id, 0)
	large.Results[0].Outputs[0].Size = task.MaxTaskOutput
	b.say(message.Message{Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{large}}})
	if len(b.s.fetches) > 0 {
		t.Error("more is fetched than a worker keeps")
	}
	b.s.jobs[id].failed = maxWords
	for i := range uint64(2 * message.MaxFailures) {
		b.say(message.Message{Progress: &message.Progress{Job: id, Tasks: []message.TaskSummary{failed(id, i+1)}}})
	}
	if st, _ := b.s.Job(id); len(b.s.fetches) > 0 || len(st.Failures) != message.MaxFailures ||
		st.Failures[0].Index != message.MaxFailures+1 {
		t.Errorf("%d are fetched, failures %+v", len(b.s.fetches), st.Failures)
	}
}
