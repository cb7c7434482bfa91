package p2p

import (
	"context"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// mostAsked is how many streams for blocks this node has open to one peer: half of what a peer lets in
// (inboundStreams), for it may take a while to see that one has ended. A stream too many is reset by the peer, which
// to whoever asks looks as if there were no such block.
const mostAsked = 8

// askTurns has those who ask one peer for blocks wait for each other. The zero value is ready for use.
type askTurns struct {
	mu sync.Mutex
	of map[peer.ID]*askTurn // of peers that are asked, or that somebody waits for
}

type askTurn struct {
	open  chan struct{} // has as many elements as there are streams
	users int           // who have a stream or wait for one
}

// take waits until another stream to a peer may be opened, or ctx ends. end may be called more than once, and
// must be called when err is nil.
func (a *askTurns) take(ctx context.Context, p peer.ID) (end func(), err error) {
	a.mu.Lock()
	t := a.of[p]
	if t == nil {
		if a.of == nil {
			a.of = map[peer.ID]*askTurn{}
		}
		t = &askTurn{open: make(chan struct{}, mostAsked)}
		a.of[p] = t
	}
	t.users++
	a.mu.Unlock()
	select {
	case t.open <- struct{}{}:
		return sync.OnceFunc(func() {
			<-t.open
			a.leave(p, t)
		}), nil
	case <-ctx.Done():
		a.leave(p, t)
		return nil, context.Cause(ctx)
	}
}

func (a *askTurns) leave(p peer.ID, t *askTurn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(a.of, p)
	}
}
