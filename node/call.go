package node

import (
	"context"
	"sync/atomic"
)

// A call runs a function on the loop, unless its caller's context ends before the loop gets to it.
type call struct {
	f       func()
	claimed atomic.Bool   // either the loop has begun f, or the caller has given up
	ran     chan struct{} // closed after f
}

func newCall(f func()) *call { return &call{f: f, ran: make(chan struct{})} }

// run is the post for the loop.
func (c *call) run() {
	if c.claimed.CompareAndSwap(false, true) {
		c.f()
		close(c.ran)
	}
}

// wait returns nil after f has run. If it returns an error, f has not run and never will, unless the node has stopped.
// The caller's variables that f writes are therefore safe to use in either case.
func (c *call) wait(ctx context.Context, stopped <-chan struct{}) error {
	select {
	case <-c.ran:
		return nil
	case <-stopped:
		return ErrStopped
	case <-ctx.Done():
	}
	if c.claimed.CompareAndSwap(false, true) {
		return ctx.Err()
	}
	select { // the loop has begun f, and functions on the loop are short
	case <-c.ran:
		return nil
	case <-stopped:
		return ErrStopped
	}
}
