package message_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// What is exactly at its bound is taken: a peer that goes to the limit is not refused.
func TestBoundsAreTaken(t *testing.T) {
	job := message.HoldName{Kind: message.HoldJob}
	for name, m := range map[string]message.Message{
		"results":     {Report: &message.Report{Ended: make([]message.Ending, message.MaxEndings)}},
		"checkpoints": {Report: &message.Report{Saved: make([]message.SavedState, message.MaxSaved)}},
		"slots":       {Report: &message.Report{Slots: overlay.MaxSlots, Withheld: 100}},
		"came to nothing": {Report: &message.Report{Unmoved: slicesOf(message.MaxMoves,
			message.Unmoved{Reason: strings.Repeat("x", task.MaxMessage)})}},
		"rounds": {Report: &message.Report{Ended: []message.Ending{{Handed: &message.Handed{Rounds: message.MaxRounds}}}}},
		"tasks":  {Progress: &message.Progress{Tasks: make([]message.TaskSummary, message.MaxProgress)}},
		"ranges": {Got: &message.Got{Lacking: make([]message.Range, message.MaxLacking)}},
		"holders": {Place: &message.Place{Holders: map[task.JobID][]task.PeerID{
			"j": slicesOf(message.MaxHolders, task.PeerID("p"))}}},
		"left": {Place: &message.Place{Leases: []message.Lease{{Left: task.MaxDuration}}}},
		"moves": {Ack: &message.Ack{Moves: slicesOf(message.MaxMoves,
			message.MoveOrder{To: "p", As: message.Attempt{Seq: 1}})}},
		"known":  {Known: &message.Known{Session: 1, Jobs: make([]message.JobDigest, message.MaxKnown)}},
		"wanted": {Wanted: &message.Wanted{Jobs: slicesOf(message.MaxKnown, task.JobID("j"))}},
		"pairs": {Copy: &message.Copy{Pairs: slicesOf(message.MaxPairs,
			message.Pair{Key: strings.Repeat("k", message.MaxKey)})}},
		"leases": {Copy: &message.Copy{Live: []message.LiveLeases{{Leases: make([]message.LiveLease, message.MaxLive)}}}},
		"blocks": {Copy: &message.Copy{Hold: []message.Hold{{Name: job,
			CIDs: slicesOf(message.MaxHoldCIDs, task.CID("c"))}}}},
		"excuse": {Copied: &message.Copied{Held: []message.HeldBlocks{{Name: job,
			Err: strings.Repeat("x", task.MaxMessage)}}}},
	} {
		b, err := message.EncodeFrame([]message.Message{m})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := message.DecodeFrame(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every state that a job can be in is either over or not, and its end follows from its tasks'.
func TestStates(t *testing.T) {
	over := map[string]bool{message.JobOffered: false, message.JobRunning: false, message.JobDone: true,
		message.JobPartly: true, message.JobFailed: true, message.JobCancelled: true, message.JobExpired: true,
		"": false, "DONE": false}
	for state, want := range over {
		if message.FinalState(state) != want {
			t.Errorf("%q is over: %v", state, !want)
		}
	}
	for _, tt := range []struct {
		done, failed uint64
		want         string
	}{{1, 0, message.JobDone}, {0, 1, message.JobFailed}, {1, 1, message.JobPartly}, {9, 1, message.JobPartly}} {
		if got := message.EndState(tt.done, tt.failed); got != tt.want || !message.FinalState(got) {
			t.Errorf("%d done and %d failed is %q, want %q", tt.done, tt.failed, got, tt.want)
		}
	}
}

// People are told of a job what its summary says, and of a task its own parameters, every
// attempt, and the results that agreed.
func TestStatuses(t *testing.T) {
	spec := &task.Job{Name: "n", Overlay: "o", Submitted: task.At(schedtest.Start),
		Sweep: task.Sweep{Repeat: 2}}
	sum := message.JobSummary{State: message.JobRunning, Total: 10, Waiting: 1, Running: 2, Done: 3, Failed: 4, Reruns: 5,
		Migrations: 6, WastedCPU: 1500 * time.Millisecond, UsefulCPU: time.Minute}
	want := message.JobStatus{ID: "j", Name: "n", Overlay: "o", Submitter: "me", Submitted: schedtest.Start,
		State: message.JobRunning, Tasks: message.TaskCounts{Total: 10, Waiting: 1, Running: 2, Done: 3, Failed: 4},
		Reruns: 5, Migrations: 6, WastedCPU: 1.5, UsefulCPU: 60}
	if got := message.NewJobStatus("j", spec, "me", sum); !reflect.DeepEqual(got, want) {
		t.Errorf("of the job it is told %+v, want %+v", got, want)
	}
	output := task.Output{Name: "stdout", CID: task.RawCID([]byte("x")), Size: 1}
	sums := message.TaskSummary{Index: 1, Reason: "because",
		Results: []task.Result{{Worker: "a", Outputs: []task.Output{output}}, {Worker: "b", Outputs: []task.Output{output}}},
		Attempts: []message.AttemptLog{
			{Worker: "a", Start: task.At(schedtest.Start), Lag: time.Second,
				End: task.At(schedtest.Start.Add(time.Minute)), Outcome: "moved", MovedTo: "b", Bytes: 7,
				Down: 250 * time.Millisecond},
			{Worker: "b", Start: task.At(schedtest.Start), From: 9, Saved: 3 * time.Second, Reason: "idle"},
		}}
	got := sums.Status(spec)
	if got.State != message.JobDone || got.Reason != "because" || got.Params[task.Trial] != "1" || len(got.Attempts) != 2 {
		t.Fatalf("of the task it is told %+v", got)
	}
	first, second := got.Attempts[0], got.Attempts[1]
	if first.Began != schedtest.Start.Add(time.Second) || first.FromCheckpoint || first.MovedTo != "b" ||
		first.MovedBytes != 7 || first.DownS != .25 {
		t.Errorf("of the first attempt it is told %+v", first)
	}
	if !second.Began.IsZero() || !second.FromCheckpoint || second.SavedCPU != 3 || second.Reason != "idle" {
		t.Errorf("of the second attempt it is told %+v", second)
	}
	if r := got.Result; r == nil || r.CID != output.CID || !slices.Equal(r.Workers, []task.PeerID{"a", "b"}) {
		t.Errorf("of the result it is told %+v", r)
	}
	spec.Sweep.Repeat = 1
	sums.Failed, sums.Results, sums.Index = true, nil, 0
	if got = sums.Status(spec); got.State != message.JobFailed || got.Result != nil || len(got.Params) != 0 {
		t.Errorf("of a failed task of a job of one it is told %+v", got)
	}
}

// Blocks of a result are those that are not empty and not in the result itself; of a task
// that failed none are kept.
func TestOutputs(t *testing.T) {
	r := task.Result{Outputs: []task.Output{
		{Name: "inline", CID: "a", Size: 1, Inline: []byte("x")}, {Name: "empty", CID: "b"},
		{Name: "remote", CID: "c", Size: 5},
	}}
	if got := message.RemoteOutputs(&r); !slices.Equal(got, []task.CID{"c"}) {
		t.Errorf("blocks of their own: %v", got)
	}
	other := task.Result{Outputs: []task.Output{{CID: "d", Size: 5}}}
	for name, tt := range map[string]struct {
		sum  message.TaskSummary
		want []task.CID
	}{
		"the first of those that agree": {message.TaskSummary{Results: []task.Result{r, other}}, []task.CID{"c"}},
		"of none":                       {message.TaskSummary{}, nil},
		"of a failed task":              {message.TaskSummary{Failed: true, Results: []task.Result{r}}, nil},
	} {
		if got := message.OutputsOf(&tt.sum); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// A timing is refused where a time is none, and all that is wrong is told.
func TestTiming(t *testing.T) {
	good := message.DefaultTiming()
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*message.Timing){
		"ReportEvery":  func(c *message.Timing) { c.ReportEvery = 0 },
		"RefusalPause": func(c *message.Timing) { c.RefusalPause = -1 },
		"RetryMin":     func(c *message.Timing) { c.RetryMin = 0 },
		"RetryMax":     func(c *message.Timing) { c.RetryMax = c.RetryMin - 1 },
	} {
		bad := good
		change(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := message.Timing{RetryMax: -1}
	if err := all.Validate(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("of two faults it is told: %v", err)
	}
}

// Tasks of a cancelled job did not fail: most never ran.
func TestNotDone(t *testing.T) {
	for state, want := range map[string]string{message.JobPartly: "3 failed", message.JobCancelled: "3 not done"} {
		st := message.JobStatus{State: state, Tasks: message.TaskCounts{Failed: 3}}
		if got := st.NotDone(); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
