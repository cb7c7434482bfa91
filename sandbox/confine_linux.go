package sandbox

import (
	"os"
	"strconv"
	"strings"
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
)

// confine makes this process the first to go without CPU and memory, and opens
// what it will need. Nothing here is worth failing for: a kernel that refuses a
// part still runs the task. What the process may do at all is the wall's affair.
func confine() {
	// Highest score: the kernel kills tasks before anything of the owner's.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	lowerPriority()
	theWatcher()
}

// disown makes the calling thread, and all processes it starts, unable to gain
// privileges by executing a file. It cannot be undone.
func disown() { syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0) }

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
			if !done[t.Name()] {
				done[t.Name()], again = true, true
				if tid, err := strconv.Atoi(threadHere(t.Name())); err == nil {
					lowerThread(uintptr(tid))
				}
			}
		}
	}
}

// threadHere is a thread's number in the process's own namespace, where /proc
// is of another: the last that its line NSpid has.
func threadHere(name string) string {
	b, _ := os.ReadFile("/proc/self/task/" + name + "/status")
	for line := range strings.Lines(string(b)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			if f := strings.Fields(numbers); len(f) > 0 {
				return f[len(f)-1]
			}
		}
	}
	return name
}

func lowerThread(tid uintptr) {
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, int(tid), lowestNice)
	var param int32 // struct sched_param: a priority, which must be 0 here
	syscall.Syscall(syscall.SYS_SCHED_SETSCHEDULER, tid, schedIdle, uintptr(unsafe.Pointer(&param)))
	syscall.Syscall(syscall.SYS_IOPRIO_SET, ioprioWhoProc, tid, ioprioIdle)
}
