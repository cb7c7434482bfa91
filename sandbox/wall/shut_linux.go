package wall

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// maxOpenFiles is more than the Go runtime and three pipes need.
	maxOpenFiles = 64
	// maxThreads is several times what a child has.
	maxThreads = 64
)

// Shut takes from this process, for good and in all its threads, every way to files, sockets and other processes. All
// that it needs of these must be open. From one descriptor, a socket, it may still take files that its parent has
// opened. A layer that the kernel lacks is left out: see State.
func Shut(receive int) State {
	var s State
	s.Own = ownNamespaces()
	hardLimit(unix.RLIMIT_CORE, 0)
	hardLimit(unix.RLIMIT_FSIZE, 0)
	hardLimit(unix.RLIMIT_NOFILE, maxOpenFiles)
	if s.Own { // else everything that the owner runs would count
		hardLimit(unix.RLIMIT_NPROC, maxThreads)
	} else {
		s.Why[2] = "the system lets no user make them, or no program in this container"
	}
	// Others of the same user may not look into it, nor it be made to tell.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	var err error
	if s.Landlock, err = landlock(); err != nil {
		s.Why[1] = err.Error()
	}
	if err := filter(receive); err != nil {
		s.Why[0] = err.Error()
	} else {
		s.Filter = true
	}
	return s
}

// ownNamespaces reports whether this process has the namespaces that Namespaces asked for: in that of processes it is
// the first. A child is that nowhere else.
func ownNamespaces() bool { return os.Getpid() == 1 }

// hardLimit sets a limit that cannot be raised again. One that is lower already stays.
func hardLimit(what int, n uint64) {
	var r unix.Rlimit
	if unix.Getrlimit(what, &r) == nil {
		r.Max = min(n, r.Max)
		r.Cur = min(n, r.Cur)
		_ = unix.Setrlimit(what, &r)
	}
}

// LimitData bounds the memory of a child that has data of its own: the soft limit and, where it is not lower already,
// the hard one, in bytes.
func LimitData(pid int, soft, hard uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &old); err != nil {
		return fmt.Errorf("reading a process's limit on memory: %w", err)
	}
	hard = min(hard, old.Max)
	if err := unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: min(soft, hard), Max: hard}, nil); err != nil {
		return fmt.Errorf("limiting a process's memory: %w", err)
	}
	return nil
}
