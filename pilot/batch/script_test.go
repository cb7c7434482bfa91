//go:build unix

package batch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program replaces godwit. It records its verbs in the file calls, and `up` runs until SIGTERM.
const program = `#!/bin/sh
echo "$1" >>"$CALLS"
[ "$1" = up ] || exit 0
echo "$*" >"$CALLS.up"
trap 'echo left >>"$CALLS"; exit 0' TERM
while :; do sleep 0.02; done
`

// start runs the script of a placeholder until its node is up. The result contains the verbs so far.
func start(t *testing.T, script func(*Spec) string, flags ...string) (cmd *exec.Cmd, calls func() string) {
	t.Helper()
	dir := t.TempDir()
	file, godwit := filepath.Join(dir, "calls"), filepath.Join(dir, "it's godwit")
	if err := os.WriteFile(godwit, []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	spec := &Spec{Program: godwit, Dir: filepath.Join(dir, "da ta"), Flags: flags, Rules: true, Grace: 4 * time.Second}
	cmd = exec.Command("sh")
	cmd.Stdin = strings.NewReader(script(spec))
	cmd.Env = append(os.Environ(), "CALLS="+file, "SLURMD_NODENAME=n1", "SLURM_CPUS_ON_NODE=3",
		"NSLOTS=3", "NCPUS=3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	calls = func() string {
		b, _ := os.ReadFile(file)
		return strings.Join(strings.Fields(string(b)), " ")
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if b, _ := os.ReadFile(file + ".up"); len(b) > 0 && strings.Contains(calls(), "resume") {
			for _, want := range append([]string{"--cores 3", "da ta/n1 "}, flags...) {
				if !strings.Contains(string(b), want) {
					t.Errorf("%s: without %q", b, want)
				}
			}
			return cmd, calls
		}
		<-tick.C
	}
	t.Fatalf("the node does not start: %q", calls())
	return nil, nil
}

func TestScriptDrainsNodeOnSignal(t *testing.T) {
	cmd, calls := start(t, SlurmScript, "--overlay=x y", "--peer=$HOME'`")
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := calls(); !strings.HasSuffix(got, "drain left") {
		t.Errorf("the verbs are %q, want drain and then the end of the node", got)
	}
}

// Slurm and PBS cancel a job with TERM, and Grid Engine announces it with USR2.
func TestScriptEndsAtOnceWhenCanceled(t *testing.T) {
	for _, tt := range []struct {
		script func(*Spec) string
		signal syscall.Signal
	}{{SlurmScript, syscall.SIGTERM}, {SGEScript, syscall.SIGUSR2}, {PBSScript, syscall.SIGTERM}} {
		cmd, calls := start(t, tt.script)
		if err := cmd.Process.Signal(tt.signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("the script succeeds, want exit code 143")
		}
		if got := calls(); strings.Contains(got, "drain") || strings.Contains(got, "left") {
			t.Errorf("the verbs are %q, want no drain", got)
		}
	}
}
