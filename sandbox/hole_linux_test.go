//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"godwit/sandbox/wall"
)

// holeVerb makes the test binary a child that behaves as if a guest had found a fault in the compiler: it goes through
// what confines every child, and then its own native code tries what a thief would.
const holeVerb = "sandbox-hole"

// loot is what the thief knows of the machine.
type loot struct {
	Node      int    // process
	Identity  string // a file, whose content is secret
	Cache     string // directory
	Socket    string // path of one that listens
	Port      int    // of one that listens on loopback
	SecretAt  uintptr
	SecretLen int
}

// A theft is what came of one try.
type theft struct {
	Name string
	Err  string
	OK   bool // it was answered with what the filter answers
}

type haul struct {
	Wall   wall.State
	Thefts []theft
	Limits [2]unix.Rlimit // data and files, at the end
}

// hole is the thief.
func hole() {
	runtime.LockOSThread()
	confine()
	h := haul{Wall: wall.Shut(borrowFrom)}
	var l loot
	if err := json.NewDecoder(os.Stdin).Decode(&l); err != nil {
		os.Exit(1)
	}
	for _, t := range thefts(l) {
		err := t.try()
		h.Thefts = append(h.Thefts, theft{t.name, fmt.Sprint(err),
			errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS)})
	}
	_ = unix.Prlimit(0, unix.RLIMIT_DATA, nil, &h.Limits[0])
	_ = unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &h.Limits[1])
	_ = json.NewEncoder(os.Stdout).Encode(h)
	os.Exit(0)
}

type try struct {
	name string
	try  func() error
}

func raw(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

func pathOf(s string) uintptr {
	b, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	return uintptr(unsafe.Pointer(b))
}

// here is AT_FDCWD as a system call takes it.
var here = uintptr(0xffff_ffff_ffff_ff9c)

func thefts(l loot) []try {
	var all []try
	add := func(name string, f func() error) { all = append(all, try{name, f}) }
	call := func(name string, number uintptr, args ...uintptr) {
		add(name, func() error { return raw(number, args...) })
	}
	node := uintptr(l.Node)
	tryFiles(l, add, call)
	tryNetwork(l, add, call)

	add("fork", func() error {
		pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return errno
		}
		if pid == 0 { // there is no wall
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		return nil
	})
	// Flags that the kernel refuses, should the filter not.
	call("clone with a namespace", unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_NEWUTS)
	call("clone3", unix.SYS_CLONE3, 0, 0)
	add("execve", func() error { return syscall.Exec("/proc/self/exe", []string{"x"}, nil) })
	call("execveat", unix.SYS_EXECVEAT, here, pathOf("/proc/self/exe"), 0, 0, 0)
	call("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	call("setns", unix.SYS_SETNS, 0, 0)

	call("ptrace attach", unix.SYS_PTRACE, unix.PTRACE_ATTACH, node)
	call("ptrace seize", unix.SYS_PTRACE, unix.PTRACE_SEIZE, node)
	tryMemory(l, add, call)
	call("pidfd_open", unix.SYS_PIDFD_OPEN, node, 0)
	call("pidfd_getfd", unix.SYS_PIDFD_GETFD, 0, 0, 0)

	for _, s := range []uintptr{0, uintptr(unix.SIGKILL), uintptr(unix.SIGSTOP)} {
		call(fmt.Sprintf("kill %d", s), unix.SYS_KILL, node, s)
		call(fmt.Sprintf("tgkill %d", s), unix.SYS_TGKILL, node, node, s)
		call(fmt.Sprintf("tkill %d", s), unix.SYS_TKILL, node, s)
	}
	call("whether there are others", unix.SYS_KILL, ^uintptr(0), 0)
	call("rt_sigqueueinfo", unix.SYS_RT_SIGQUEUEINFO, node, 0, 0)
	call("pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, 0, 0, 0, 0)
	call("a signal by way of a pipe", unix.SYS_FCNTL, 0, unix.F_SETOWN, node)
	call("its number", unix.SYS_FCNTL, 0, unix.F_SETSIG, uintptr(unix.SIGKILL))

	high := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	limit := uintptr(unsafe.Pointer(&high))
	call("raise the limit on data", unix.SYS_PRLIMIT64, 0, unix.RLIMIT_DATA, limit, 0)
	call("raise the limit on files", unix.SYS_SETRLIMIT, unix.RLIMIT_NOFILE, limit)
	call("limit the node", unix.SYS_PRLIMIT64, node, unix.RLIMIT_CPU, limit, 0)
	call("look at the node's limits", unix.SYS_PRLIMIT64, node, unix.RLIMIT_CPU, 0, limit)
	call("setpriority", unix.SYS_SETPRIORITY, 0, 0, 0)
	call("sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, 0, 0, pathOf("\x00\x00\x00\x00"[:0]))
	call("dumpable", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1)
	call("ptracer", unix.SYS_PRCTL, unix.PR_SET_PTRACER, ^uintptr(0))
	call("a filter of its own", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0)

	for name, number := range map[string]uintptr{
		"bpf": unix.SYS_BPF, "perf_event_open": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": userfaultfd(),
		"add_key": unix.SYS_ADD_KEY, "keyctl": unix.SYS_KEYCTL, "io_uring_setup": unix.SYS_IO_URING_SETUP,
		"memfd_create": unix.SYS_MEMFD_CREATE, "inotify_init1": unix.SYS_INOTIFY_INIT1, "mount": unix.SYS_MOUNT,
		"shmget": unix.SYS_SHMGET, "mq_open": unix.SYS_MQ_OPEN, "personality": unix.SYS_PERSONALITY,
		"setuid": unix.SYS_SETUID, "capset": unix.SYS_CAPSET, "vmsplice": unix.SYS_VMSPLICE,
		"timer_create": unix.SYS_TIMER_CREATE, "setsid": unix.SYS_SETSID, "setpgid": unix.SYS_SETPGID,
	} {
		call(name, number)
	}
	return all
}

func userfaultfd() uintptr {
	if runtime.GOARCH == "amd64" {
		return userfaultfdAMD64
	}
	return userfaultfdARM64
}

func tryFiles(l loot, add func(string, func() error), call func(string, uintptr, ...uintptr)) {
	look := func(name, path string) {
		call("open "+name, unix.SYS_OPENAT, here, pathOf(path), unix.O_RDONLY)
		call("stat "+name, sysStat, here, pathOf(path), uintptr(unsafe.Pointer(&unix.Stat_t{})), 0)
		call("readlink "+name, unix.SYS_READLINKAT, here, pathOf(path), pathOf("................"), 8)
		add("os.ReadFile "+name, func() error { _, err := os.ReadFile(path); return err })
	}
	for _, path := range []string{"/", ".", "/etc/passwd", "/proc/self/mem", "/proc/self/oom_score_adj", "/dev/null",
		fmt.Sprintf("/proc/%d/mem", l.Node), fmt.Sprintf("/proc/%d/environ", l.Node)} {
		look(path, path)
	}
	// Nothing but this test's own files is written to, for the case that there is no wall.
	for _, path := range []string{l.Identity, filepath.Join(l.Cache, "planted"), filepath.Join(l.Cache, keyFile)} {
		name := filepath.Base(path)
		look(name, path)
		call("write "+name, unix.SYS_OPENAT, here, pathOf(path), unix.O_WRONLY|unix.O_CREAT, 0o600)
		call("truncate "+name, unix.SYS_TRUNCATE, pathOf(path), 0)
		call("chmod "+name, unix.SYS_FCHMODAT, here, pathOf(path), 0o777)
		call("unlink "+name, unix.SYS_UNLINKAT, here, pathOf(path), 0)
	}
	how := unix.OpenHow{}
	call("openat2", unix.SYS_OPENAT2, here, pathOf(l.Identity), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
	call("name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, here, pathOf(l.Identity), 0, 0, 0)
	call("open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, 0)
	call("mkdir", unix.SYS_MKDIRAT, here, pathOf(filepath.Join(l.Cache, "d")), 0o700)
	call("symlink", unix.SYS_SYMLINKAT, pathOf(l.Identity), here, pathOf(filepath.Join(l.Cache, "l")))
	call("link", unix.SYS_LINKAT, here, pathOf(l.Identity), here, pathOf(filepath.Join(l.Cache, "h")), 0)
	call("rename", unix.SYS_RENAMEAT2, here, pathOf(l.Identity), here, pathOf(filepath.Join(l.Cache, "r")), 0)
	call("chdir", unix.SYS_CHDIR, pathOf("/"))
	call("chroot", unix.SYS_CHROOT, pathOf("/"))
}

func tryNetwork(l loot, add func(string, func() error), call func(string, uintptr, ...uintptr)) {
	for _, family := range []uintptr{unix.AF_INET, unix.AF_INET6, unix.AF_UNIX, unix.AF_NETLINK, unix.AF_PACKET,
		unix.AF_VSOCK, unix.AF_ALG} {
		call(fmt.Sprintf("socket %d", family), unix.SYS_SOCKET, family, unix.SOCK_STREAM, 0)
	}
	call("socketpair", unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0, uintptr(unsafe.Pointer(&[2]int32{})))
	call("connect", unix.SYS_CONNECT, 0, 0, 0)
	call("sendmsg", unix.SYS_SENDMSG, borrowFrom, 0, 0)
	call("recvmsg from another", unix.SYS_RECVMSG, 1, 0, 0)
	add("net.Dial to a port", func() error {
		_, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", l.Port))
		return err
	})
	add("net.Dial to a socket", func() error { _, err := net.Dial("unix", l.Socket); return err })
}

func tryMemory(l loot, add func(string, func() error), call func(string, uintptr, ...uintptr)) {
	local := make([]byte, l.SecretLen)
	from := []unix.RemoteIovec{{Base: l.SecretAt, Len: l.SecretLen}}
	to := []unix.Iovec{{Base: &local[0]}}
	to[0].SetLen(l.SecretLen)
	add("process_vm_readv", func() error { _, err := unix.ProcessVMReadv(l.Node, to, from, 0); return err })
	add("process_vm_writev", func() error { _, err := unix.ProcessVMWritev(l.Node, to, from, 0); return err })
	add("process_vm_writev to itself", func() error {
		_,
			err := unix.ProcessVMWritev(os.Getpid(), to, from, 0)
		return err
	})
	call("process_madvise", unix.SYS_PROCESS_MADVISE, 0, 0, 0, 0, 0)
	call("kcmp", unix.SYS_KCMP, uintptr(l.Node), uintptr(os.Getpid()), 0, 0, 0)
}

var secret = []byte("the identity of the node")

// A compiler with a hole gives a guest nothing: whatever native code tries in a child is refused by the filter of
// system
// calls, which every Linux has. What other layers a kernel has is logged.
func TestHoleInTheCompilerGetsNothing(t *testing.T) {
	dir := t.TempDir()
	l := loot{Node: os.Getpid(), Identity: filepath.Join(dir, "identity.key"), Cache: filepath.Join(dir, "cache"),
		Socket: filepath.Join(dir, "s"), SecretAt: uintptr(unsafe.Pointer(&secret[0])), SecretLen: len(secret)}
	if err := os.WriteFile(l.Identity, secret, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openEntries(l.Cache); err != nil {
		t.Fatal(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	l.Port = tcp.Addr().(*net.TCPAddr).Port
	named, err := net.Listen("unix", l.Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()

	h, limit := rob(t, l)
	if !h.Wall.Filter {
		t.Fatalf("no filter of system calls: %s", h.Wall.Why[0])
	}
	if h.Wall.Landlock == 0 {
		t.Logf("without Landlock: %s", h.Wall.Why[1])
	}
	if !h.Wall.Own {
		t.Logf("without namespaces: %s", h.Wall.Why[2])
	}
	for _, got := range h.Thefts {
		if !got.OK {
			t.Errorf("%s: %s, want that it is not permitted", got.Name, got.Err)
		}
	}
	if len(h.Thefts) < 100 {
		t.Errorf("only %d things were tried", len(h.Thefts))
	}
	if h.Limits[0] != limit || h.Limits[1].Max > 64 {
		t.Errorf("its limits are %v, want %v and at most 64 files", h.Limits, limit)
	}
	if b, err := os.ReadFile(l.Identity); err != nil || string(b) != string(secret) {
		t.Errorf("the identity is now %q, %v", b, err)
	}
	if files, err := os.ReadDir(l.Cache); err != nil || len(files) != 1 || files[0].Name() != keyFile {
		t.Errorf("in the cache are %v, %v; want its key alone", files, err)
	}
}

// rob lets the thief in, as every child is let in, and returns what he tells and his limit on data.
func rob(t *testing.T, l loot) (h haul, limit unix.Rlimit) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	starter := newLauncher()
	defer starter.close()
	p, err := starter.launch([]string{self, holeVerb}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	const soft, hard = 1 << 40, 1 << 41 // the race detector maps much
	if err := wall.LimitData(p.cmd.Process.Pid, soft, hard); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(l)
	if err == nil {
		_, err = p.in.Write(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(p.out).Decode(&h); err != nil {
		<-p.exited
		t.Fatalf("the thief did not tell: %v; %v; %s", err, p.state, strings.TrimSpace(p.stderr.String()))
	}
	return h, unix.Rlimit{Cur: soft, Max: hard}
}
