package sandbox

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// What the system calls below take; the syscall package lacks these names.
const (
	prSetNoNewPrivs = 38
	schedIdle       = 5
	ioprioWhoProc   = 1
	ioprioIdle      = 3 << 13
	lowestNice      = 19
	maxOpenFiles    = 64
	maxFileSize     = 1 << 30 // an entry of the compilation cache
)

// confine makes this process the first to go without CPU, disk and memory, and
// takes from it what a task never needs. Nothing here is worth failing for: a
// kernel that refuses a part still runs the task.
func confine() {
	// Highest score: the kernel kills tasks before anything of the owner's.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	setLimit(syscall.RLIMIT_CORE, 0)
	setLimit(syscall.RLIMIT_NOFILE, maxOpenFiles)
	setLimit(syscall.RLIMIT_FSIZE, maxFileSize)
	syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0)
	lowerPriority()
}

func setLimit(what int, n uint64) {
	var r syscall.Rlimit
	if syscall.Getrlimit(what, &r) == nil {
		r.Cur = min(n, r.Max)
		_ = syscall.Setrlimit(what, &r)
	}
}

// lowerPriority acts on threads, for on Linux they and not processes have
// priorities. New threads inherit from the one that made them, so the list is
// walked until it shows none that is new.
func lowerPriority() {
	done := map[string]bool{}
	for again := true; again; {
		again = false
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		for _, t := range tasks {
			if tid, err := strconv.Atoi(t.Name()); err == nil && !done[t.Name()] {
				done[t.Name()], again = true, true
				lowerThread(uintptr(tid))
			}
		}
	}
}

func lowerThread(tid uintptr) {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, int(tid), lowestNice)
	var param int32 // struct sched_param: a priority, which must be 0 here
	syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, tid, schedIdle, uintptr(unsafe.Pointer(&param)))
	syscall.Syscall(syscall.SYS_IOPRIO_SET, ioprioWhoProc, tid, ioprioIdle)
}

// limitProcess bounds the memory of the process for one task. It is the last
// line: a task that gets past the limits on memory, tables and files ends the
// child, not the machine. Address space cannot be limited, since the Go
// runtime reserves much more than it uses; data can.
func limitProcess(l Limits, hostBytes int64) {
	setLimit(syscall.RLIMIT_DATA, uint64(l.Memory+fileCopies*(l.Files+l.Output)+hostBytes))
}
