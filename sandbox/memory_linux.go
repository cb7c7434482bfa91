package sandbox

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// zero makes b all zeros. On Linux MADV_DONTNEED gives private pages back,
// and they read as zeros again.
func zero(b []byte) {
	if len(b) < clearBelow || syscall.Madvise(b, syscall.MADV_DONTNEED) != nil {
		clear(b)
	}
}

// large asks for large pages: a small one takes a fault for every 4 KiB.
func large(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }

// readShared copies memory that compiled code may be writing to. For Go that
// would be a data race, though a benign one, since whoever reads so finds out
// whether anything was written; here the kernel copies, which is no access by Go
// at all. Where the kernel may not, Go does it.
func readShared(to, from []byte) {
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	remote := []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&from[0])), Len: len(from)}}
	if n, err := unix.ProcessVMReadv(os.Getpid(), local, remote, 0); err != nil || n != len(to) {
		copy(to, from)
	}
}
