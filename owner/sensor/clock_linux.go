package sensor

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Clock notices that the machine slept: one of the kernel's clocks stands
// still meanwhile and the other does not.
type Clock struct {
	read func() (boot, awake time.Duration) // nil for the kernel's
}

// slept is the least difference that is a sleep and not the time between two
// readings.
const slept = time.Second

// Name returns "clock".
func (Clock) Name() string { return "clock" }

// Kinds returns Wake.
func (Clock) Kinds() []Kind { return []Kind{Wake} }

// Run watches until ctx ends.
func (c Clock) Run(ctx context.Context, report func(Reading)) {
	read := c.read
	if read == nil {
		read = kernelClocks
	}
	boot, awake := read()
	asleep := boot - awake
	report(Reading{Sensor: c.Name(), Kind: Wake, At: time.Now(), Detail: "CLOCK_BOOTTIME"})
	_ = Poll(ctx, loadEvery, func() error {
		boot, awake := read()
		if now := boot - awake; now-asleep > slept {
			asleep = now
			report(Reading{Sensor: c.Name(), Kind: Wake, At: time.Now(), Touched: time.Now(), Detail: "CLOCK_BOOTTIME"})
		}
		return nil
	})
}

func kernelClocks() (boot, awake time.Duration) {
	clock := func(id int32) time.Duration {
		var t unix.Timespec
		if unix.ClockGettime(id, &t) != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
	return clock(unix.CLOCK_BOOTTIME), clock(unix.CLOCK_MONOTONIC)
}
