package wall

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// protectVerb makes the test binary a node that has inherited a descriptor.
const protectVerb = "wall-protect"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == protectVerb {
		protected()
	}
	os.Exit(m.Run())
}

func protected() {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0) // not close-on-exec
	if err == nil {
		err = Protect()
	}
	flags, err2 := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	dumpable, err3 := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	fmt.Printf("%v close-on-exec %d dumpable %d\n", errors.Join(err, err2, err3), flags&unix.FD_CLOEXEC, dumpable)
	if err := closeEachOnExec(); err != nil && os.Getuid() == 0 {
		fmt.Println(err)
	}
	os.Exit(0)
}

func TestProtect(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(self, protectVerb).CombinedOutput()
	if want := "<nil> close-on-exec 1 dumpable 0\n"; err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}

// Landlock alone, without the filter before it, keeps files from a thread.
func TestLandlockAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		fd, version, err := ruleset()
		if err != nil {
			done <- err
			return
		}
		_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); errno != 0 {
			done <- errno
			return
		}
		for _, f := range []func() error{
			func() error { _, err := unix.Open(path, unix.O_RDONLY, 0); return err },
			func() error { _, err := unix.Open(path+"2", unix.O_WRONLY|unix.O_CREAT, 0o600); return err },
			func() error { return unix.Unlink(path) },
			func() error { _, err := unix.Open("/", unix.O_RDONLY, 0); return err },
		} {
			if err := f(); !errors.Is(err, unix.EACCES) {
				t.Errorf("Landlock %d: got %v, want that access is denied", version, err)
			}
		}
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Skipf("this kernel lacks the layer: %v", err)
	}
}

// A process that is refused namespaces says so, whoever refuses.
func TestNotPermitted(t *testing.T) {
	for err, want := range map[error]bool{unix.EPERM: true, unix.ENOSPC: true, unix.ENOENT: false} {
		if got := NotPermitted(&os.PathError{Op: "fork/exec", Path: "x", Err: err}); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// Limits go down and never up.
func TestHardLimit(t *testing.T) {
	var before, after unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &before); err != nil {
		t.Fatal(err)
	}
	hardLimit(unix.RLIMIT_CORE, before.Max)
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &after); err != nil || after != before {
		t.Errorf("it was %v and is %v, %v", before, after, err)
	}
}
