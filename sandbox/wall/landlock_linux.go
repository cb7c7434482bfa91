package wall

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockSync is the version from which on the kernel itself takes all threads along.
const landlockSync = 8

// fileRights is what each version of the interface can take away: the first all but these, which came later.
var fileRights = []struct {
	version int
	rights  uint64
}{
	{1, unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}, // the last of the first thirteen
	{2, unix.LANDLOCK_ACCESS_FS_REFER},
	{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
}

// The versions from which on ports, and sockets with a name outside of files, can be taken away too.
const (
	landlockPorts = 4
	landlockNames = 6
)

// landlock takes all files, and what else the kernel's version knows, from this process, and returns that version.
func landlock() (int, error) {
	fd, version, err := ruleset()
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	var errno syscall.Errno
	if version >= landlockSync {
		_, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), unix.LANDLOCK_RESTRICT_SELF_TSYNC, 0)
	} else {
		_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0)
	}
	switch {
	case errno == unix.ENOTSUP:
		return 0, errors.New("this program was built with cgo, and the kernel is older than 7.0")
	case errno != 0:
		return 0, fmt.Errorf("giving up files by Landlock: %w", errno)
	}
	return version, nil
}

// ruleset makes the rules, which allow nothing, and returns their descriptor and the interface's version. Signals are
// left to the filter: kernels before 6.15 would forbid them between threads that were taken along one by one.
func ruleset() (fd, version int, err error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, 0, fmt.Errorf("the kernel has no Landlock, or it is switched off: %w", errno)
	}
	version = int(v)
	var rules unix.LandlockRulesetAttr
	for _, f := range fileRights {
		if version >= f.version {
			rules.Handled_access_fs |= f.rights
		}
	}
	size := unsafe.Sizeof(rules.Handled_access_fs)
	if version >= landlockPorts {
		rules.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(rules.Scoped)
	}
	if version >= landlockNames {
		rules.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		size = unsafe.Offsetof(rules.Quiet_access_fs) // what follows is of newer kernels
	}
	made, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), size, 0)
	if errno != 0 {
		return 0, 0, fmt.Errorf("making rules for Landlock: %w", errno)
	}
	return int(made), version, nil
}
