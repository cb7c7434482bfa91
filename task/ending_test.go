package task_test

import (
	"testing"

	"godwit/task"
)

// How a run ended is said once, though a sandbox's message begins with the code.
func TestEnding(t *testing.T) {
	for want, r := range map[string]task.Result{
		"completed":               {Outcome: task.Completed},
		"exit code 4":             {Outcome: task.ExitFailure, ExitCode: 4},
		"exit code 4: x is 2":     {Outcome: task.ExitFailure, ExitCode: 4, Message: "exit code 4: x is 2"},
		"exit code 4: by replica": {Outcome: task.ExitFailure, ExitCode: 4, Message: "by replica"},
		"trapped: unreachable":    {Outcome: task.Trapped, Message: "unreachable"},
	} {
		if got := r.Ending(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
