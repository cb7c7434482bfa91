package sandbox

import (
	"os"
	"slices"
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
	firstThreads    = 64 // several times what a process has when it starts
)

// confine makes this process the first to go without CPU and memory, and opens
// what it will need. Nothing here is worth failing for: a kernel that refuses a
// part still runs the task. What the process may do at all is the wall's affair.
func confine() {
	// Highest score: the kernel kills tasks before anything of the owner's.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	if !slices.Contains(os.Environ(), plainPriority) {
		lowerPriority()
	}
	theWatcher()
}

// disown makes the calling thread, and all processes it starts, unable to gain
// privileges by executing a file. It cannot be undone.
func disown() { syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0) }

// lowerPriority acts on threads, for on Linux they and not processes have
// priorities. New threads inherit from the one that made them. In a namespace of
// its own the process is number 1 and its threads follow in order, so that a
// thread made meanwhile is still to come. Elsewhere the list of threads is
// walked until it shows none that is new. (What /proc has of each thread is not
// read: the kernel drops that at the process's end, for which a thread of low
// priority can let the parent wait for tenths of a second.)
func lowerPriority() {
	if os.Getpid() == 1 {
		for tid := range uintptr(firstThreads) {
			lowerThread(tid + 1)
		}
		return
	}
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
