package sensor

import (
	"time"

	"golang.org/x/sys/unix"
)

// Asleep returns how long the machine has been suspended since it was started.
// The clock by which a program measures what has passed stands still meanwhile.
func Asleep() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}
