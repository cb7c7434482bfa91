//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// suspend and resume signal the process group, which is the child and whatever
// it might have started: see detach.
func suspend(p *os.Process) error { return signalGroup(p, syscall.SIGSTOP) }
func resume(p *os.Process) error  { return signalGroup(p, syscall.SIGCONT) }

// signalGroup reports a group that is gone as a process that is.
func signalGroup(p *os.Process, s syscall.Signal) error {
	if err := syscall.Kill(-p.Pid, s); err != nil {
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return nil
}

// childEnv is all that a child finds in its environment.
func childEnv() []string { return []string{} }
