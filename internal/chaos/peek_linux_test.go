package main

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestReadAreas(t *testing.T) {
	const maps = `00400000-01000000 r-xp 00000000 fe:00 1001 /bin/godwit
032c2000-0532c000 rw-p 00000000 00:00 0 
7fa6355d2000-7fa635ad2000 rw-p 00000000 00:00 0
7fa635be0000-7fa635be1000 rw-p 00000000 00:00 0
7fa635e00000-7fa637e00000 rw-p 00000000 00:00 0 [heap]
7fa638000000-7fa639000000 ---p 00000000 00:00 0
nonsense
`
	got := readAreas(maps, 5<<20)
	if len(got) != 2 || got[1] != (area{0x7fa6355d2000, 0x7fa635ad2000}) {
		t.Errorf("areas %x", got)
	}
}

// What is looked for is found in a process's memory: this one's.
func TestPeek(t *testing.T) {
	mem, err := openMemory(os.Getpid())
	if err != nil {
		t.Skip("this process's memory cannot be read:", err)
	}
	defer mem.Close()
	if _, err := privateAreas(os.Getpid(), 0); err != nil {
		t.Error(err)
	}
	if got, want := parentOf(os.Getpid()), os.Getppid(); got != want {
		t.Errorf("this process's parent is %d, not %d", got, want)
	}
}

// A guest's memory is found wherever it lies in what the kernel shows as one.
func TestLocate(t *testing.T) {
	mem, err := openMemory(os.Getpid())
	if err != nil {
		t.Skip("this process's memory cannot be read:", err)
	}
	defer mem.Close()
	const memory, offset = 1 << 20, 4064
	for name, beside := range map[string][2]int{"alone": {0, 0}, "below others": {0, 3}, "above others": {5, 0},
		"between others": {2, 7}} {
		size := memory + (beside[0]+beside[1])*pageBytes
		b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		at := int64(uintptr(unsafe.Pointer(&b[0])))
		a, base := area{at, at + int64(size)}, at+int64(beside[0]*pageBytes)
		w := watcher{memory: memory, offset: offset}
		if got := w.locateIn(mem, a); got != 0 {
			t.Errorf("%s: found at %d before it is there", name, got-at)
		}
		copy(b[beside[0]*pageBytes+offset:], mark)
		if got := w.locateIn(mem, a); got != base {
			t.Errorf("%s: found at %d, want %d", name, got-at, base-at)
		}
		if err := unix.Munmap(b); err != nil {
			t.Error(err)
		}
	}
}
