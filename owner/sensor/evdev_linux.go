package sensor

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Evdev reads the kernel's input devices themselves. It needs no desktop, but
// the right to read /dev/input.
type Evdev struct {
	Dev string // root of devices; "" for /dev
	Sys string // root of sysfs; "" for /sys
}

// scanEvery is how often new devices are looked for.
const scanEvery = 2 * time.Second

// Types of events that a hand makes: keys, movements, positions.
const (
	evKey = 1
	evAbs = 3
)

// accelerometer is the bit of a device's properties that says so
// (INPUT_PROP_ACCELEROMETER): it moves with the train, not with the owner.
const accelerometer = 1 << 6

// eventSize is the size of struct input_event: a time, type, code and value.
const eventSize = int(unsafe.Sizeof(syscall.Timeval{})) + 8

// Name returns "evdev".
func (Evdev) Name() string { return "evdev" }

// Kinds returns Input.
func (Evdev) Kinds() []Kind { return []Kind{Input} }

// Run watches until ctx ends.
func (e Evdev) Run(ctx context.Context, report func(Reading)) {
	w := &evWatch{e: e, report: report, open: map[string]bool{}}
	_ = Poll(ctx, scanEvery, func() error { w.scan(ctx); return nil })
	w.readers.Wait()
}

// An evWatch holds the devices that are being read.
type evWatch struct {
	e       Evdev
	readers sync.WaitGroup

	mu     sync.Mutex
	report func(Reading)
	open   map[string]bool
	state  string // last reported: why it is blind, or "sees"
	touch  touch
}

// scan opens devices that are new and says whether any can be read.
func (w *evWatch) scan(ctx context.Context) {
	names, _ := filepath.Glob(filepath.Join(orRoot(w.e.Dev, "/dev"), "input", "event*"))
	var refused error
	for _, name := range names {
		w.mu.Lock()
		known := w.open[name]
		w.mu.Unlock()
		if known || w.e.moves(name) {
			continue
		}
		// Without O_NONBLOCK closing would not end a read that waits.
		f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			refused = err
			continue
		}
		w.mu.Lock()
		w.open[name] = true
		w.mu.Unlock()
		w.readers.Go(func() { w.read(ctx, name, f) })
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case len(w.open) > 0:
		w.become("sees", Reading{Touched: time.Now(),
			Detail: fmt.Sprintf("%d devices; input before now is not known", len(w.open))})
	case refused != nil:
		w.become(refused.Error(), Reading{Blind: refused.Error(),
			Fix: "add the user to the group input (`usermod -aG input NAME`) and log in again"})
	default:
		w.become("none", Reading{Blind: "there is no input device",
			Fix: "nothing to do on a machine without keyboard and mouse"})
	}
}

// become reports a change between seeing and not seeing; w.mu is held.
func (w *evWatch) become(state string, r Reading) {
	if state == w.state {
		return
	}
	w.state = state
	w.send(r)
}

func (w *evWatch) send(r Reading) {
	r.Sensor, r.Kind, r.At = w.e.Name(), Input, time.Now()
	w.report(r)
}

// read reports what a device says until it is gone.
func (w *evWatch) read(ctx context.Context, name string, f *os.File) {
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })()
	const batch = 64 // events; a hand makes some hundred a second
	buf := make([]byte, batch*eventSize)
	for {
		n, err := io.ReadAtLeast(f, buf, eventSize)
		w.mu.Lock()
		if err != nil {
			delete(w.open, name)
			w.mu.Unlock()
			return
		}
		if now := time.Now(); byHand(buf[:n]) && w.touch.news(now) {
			w.send(Reading{Touched: now, Detail: filepath.Base(name)})
		}
		w.mu.Unlock()
	}
}

// byHand says whether a hand made one of the events.
func byHand(b []byte) bool {
	for ; len(b) >= eventSize; b = b[eventSize:] {
		if t := binary.NativeEndian.Uint16(b[eventSize-8:]); t >= evKey && t <= evAbs {
			return true
		}
	}
	return false
}

// moves says whether a device is an accelerometer.
func (e Evdev) moves(name string) bool {
	b, err := os.ReadFile(filepath.Join(orRoot(e.Sys, "/sys"), "class", "input", filepath.Base(name), "device",
		"properties"))
	if err != nil {
		return false
	}
	words := strings.Fields(string(b)) // hexadecimal, the lowest bits last
	if len(words) == 0 {
		return false
	}
	bits, err := strconv.ParseUint(words[len(words)-1], 16, 64)
	return err == nil && bits&accelerometer != 0
}

func orRoot(root, usual string) string {
	if root == "" {
		return usual
	}
	return root
}
