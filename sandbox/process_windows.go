package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	idlePriorityClass      = 0x00000040
	createNoWindow         = 0x08000000
	processSetQuota        = 0x0100
	processSuspendResume   = 0x0800
	jobExtendedLimits      = 9
	jobKillOnClose         = 0x2000
	sizeofExtendedLimits32 = 112
	sizeofExtendedLimits64 = 144
	limitFlagsOffset       = 16
)

var (
	kernel32         = syscall.NewLazyDLL("kernel32.dll")
	createJobObject  = kernel32.NewProc("CreateJobObjectW")
	setJobObject     = kernel32.NewProc("SetInformationJobObject")
	assignJobObject  = kernel32.NewProc("AssignProcessToJobObject")
	ntdll            = syscall.NewLazyDLL("ntdll.dll")
	ntSuspendProcess = ntdll.NewProc("NtSuspendProcess")
	ntResumeProcess  = ntdll.NewProc("NtResumeProcess")
)

// confine has nothing left to do: the parent sets the priority at the start.
func confine() {}

// disown does nothing: a process here has what its token allows.
func disown() {}

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(ticks(kernel)+ticks(user)) * 100 // of 100 ns
}

func suspend(p *os.Process) error { return withProcess(p, processSuspendResume, ntSuspendProcess) }
func resume(p *os.Process) error  { return withProcess(p, processSuspendResume, ntResumeProcess) }

func withProcess(p *os.Process, access uint32, proc *syscall.LazyProc) error {
	h, err := syscall.OpenProcess(access, false, uint32(p.Pid))
	if err != nil {
		return fmt.Errorf("opening process %d: %w", p.Pid, err)
	}
	defer syscall.CloseHandle(h)
	if status, _, _ := proc.Call(uintptr(h)); status != 0 {
		return fmt.Errorf("process %d: status %#x", p.Pid, status)
	}
	return nil
}

// childEnv is all that a child finds in its environment: what Windows needs to
// load its own libraries.
func childEnv() []string { return []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} }

func detach(cmd *exec.Cmd) {
	flags := uint32(syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow)
	if !slices.Contains(cmd.Env, plainPriority) {
		flags |= idlePriorityClass
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: flags}
}

// job is a job object that ends its processes when this process, which holds
// the only handle, is gone.
var job = sync.OnceValues(func() (uintptr, error) {
	h, _, err := createJobObject.Call(0, 0)
	if h == 0 {
		return 0, fmt.Errorf("creating a job object: %w", err)
	}
	size := uintptr(sizeofExtendedLimits64)
	if unsafe.Sizeof(uintptr(0)) == 4 {
		size = sizeofExtendedLimits32
	}
	info := make([]byte, size)
	*(*uint32)(unsafe.Pointer(&info[limitFlagsOffset])) = jobKillOnClose
	if ok, _, err := setJobObject.Call(h, jobExtendedLimits, uintptr(unsafe.Pointer(&info[0])), size); ok == 0 {
		return 0, fmt.Errorf("setting up a job object: %w", err)
	}
	return h, nil
})

// adopt puts a started child into the job object.
func adopt(cmd *exec.Cmd) error {
	j, err := job()
	if err != nil {
		return err
	}
	const processTerminate = 1
	h, err := syscall.OpenProcess(processSetQuota|processTerminate, false, uint32(cmd.Process.Pid))
	if err != nil {
		return fmt.Errorf("opening process %d: %w", cmd.Process.Pid, err)
	}
	defer syscall.CloseHandle(h)
	if ok, _, err := assignJobObject.Call(j, uintptr(h)); ok == 0 {
		return fmt.Errorf("putting process %d into a job object: %w", cmd.Process.Pid, err)
	}
	return nil
}
