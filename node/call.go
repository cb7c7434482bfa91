package node

import (
	"context"
	"sync/atomic"
)

// A call is a function that waits for the loop. Either the loop runs it, or its caller gives up, never both: the function
// may write to variables of its caller.
type call struct {
	f     func()
	taken atomic.Bool // by the loop, or by a caller that gave up
	ran   chan struct{}
}

func newCall(f func()) *call { return &call{f: f, ran: make(chan struct{})} }

// run runs the function on the loop, unless the caller gave up.
func (c *call) run() {
	if c.taken.CompareAndSwap(false, true) {
		c.f()
		close(c.ran)
	}
}

// wait returns once the loop has run the function, or with an error if the node stops or ctx ends before the loop
// begins with it.
func (c *call) wait(ctx context.Context, stopped <-chan struct{}) error {
	select {
	case <-c.ran:
		return nil
	case <-stopped:
		return ErrStopped
	case <-ctx.Done():
		if c.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
	}
	select { // the loop is at it: these functions are short
	case <-c.ran:
		return nil
	case <-stopped:
		return ErrStopped
	}
}
