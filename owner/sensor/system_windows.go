package sensor

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	user32                = windows.NewLazySystemDLL("user32.dll")
	kernel32              = windows.NewLazySystemDLL("kernel32.dll")
	shell32               = windows.NewLazySystemDLL("shell32.dll")
	getLastInputInfo      = user32.NewProc("GetLastInputInfo")
	getTickCount          = kernel32.NewProc("GetTickCount")
	getSystemPowerStatus  = kernel32.NewProc("GetSystemPowerStatus")
	globalMemoryStatusEx  = kernel32.NewProc("GlobalMemoryStatusEx")
	queryNotificationMode = shell32.NewProc("SHQueryUserNotificationState")
)

// System returns the sensors of this machine.
func System() []Sensor {
	return []Sensor{
		polled{"lastinput", Input, inputPoll, lastInput},
		polled{"notification", Screen, slowPoll, fullScreen},
		Processors{},
		polled{"memory", Pressure, slowPoll, memoryShort},
		polled{"power", Power, slowPoll, powerStatus},
		&wakeClock{},
		never{"metered", Network, "Windows tells of metered networks only through COM, which is not used",
			"set max_upload_rate and max_download_rate if this network is paid by volume"},
		never{"going", Going, "Windows announces sleep only to programs with a window; a shutdown ends the node as Ctrl-C " +
			"does", ""},
	}
}

// lastInput is GetLastInputInfo: milliseconds since the start, modulo 2^32, of
// the last input in this program's session.
func lastInput() (Reading, error) {
	info := struct{ size, time uint32 }{size: 8}
	if ok, _, err := getLastInputInfo.Call(uintptr(unsafe.Pointer(&info))); ok == 0 {
		return Reading{}, blind(fmt.Sprintf("GetLastInputInfo: %v", err),
			"run godwit in the session of the user, not as a service")
	}
	ticks, _, _ := getTickCount.Call()
	idle := time.Duration(uint32(ticks)-info.time) * time.Millisecond
	return Reading{Touched: time.Now().Add(-idle), Detail: "GetLastInputInfo"}, nil
}

// fullScreen is SHQueryUserNotificationState: busy, a Direct3D program in full
// screen, or a presentation.
func fullScreen() (Reading, error) {
	const busy, direct3D, presentation = 2, 3, 4
	var state int32
	if hr, _, _ := queryNotificationMode.Call(uintptr(unsafe.Pointer(&state))); int32(hr) < 0 {
		return Reading{}, blind(fmt.Sprintf("SHQueryUserNotificationState: %#x", uint32(hr)),
			"run godwit in the session of the user, not as a service")
	}
	return Reading{On: state >= busy && state <= presentation, Detail: "SHQueryUserNotificationState"}, nil
}

// powerStatus is GetSystemPowerStatus.
func powerStatus() (Reading, error) {
	const offline, unknownCharge = 0, 255
	var s struct {
		acLine, batteryFlag, batteryPercent, systemStatus byte
		lifeTime, fullLifeTime                            uint32
	}
	if ok, _, err := getSystemPowerStatus.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return Reading{}, blind(fmt.Sprintf("GetSystemPowerStatus: %v", err), "")
	}
	r := Reading{On: s.acLine == offline, Detail: "GetSystemPowerStatus"}
	if s.batteryPercent != unknownCharge {
		r.Gauged, r.Value = true, min(float64(s.batteryPercent)/100, 1)
	}
	return r, nil
}

// memoryShort is GlobalMemoryStatusEx. Windows tells no stall times; with less
// than a twentieth of its memory free it has begun to page.
func memoryShort() (Reading, error) {
	const nearlyFull = 95 // percent
	var s struct {
		length, load                                                                uint32
		total, avail, totalPage, availPage, totalVirtual, availVirtual, extendedAvl uint64
	}
	s.length = uint32(unsafe.Sizeof(s))
	if ok, _, err := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return Reading{}, blind(fmt.Sprintf("GlobalMemoryStatusEx: %v", err), "")
	}
	r := Reading{Detail: "GlobalMemoryStatusEx"}
	if s.load >= nearlyFull {
		r.Value = 1
	}
	return r, nil
}
