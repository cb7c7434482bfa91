package wire

import (
	"bufio"
	"context"
	"time"

	"golang.org/x/time/rate"

	"godwit/internal/pause"
)

// A Pace bounds what blocks and hand-overs take of the network, both ways: token
// buckets that hold one block, so that a transfer that begins goes on evenly.
// Gossip and messages are small and are not held back. It is safe for concurrent use.
type Pace struct {
	Up, Down *rate.Limiter
	// Owes takes n bytes from what one peer may have, and returns how long it is to wait for
	// them; nil lets it have all.
	Owes func(n int) time.Duration
}

// NewPace returns a Pace without bounds.
func NewPace() Pace {
	return Pace{Up: rate.NewLimiter(rate.Inf, MaxBlock), Down: rate.NewLimiter(rate.Inf, MaxBlock)}
}

// Set bounds the bytes a second each way; 0 is no bound. It holds for transfers
// under way too.
func (p Pace) Set(up, down int64) {
	set := func(l *rate.Limiter, n int64) {
		if n <= 0 {
			l.SetLimit(rate.Inf)
			return
		}
		l.SetLimit(rate.Limit(n))
	}
	set(p.Up, up)
	set(p.Down, down)
}

// Sent waits for n bytes that were written to w. What has been written leaves
// before the wait.
func (p Pace) Sent(ctx context.Context, w *bufio.Writer, n int) error {
	var own time.Duration
	if p.Owes != nil && n > 0 {
		own = p.Owes(n)
	}
	if p.Up.Limit() == rate.Inf && own <= 0 || n == 0 {
		return nil
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := pause.For(ctx, own); err != nil {
		return err
	}
	return p.Up.WaitN(ctx, min(n, MaxBlock))
}

// Received waits for n bytes before more are read, so that the sender waits too.
func (p Pace) Received(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	return p.Down.WaitN(ctx, min(n, MaxBlock))
}
