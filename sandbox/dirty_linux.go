package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"
)

// A tracker asks the kernel which pages of a mapping were written. The kernel
// write-protects the pages; the first write to one lifts that again without
// anybody being told (userfaultfd in asynchronous mode), and a scan of the page
// table shows where it is lifted (Linux 6.7 and later; see the kernel's
// admin-guide/mm/pagemap and admin-guide/mm/userfaultfd). It is exact, and costs
// a fault for each page written between two scans. To look at 512 MiB instead
// takes as long as reading them.
type tracker struct {
	*watcher
	base  uintptr
	size  uintptr
	spans []pageSpan
}

// A watcher is what a process needs open to ask. It serves all its mappings.
type watcher struct {
	uffd    int
	pagemap *os.File
}

// theWatcher is opened once, before a child gives up all ways to files; nil where the kernel cannot tell.
var theWatcher = sync.OnceValue(openWatcher)

// What the system calls below take; the syscall package lacks these names.
const (
	uffdUserModeOnly  = 1
	uffdAPI           = 0xaa
	uffdFeatureUnpop  = 1 << 13
	uffdFeatureAsync  = 1 << 15
	uffdModeWP        = 2
	ioctlUffdAPI      = 0xc018aa3f
	ioctlUffdRegister = 0xc020aa00
	ioctlUffdUnreg    = 0x8010aa01
	ioctlPagemapScan  = 0xc0606610
	scanProtect       = 1 // what is found
	scanCheckAsync    = 2
	pageIsWritten     = 2
	scanSpans         = 4096 // that one call can find
	userfaultfdAMD64  = 323
	userfaultfdARM64  = 282 // and all newer architectures
)

type uffdAPIArg struct{ api, features, ioctls uint64 }

type uffdRegisterArg struct{ start, size, mode, ioctls uint64 }

type uffdRangeArg struct{ start, size uint64 }

type pageSpan struct{ start, end, categories uint64 }

type scanArg struct {
	size, flags, start, end, walkEnd uint64
	spans, spansLen, maxPages        uint64
	inverted, mask, anyOf, want      uint64 // categories
}

// newTracker watches a mapping, and is nil where the kernel cannot.
func newTracker(b []byte) *tracker {
	w := theWatcher()
	if w == nil || len(b) == 0 {
		return nil
	}
	t := &tracker{watcher: w, base: uintptr(unsafe.Pointer(&b[0])), size: uintptr(len(b)),
		spans: make([]pageSpan, scanSpans)}
	reg := uffdRegisterArg{start: uint64(t.base), size: uint64(t.size), mode: uffdModeWP}
	if ioctl(uintptr(w.uffd), ioctlUffdRegister, unsafe.Pointer(&reg)) != nil {
		return nil
	}
	return t
}

// openWatcher opens what trackers need, and is nil where the kernel cannot watch.
func openWatcher() *watcher {
	var call uintptr
	switch runtime.GOARCH {
	case "amd64":
		call = userfaultfdAMD64
	case "arm64", "riscv64", "loong64":
		call = userfaultfdARM64
	default:
		return nil
	}
	fd, _, errno := syscall.Syscall(call, syscall.O_CLOEXEC|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return nil
	}
	api := uffdAPIArg{api: uffdAPI, features: uffdFeatureUnpop | uffdFeatureAsync}
	err := ioctl(fd, ioctlUffdAPI, unsafe.Pointer(&api))
	if err == nil {
		w := &watcher{uffd: int(fd)}
		if w.pagemap, err = os.Open("/proc/self/pagemap"); err == nil {
			return w
		}
	}
	_ = syscall.Close(int(fd))
	return nil
}

func ioctl(fd, what uintptr, arg unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, what, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// written lists what of the first size bytes was written since the last call;
// at the first all that could have been.
func (t *tracker) written(size int) ([]span, error) {
	var out []span
	arg := scanArg{flags: scanProtect | scanCheckAsync, start: uint64(t.base), end: uint64(t.base) + uint64(size),
		spans: uint64(uintptr(unsafe.Pointer(&t.spans[0]))), spansLen: uint64(len(t.spans)), mask: pageIsWritten,
		want: pageIsWritten}
	arg.size = uint64(unsafe.Sizeof(arg))
	for arg.start < arg.end {
		n, _, errno := syscall.Syscall(syscall.SYS_IOCTL, t.pagemap.Fd(), ioctlPagemapScan, uintptr(unsafe.Pointer(&arg)))
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return nil, fmt.Errorf("asking which pages were written: %w", errno)
		}
		for _, s := range t.spans[:n] {
			out = append(out, span{int(s.start - uint64(t.base)), int(s.end - uint64(t.base))})
		}
		if arg.walkEnd <= arg.start {
			return nil, errors.New("asking which pages were written: no progress")
		}
		arg.start = arg.walkEnd
	}
	runtime.KeepAlive(t)
	return out, nil
}

// close ends the watching. t may be nil.
func (t *tracker) close() {
	if t == nil {
		return
	}
	arg := uffdRangeArg{uint64(t.base), uint64(t.size)}
	_ = ioctl(uintptr(t.uffd), ioctlUffdUnreg, unsafe.Pointer(&arg)) // or the mapping goes, which ends it too
}
