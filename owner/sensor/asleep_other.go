//go:build !linux

package sensor

import "time"

// Asleep returns 0: how long the machine was suspended is not known here.
func Asleep() time.Duration { return 0 }
