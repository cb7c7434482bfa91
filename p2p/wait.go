package p2p

import (
	"context"
	"math/rand/v2"
	"time"
)

// wait waits, and reports false when ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jitter returns between half and one and a half of d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}
