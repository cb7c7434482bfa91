package testbed

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of times in /proc: 1/100 s on every architecture that Go runs
// on (USER_HZ; proc(5)).
const clockTick = time.Second / 100

// CPUTime is the processor time that the nodes, without their children, have used; false
// if the system does not tell.
func (sw *Swarm) CPUTime() (sum time.Duration, ok bool) {
	for _, n := range sw.Nodes {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.PID()))
		if err != nil {
			return 0, false
		}
		// The name of the program comes before, in parentheses, and may have spaces.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		const user, system = 11, 12 // utime and stime, counted from the state
		if len(fields) <= system {
			return 0, false
		}
		for _, f := range fields[user : system+1] {
			ticks, err := strconv.ParseInt(string(f), 10, 64)
			if err != nil {
				return 0, false
			}
			sum += time.Duration(ticks) * clockTick
		}
	}
	return sum, true
}

// MachineLoad is the mean number of processes that ran, or wanted to, in the last minute;
// 0 if the system does not tell.
func MachineLoad() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return 0
	}
	return load
}
