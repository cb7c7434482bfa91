package sensor

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// System returns the sensors of this machine.
func System() []Sensor {
	return []Sensor{
		polled{"coregraphics", Input, inputPoll, lastInput},
		Processors{},
		polled{"memory", Pressure, slowPoll, memoryPressure},
		polled{"pmset", Power, pmsetPoll, powerSource},
		&wakeClock{},
		never{"screen", Screen, "macOS tells of full-screen windows only to programs that may record the screen", ""},
		never{"metered", Network, "macOS tells of expensive networks only through Network.framework, which is not used",
			"set max_upload_rate and max_download_rate if this network is paid by volume"},
		never{"going", Going, "macOS announces sleep only to programs with a run loop; a shutdown ends the node as Ctrl-C " +
			"does", ""},
	}
}

// pmsetPoll is how often pmset is run; each run costs some ten milliseconds.
const pmsetPoll = 10 * time.Second

// sinceInput is CGEventSourceSecondsSinceLastEventType of CoreGraphics.
var sinceInput = sync.OnceValues(func() (f func(state int32, kind uint32) float64, err error) {
	lib, err := purego.Dlopen("/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics",
		purego.RTLD_LAZY|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("loading CoreGraphics: %w", err)
	}
	address, err := purego.Dlsym(lib, "CGEventSourceSecondsSinceLastEventType")
	if err != nil {
		return nil, fmt.Errorf("loading CoreGraphics: %w", err)
	}
	purego.RegisterFunc(&f, address)
	return f, nil
})

func lastInput() (Reading, error) {
	const (
		hidSystemState = 1          // kCGEventSourceStateHIDSystemState: the hardware's
		anyInput       = ^uint32(0) // kCGAnyInputEventType
	)
	ask, err := sinceInput()
	if err != nil {
		return Reading{}, blind(err.Error(), "run godwit on macOS 10.4 or later, as the user who is logged in")
	}
	idle := time.Duration(ask(hidSystemState, anyInput) * float64(time.Second))
	return Reading{Touched: time.Now().Add(-idle), Detail: "CGEventSourceSecondsSinceLastEventType"}, nil
}

// memoryPressure is the kernel's own judgement: 1 normal, 2 warning, 4 critical.
func memoryPressure() (Reading, error) {
	const warning = 2
	level, err := unix.SysctlUint32("kern.memorystatus_vm_pressure_level")
	if err != nil {
		return Reading{}, blind(fmt.Sprintf("kern.memorystatus_vm_pressure_level: %v", err), "")
	}
	r := Reading{Detail: "kern.memorystatus_vm_pressure_level"}
	if level >= warning {
		r.Value = 1
	}
	return r, nil
}

// powerSource reads what `pmset -g batt` prints.
func powerSource() (Reading, error) {
	ctx, cancel := context.WithTimeout(context.Background(), pmsetPoll)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/usr/bin/pmset", "-g", "batt").Output()
	if err != nil {
		return Reading{}, blind(fmt.Sprintf("pmset: %v", err), "")
	}
	return parsePmset(out), nil
}

// parsePmset reads "Now drawing from 'Battery Power'" and "... 87%; discharging".
func parsePmset(out []byte) Reading {
	r := Reading{On: bytes.Contains(out, []byte("'Battery Power'")), Detail: "pmset"}
	if before, _, ok := strings.Cut(string(out), "%;"); ok {
		digits := before[strings.LastIndexAny(before, "\t ")+1:]
		if percent, err := strconv.ParseFloat(digits, 64); err == nil && percent >= 0 && percent <= 100 {
			r.Gauged, r.Value = true, percent/100
		}
	}
	return r
}
