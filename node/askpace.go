package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/task"

	"golang.org/x/time/rate"
)

// Whoever asks this node about jobs, such as a screen or a script that looks again and again, asks the leader
// through it. A leader answers a member so many questions a second, and does not hear for a while who goes on
// beyond: neither what that one asks, nor what its submitter says of its jobs. So this node asks at half that
// pace, and has its own users wait for their turn.
const (
	// leaderAsks is how many questions go to one leader a second, and leaderAsksAtOnce how many at once: half of
	// what a member may cost (docs/protocol.md, "What a peer may cost"), since others are asked of it, too.
	leaderAsks       = 5
	leaderAsksAtOnce = 20
	// mostAskPaces bounds the leaders that are remembered: one for each overlay, and those before.
	mostAskPaces = 64
)

// askPaces say when the next question may go to a leader. The zero value has asked nobody. It is safe for any
// goroutine.
type askPaces struct {
	mu sync.Mutex
	of map[task.PeerID]*rate.Limiter
}

// wait returns when it is a question's turn, or with an error when ctx is done. Who cannot have a turn before
// ctx ends is told so at once, and takes nobody's.
func (a *askPaces) wait(ctx context.Context, leader task.PeerID) error {
	turn := a.to(leader).Reserve()
	until := turn.Delay()
	if until == 0 {
		return nil
	}
	end, bounded := ctx.Deadline()
	if bounded && time.Until(end) < until {
		turn.Cancel()
		return fmt.Errorf("this node asks it %d questions a second, and more wait than it can ask in time: %w", leaderAsks,
			context.DeadlineExceeded)
	}
	if err := pause.For(ctx, until); err != nil {
		turn.Cancel()
		return err
	}
	return nil
}

func (a *askPaces) to(leader task.PeerID) *rate.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.of[leader]
	if l == nil {
		if a.of == nil || len(a.of) >= mostAskPaces {
			a.of = map[task.PeerID]*rate.Limiter{}
		}
		l = rate.NewLimiter(leaderAsks, leaderAsksAtOnce)
		a.of[leader] = l
	}
	return l
}
