//go:build !linux && !windows

package sandbox

import (
	"os"
	"slices"
	"syscall"
)

const lowestNice = 19

// confine gives this process the lowest priority, unless it is to keep its parent's.
func confine() {
	if !slices.Contains(os.Environ(), plainPriority) {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, lowestNice)
	}
}

// disown does nothing: there is no such promise here.
func disown() {}
