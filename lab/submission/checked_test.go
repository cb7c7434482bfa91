package submission

import (
	"errors"
	"strings"
	"testing"

	"godwit/internal/failure"
	"godwit/scheduler/message"
)

// A check that found a wrong result, results in doubt, and results that wait for their owner each end with their exit
// code.
func TestChecksHaveExitCodes(t *testing.T) {
	for name, tt := range map[string]struct {
		checks *message.Checks
		want   int
	}{
		"nothing is checked":      {nil, failure.ExitDone},
		"all are right":           {&message.Checks{Right: 3, Delivered: true}, failure.ExitDone},
		"one was wrong":           {&message.Checks{Right: 2, Wrong: 1}, failure.ExitWrong},
		"one was wrong, and late": {&message.Checks{Right: 2, Wrong: 1, Late: 1, Delivered: true}, failure.ExitWrong},
		"one is doubted":          {&message.Checks{Due: 1, Doubted: 1, Delivered: true}, failure.ExitPartly},
		"one waits for its owner": {&message.Checks{Right: 2, Due: 1, Waits: 1}, failure.ExitPartly},
	} {
		st := message.JobStatus{State: message.JobDone, Tasks: message.TaskCounts{Total: 3, Done: 3}, Final: true,
			Checks: tt.checks}
		err := errors.Join(Recalled(st), Verdict(st))
		var f *failure.Error
		got := failure.ExitDone
		if errors.As(err, &f) {
			got = f.Code
		}
		if got != tt.want {
			t.Errorf("%s: exit code %d, want %d", name, got, tt.want)
		}
	}
}

// The owner is told what to do about results that wait: to allow more, or to lend a core.
func TestUncheckedResultsSayWhatTheyWaitFor(t *testing.T) {
	for noCore, want := range map[bool]string{false: "godwit verify", true: "lends"} {
		st := message.JobStatus{State: message.JobDone, Final: true, Checks: &message.Checks{Due: 2, Waits: 2, NoCore: noCore}}
		var f *failure.Error
		if err := Unchecked(st); !errors.As(err, &f) || !strings.Contains(f.Hint, want) {
			t.Errorf("a job that waits for a core, %v: %v, hint without %q", noCore, err, want)
		}
	}
}

// The state of a job that is over includes the number of results that nobody has checked yet.
func TestStateTellsWhatIsUnchecked(t *testing.T) {
	st := message.JobStatus{State: message.JobDone, Unchecked: 54}
	if got, want := st.StateText(), "done, 54 results not checked"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if st.State = message.JobRunning; st.StateText() != message.JobRunning {
		t.Errorf("of a job that runs: %q", st.StateText())
	}
}
