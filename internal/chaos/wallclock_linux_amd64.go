package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A wallClock is what one process takes for the time of day. The machine has one
// clock for everybody, and a time namespace leaves the time of day as it is; but
// every Go program reads it by a function that the kernel maps into each process,
// the vDSO's clock_gettime, whose copy in one process can be replaced. What jumps
// is the time of day alone, as when somebody sets the clock: timers and what Go
// measures go on.
type wallClock struct {
	pid    int
	offset int64 // address of the seconds that are added
}

// stub is clock_gettime by a system call, with an offset added to the seconds of
// the time of day (clock 0), in amd64 code. The offset, eight bytes, follows.
var stub = []byte{
	0xb8, 0xe4, 0x00, 0x00, 0x00, // mov eax, 228: clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xc0, // test eax, eax
	0x75, 0x0e, // jnz out: it failed
	0x85, 0xff, // test edi, edi
	0x75, 0x0a, // jnz out: another clock
	0x48, 0x8b, 0x0d, 0x0a, 0x00, 0x00, 0x00, // mov rcx, [rip+10]: offset
	0x48, 0x01, 0x0e, // add [rsi], rcx
	0xc3,                               // out: ret
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, // to a multiple of eight
	0, 0, 0, 0, 0, 0, 0, 0, // offset
}

const (
	stubOffset = 32 // in stub
	jump       = 5  // bytes of a near jump
	// stopTries is how often a process is stopped again that stands where the
	// jump goes.
	stopTries = 20
	// stopWait bounds how long its threads may take to stand still.
	stopWait = time.Second
)

// divert makes a process of this machine's own architecture read its time of day
// from the stub; until set it is what it was.
func divert(pid int) (*wallClock, error) {
	start, image, err := readVDSO(pid)
	if err != nil {
		return nil, err
	}
	entry, room, err := places(image)
	if err != nil {
		return nil, err
	}
	near := make([]byte, jump)
	near[0] = 0xe9 // jmp rel32
	binary.LittleEndian.PutUint32(near[1:], uint32(room-(entry+jump)))
	c := &wallClock{pid: pid, offset: start + int64(room) + stubOffset}
	if err := c.write(start+int64(room), stub); err != nil {
		return nil, err
	}
	err = whileStopped(pid, start+int64(entry), func() error { return c.write(start+int64(entry), near) })
	return c, err
}

// set makes the process's time of day that much later than the machine's.
func (c *wallClock) set(later time.Duration) error {
	return c.write(c.offset, binary.LittleEndian.AppendUint64(nil, uint64(int64(later/time.Second))))
}

// write changes the process's memory, that which it may not write itself too.
func (c *wallClock) write(at int64, b []byte) error {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.pid), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("changing a process's clock: %w", err)
	}
	_, err = f.WriteAt(b, at)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("changing a process's clock: %w", err)
	}
	return nil
}

// readVDSO returns where a process has its vDSO, and what is there.
func readVDSO(pid int) (start int64, image []byte, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, nil, fmt.Errorf("finding a process's clock: %w", err)
	}
	var end int64
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), "[vdso]") {
			if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil {
				return 0, nil, fmt.Errorf("finding a process's clock: %w", err)
			}
		}
	}
	if start == 0 {
		return 0, nil, errors.New("finding a process's clock: it has no vDSO")
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return 0, nil, fmt.Errorf("reading a process's clock: %w", err)
	}
	defer f.Close()
	image = make([]byte, end-start)
	if _, err := f.ReadAt(image, start); err != nil {
		return 0, nil, fmt.Errorf("reading a process's clock: %w", err)
	}
	return start, image, nil
}

// places returns where in a vDSO clock_gettime begins, and where behind its end
// the last page has room for the stub.
func places(image []byte) (entry, room int, err error) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return 0, 0, fmt.Errorf("reading the vDSO: %w", err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return 0, 0, fmt.Errorf("reading the vDSO: %w", err)
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			entry = int(s.Value)
		}
	}
	const aligned = 16
	room = (len(bytes.TrimRight(image, "\x00")) + 2*aligned) &^ (aligned - 1)
	switch {
	case entry <= 0 || entry+jump > len(image):
		return 0, 0, errors.New("the vDSO has no clock_gettime")
	case room+len(stub) > len(image):
		return 0, 0, errors.New("the vDSO has no room behind its end")
	}
	return entry, room, nil
}

// whileStopped runs f while no thread of the process runs, nor stands within the
// bytes of a jump at that address.
func whileStopped(pid int, at int64, f func() error) error {
	for range stopTries {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("stopping a process: %w", err)
		}
		clear, err := standClear(pid, at)
		if err == nil && clear {
			err = f()
		}
		if e := syscall.Kill(pid, syscall.SIGCONT); e != nil {
			err = errors.Join(err, fmt.Errorf("continuing a process: %w", e))
		}
		if err != nil || clear {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("a process never left its clock_gettime")
}

// standClear waits until all threads stand still and says whether none does so
// within the bytes of a jump at that address, but at their begin.
func standClear(pid int, at int64) (bool, error) {
	end := time.Now().Add(stopWait)
	for {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		if err != nil || len(threads) == 0 {
			return false, errors.Join(errors.New("a process has no threads"), err)
		}
		running := false
		for _, path := range threads {
			b, err := os.ReadFile(path)
			if err != nil {
				continue // that thread has ended
			}
			fields := strings.Fields(string(b))
			if fields[0] == "running" {
				running = true
				break
			}
			pc, err := strconv.ParseInt(strings.TrimPrefix(fields[len(fields)-1], "0x"), 16, 64)
			if err == nil && pc > at && pc < at+jump {
				return false, nil
			}
		}
		if !running {
			return true, nil
		}
		if time.Now().After(end) {
			return false, errors.New("a process's threads do not stand still")
		}
		time.Sleep(time.Millisecond)
	}
}
