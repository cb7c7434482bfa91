//go:build unix

package sandbox

import (
	"fmt"
	"syscall"
)

// reserve maps address space; pages take memory when they are first written.
func reserve(n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if int64(int(n)) != n {
		return nil, fmt.Errorf("reserving %d bytes: more than this machine's address space", n)
	}
	b, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("reserving %d bytes: %w", n, err)
	}
	return b, nil
}

func unreserve(b []byte) error { return syscall.Munmap(b) }
