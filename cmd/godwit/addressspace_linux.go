package main

import (
	"fmt"
	"math"
	"syscall"

	"godwit/internal/failure"
	"godwit/task"
)

// leastAddressSpace is the address space that a node needs, in bytes: the Go runtime reserves more
// than half a gibibyte, and a thread takes eight mebibytes.
const leastAddressSpace = 1 << 30

// checkAddressSpace returns an error if the process may not use enough address space. Without this
// check, the runtime ends the process with a stack trace as soon as a reservation fails.
func checkAddressSpace() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur >= leastAddressSpace {
		return nil //nolint:nilerr // a limit that is not known is no reason to refuse
	}
	return &failure.Error{Code: failure.ExitFailed,
		Hint: "lift the limit: `ulimit -v unlimited`, or LimitAS=infinity in the service",
		Err: fmt.Errorf("the address space is limited to %s, want at least %s",
			task.FormatSize(int64(min(limit.Cur, math.MaxInt64))), task.FormatSize(leastAddressSpace))}
}
