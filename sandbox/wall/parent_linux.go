package wall

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// firstInherited is the first descriptor that a program does not expect to get from who starts it.
const firstInherited = 3

// Protect keeps what this process has from the children that it will start: they get none of the descriptors that it
// was given itself, and cannot look into its memory. An error says what could not be had; the rest holds.
func Protect() error {
	var errs []error
	// First, for a process that others cannot look into cannot list its descriptors in /proc either.
	err := unix.CloseRange(firstInherited, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err != nil { // before Linux 5.11
		err = closeEachOnExec()
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("keeping descriptors from children: %w", err))
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		errs = append(errs, fmt.Errorf("closing this process's memory to others: %w", err))
	}
	return errors.Join(errs...)
}

func closeEachOnExec() error {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, f := range fds {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd >= firstInherited {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// spaces are the namespaces that a child gets for itself. In that of users it is nobody, so that it has none of root's
// rights if this process is root's; to the system it stays the same user.
const spaces = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

// Namespaces has a process begin in namespaces of its own. Where the system does not permit it, starting it fails with
// an error of which NotPermitted reports so, and the caller must try again without. It reports whether it changed
// anything.
func Namespaces(attr *syscall.SysProcAttr) bool {
	attr.Cloneflags |= spaces
	return true
}

// NotPermitted reports whether an error is that of a start with Namespaces, which may go well without: the system, or
// the container, forbids or lacks one of them, or allows no more.
func NotPermitted(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) ||
		errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EUSERS)
}
