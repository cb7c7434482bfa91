//go:build !linux

package main

import "time"

// cpuTime is not told by this system.
func (sw *swarm) cpuTime() (time.Duration, bool) { return 0, false }

// machineLoad is not told by this system.
func machineLoad() float64 { return 0 }
