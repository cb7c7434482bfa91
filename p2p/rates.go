package p2p

import (
	"bufio"
	"context"

	"golang.org/x/time/rate"
)

// rates bound what blocks and hand-overs take of the network, both ways: token
// buckets that hold one block, so that a transfer that begins goes on evenly.
// Gossip and messages are small and are not held back.
type rates struct{ up, down *rate.Limiter }

func newRates() rates {
	return rates{rate.NewLimiter(rate.Inf, MaxBlock), rate.NewLimiter(rate.Inf, MaxBlock)}
}

// SetRates bounds the bytes of blocks and hand-overs a second that the host sends and takes; 0
// is no bound. It holds for transfers under way too. A peer gives up on a block
// that takes longer than stallTime: below MaxBlock in that time large blocks
// may never arrive.
func (h *Host) SetRates(up, down int64) {
	set := func(l *rate.Limiter, n int64) {
		if n <= 0 {
			l.SetLimit(rate.Inf)
			return
		}
		l.SetLimit(rate.Limit(n))
	}
	set(h.rates.up, up)
	set(h.rates.down, down)
}

// sent waits for n bytes that were written to w. What has been written leaves
// before the wait.
func (r rates) sent(ctx context.Context, w *bufio.Writer, n int) error {
	if r.up.Limit() == rate.Inf || n == 0 {
		return nil
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.up.WaitN(ctx, min(n, MaxBlock))
}

// received waits for n bytes before more are read, so that the sender waits too.
func (r rates) received(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	return r.down.WaitN(ctx, min(n, MaxBlock))
}
