// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for d, not at all if that is not above 0. It returns nil when it has waited,
// and ctx's error as soon as ctx ends first.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
