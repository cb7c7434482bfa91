package main

import (
	"fmt"
	"math"
	"syscall"

	"godwit/internal/failure"
	"godwit/task"
)

const (
	// leastAddressSpace is the address space that a node needs, in bytes: the Go runtime reserves more
	// than half a gibibyte, and a thread takes eight mebibytes.
	leastAddressSpace = 1 << 30
	// leastFiles is the number of open files without which no node starts.
	leastFiles = 64
)

// checkLimits returns an error if the process may not use what a node needs to start: address space,
// or open files. Otherwise the runtime ends the process with a stack trace, or the store with an error
// about whichever file was one too many. Below some 750 MiB of address space the runtime ends before
// this check.
func checkLimits() error {
	space, files := limit(syscall.RLIMIT_AS), limit(syscall.RLIMIT_NOFILE)
	switch {
	case space < leastAddressSpace:
		return &failure.Error{Code: failure.ExitFailed,
			Hint: "lift the limit: `ulimit -v unlimited`, or LimitAS=infinity in the service",
			Err: fmt.Errorf("the address space is limited to %s, want at least %s",
				task.FormatSize(int64(space)), task.FormatSize(leastAddressSpace))}
	case files < leastFiles:
		return &failure.Error{Code: failure.ExitFailed, Hint: filesHint,
			Err: fmt.Errorf("the number of open files is limited to %d, want at least %d", files, leastFiles)}
	}
	return nil
}

// limit returns a limit of the process, or the highest one if the limit is not known.
func limit(of int) uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(of, &l) != nil {
		return math.MaxUint64
	}
	return l.Cur
}
