package p2p

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// remindEvery is the time, on average, between two reminders. Gossip repairs
	// what it knows to be missing; a reminder finds what everybody takes for told.
	// At 469 bytes an advert it costs a node 4 MB a day each way.
	remindEvery = time.Minute
	// reminders is how many adverts of others go with our own.
	reminders = 5
)

// remind tells a neighbour at random, from time to time, our advert and a few
// that we know, until ctx ends.
func (h *Host) remind(ctx context.Context) {
	for wait(ctx, jitter(remindEvery)) {
		peers := h.net.Network().Peers()
		if len(peers) == 0 {
			continue
		}
		p := peers[rand.IntN(len(peers))]
		h.hello(ctx, p, h.adverts.sample(p, reminders, time.Now()))
	}
}

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
