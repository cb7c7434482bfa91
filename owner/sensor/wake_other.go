//go:build windows || darwin

package sensor

import (
	"context"
	"time"
)

// A wakeClock notices that the machine slept: its timer fires much later by the
// wall clock than it was set for.
type wakeClock struct{}

// Name returns "clock".
func (*wakeClock) Name() string { return "clock" }

// Kinds returns Wake.
func (*wakeClock) Kinds() []Kind { return []Kind{Wake} }

// Run watches until ctx ends.
func (c *wakeClock) Run(ctx context.Context, report func(Reading)) {
	const late = 10 * time.Second // no busy machine delays a timer by that
	report(Reading{Sensor: c.Name(), Kind: Wake, At: time.Now(), Detail: "wall clock"})
	before := time.Now().Round(0) // without the monotonic clock, which may stand still in sleep
	_ = Poll(ctx, slowPoll, func() error {
		now := time.Now().Round(0)
		if now.Sub(before) > slowPoll+late {
			report(Reading{Sensor: c.Name(), Kind: Wake, At: now, Touched: now, Detail: "wall clock"})
		}
		before = now
		return nil
	})
}
