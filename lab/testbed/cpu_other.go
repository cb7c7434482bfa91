//go:build !linux

package testbed

import "time"

// CPUTime is not told by this system.
func (sw *Swarm) CPUTime() (time.Duration, bool) { return 0, false }

// MachineLoad is not told by this system.
func MachineLoad() float64 { return 0 }
