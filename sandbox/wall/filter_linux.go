//go:build linux && (amd64 || arm64)

package wall

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A call is a system call that is allowed if its arguments pass all tests.
type call struct {
	number uint32
	tests  []test
}

// A test looks at the lower half of an argument, or the upper.
type test struct {
	arg   uint32
	upper bool
	mask  uint32   // of what is compared; 0 means all bits
	oneOf []uint32 // values that pass
}

// plain are the calls that are allowed whatever their arguments, those made most often first. They are what the Go
// runtime, its pipes and a C library's threads need: no path, no socket, no other process is among what they name.
var plain = []uint32{
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_EPOLL_PWAIT, unix.SYS_MADVISE,
	unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MUNMAP, unix.SYS_SCHED_YIELD, unix.SYS_CLOCK_GETTIME,
	unix.SYS_CLOCK_NANOSLEEP, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGACTION,
	unix.SYS_SIGALTSTACK, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETRUSAGE, unix.SYS_GETTIMEOFDAY,
	unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_BRK, unix.SYS_MINCORE,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EVENTFD2, unix.SYS_GETRANDOM, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_RESTART_SYSCALL,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// The requests of ioctl that a look at which pages were written needs, on descriptors that are open before.
const (
	ioctlUffdRegister   = 0xc020aa00
	ioctlUffdUnregister = 0x8010aa01
	ioctlPagemapScan    = 0xc0606610
)

// newSpaces are the flags of clone that ask for a namespace.
const newSpaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// tested are the calls whose arguments matter. To send a signal, or to copy memory, is allowed to the process itself;
// fcntl may not name who gets a signal (F_SETOWN); clone makes threads alone; prlimit64 only tells.
func tested(self, receive uint32) []call {
	itself := []test{{arg: 0, oneOf: []uint32{self}}}
	return []call{
		{unix.SYS_TGKILL, itself},
		{unix.SYS_KILL, itself},
		{unix.SYS_PROCESS_VM_READV, itself},
		{unix.SYS_RECVMSG, []test{{arg: 0, oneOf: []uint32{receive}}}},
		{unix.SYS_IOCTL, []test{{arg: 1, oneOf: []uint32{ioctlPagemapScan, ioctlUffdRegister, ioctlUffdUnregister}}}},
		{unix.SYS_CLONE, []test{{arg: 0, mask: unix.CLONE_THREAD | newSpaces, oneOf: []uint32{unix.CLONE_THREAD}}}},
		{unix.SYS_FCNTL, []test{{arg: 1, oneOf: []uint32{unix.F_GETFL, unix.F_SETFL, unix.F_GETFD, unix.F_SETFD}}}},
		{unix.SYS_PRCTL, []test{{arg: 0, oneOf: []uint32{unix.PR_SET_VMA}}}},
		{unix.SYS_PRLIMIT64, []test{{arg: 0, oneOf: []uint32{0, self}}, {arg: 2, oneOf: []uint32{0}},
			{arg: 2, upper: true, oneOf: []uint32{0}}}},
	}
}

// Where the kernel shows a filter what it judges (struct seccomp_data).
const (
	atNumber  = 0
	atArch    = 4
	atArgs    = 16
	argSize   = 8
	upperHalf = 4 // both architectures have the lower half first
)

const (
	load      = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	and       = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	jumpEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	answer    = unix.BPF_RET | unix.BPF_K

	deny = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// absent makes a C library use clone, whose flags a filter can see.
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// program writes the filter for a process, which receives files from one descriptor.
func program(self, receive uint32) []unix.SockFilter {
	var p []unix.SockFilter
	add := func(code uint16, k uint32, yes, no int) {
		p = append(p, unix.SockFilter{Code: code, Jt: uint8(yes), Jf: uint8(no), K: k})
	}
	add(load, atArch, 0, 0)
	add(jumpEqual, auditArch, 1, 0)
	add(answer, unix.SECCOMP_RET_KILL_PROCESS, 0, 0)
	add(load, atNumber, 0, 0)
	add(jumpLeast, foreignCalls, 0, 1)
	add(answer, deny, 0, 0)
	for _, number := range append(plain[:len(plain):len(plain)], ownCalls...) {
		add(jumpEqual, number, 0, 1)
		add(answer, unix.SECCOMP_RET_ALLOW, 0, 0)
	}
	add(jumpEqual, unix.SYS_CLONE3, 0, 1)
	add(answer, absent, 0, 0)
	for _, c := range tested(self, receive) {
		add(jumpEqual, c.number, 0, 0)
		from := len(p)
		for _, t := range c.tests {
			at := atArgs + argSize*t.arg
			if t.upper {
				at += upperHalf
			}
			add(load, at, 0, 0)
			if t.mask != 0 {
				add(and, t.mask, 0, 0)
			}
			for k, value := range t.oneOf {
				add(jumpEqual, value, len(t.oneOf)-k, 0)
			}
			add(answer, deny, 0, 0)
		}
		add(answer, unix.SECCOMP_RET_ALLOW, 0, 0)
		p[from-1].Jf = uint8(len(p) - from)
	}
	add(answer, deny, 0, 0)
	return p
}

// filter has the kernel judge each system call of all threads from now on, and of those to come.
func filter(receive int) error {
	p := program(uint32(os.Getpid()), uint32(receive))
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	// What was written to memory before is not at risk of being guessed at by what runs here later: it is all the
	// stranger's own. So older kernels need not slow it down.
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
	out, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(p)
	switch {
	case errno != 0:
		return errno
	case out != 0:
		return fmt.Errorf("thread %d has a filter of its own", out)
	}
	return nil
}
