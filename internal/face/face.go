package main

import (
	"context"
	"time"
)

// A face is what is looked at, and with what.
type face struct {
	ctx      context.Context // until it is given up
	swarm    *swarm
	browser  *chromium
	tab      *tab          // at node 0, let in
	dir      string        // for files on the way
	pictures string        // directory for pictures; "" for none
	module   string        // of the job that is dropped: "" for one that is over at once
	watch    time.Duration // how long a node is watched to measure what a page costs; 0: for a moment, and not held to it
	job      string        // its ID, once it was dropped
}

// A check is one thing that is asked of the dashboard.
type check struct {
	name, asked string
	// see looks, and returns what was seen; an error is that it is not as asked.
	see func(f *face) (string, error)
}
