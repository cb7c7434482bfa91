package node

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"godwit/internal/pause"
	"godwit/task"
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
	of map[task.PeerID]time.Time // when all questions until now would have been asked, one after the other
}

// wait returns when it is a question's turn, or with an error when ctx is done. Who cannot have a turn before
// ctx ends is told so at once, and takes nobody's.
func (a *askPaces) wait(ctx context.Context, leader task.PeerID) error {
	most := time.Duration(math.MaxInt64)
	if end, bounded := ctx.Deadline(); bounded {
		most = time.Until(end)
	}
	turn, ok := a.turn(leader, time.Now(), most)
	if !ok {
		return fmt.Errorf("this node asks it %d questions a second, and more wait than it can ask in time: %w",
			leaderAsks, context.DeadlineExceeded)
	}
	if turn <= 0 {
		return nil
	}
	return pause.For(ctx, turn)
}

// turn takes the next turn, and returns in how long that is; not ok, and none is taken, if that is longer than most.
func (a *askPaces) turn(leader task.PeerID, now time.Time, most time.Duration) (in time.Duration, ok bool) {
	const each = time.Second / leaderAsks
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.of[leader]
	if last.Before(now) {
		last = now
	}
	if in = last.Sub(now) - (leaderAsksAtOnce-1)*each; in > most {
		return 0, false
	}
	if a.of == nil || len(a.of) >= mostAskPaces {
		a.of = map[task.PeerID]time.Time{}
	}
	a.of[leader] = last.Add(each)
	return in, true
}
