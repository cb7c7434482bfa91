package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"godwit/scheduler/message"
)

// notify runs a command of the user's with the shell, which finds in its environment what came of a job; ""
// runs none. That it fails is said, and is no failure of the job.
func notify(ctx context.Context, say io.Writer, command string, st message.JobStatus) {
	if command == "" {
		return
	}
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	c := exec.CommandContext(ctx, shell[0], shell[1], command)
	c.Env = append(os.Environ(), "GODWIT_JOB="+string(st.ID), "GODWIT_NAME="+st.Name, "GODWIT_STATE="+st.State,
		fmt.Sprintf("GODWIT_DONE=%d", st.Tasks.Done), fmt.Sprintf("GODWIT_FAILED=%d", st.Tasks.Failed))
	c.Stdout, c.Stderr = say, say // standard output is for results
	if err := c.Run(); err != nil {
		fmt.Fprintf(say, "the command of --notify failed: %v\n", err)
	}
}
