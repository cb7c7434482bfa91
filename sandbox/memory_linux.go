package sandbox

import "syscall"

// zero makes b all zeros. On Linux MADV_DONTNEED gives private pages back,
// and they read as zeros again.
func zero(b []byte) {
	if len(b) < clearBelow || syscall.Madvise(b, syscall.MADV_DONTNEED) != nil {
		clear(b)
	}
}

// large asks for large pages: a small one takes a fault for every 4 KiB.
func large(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
