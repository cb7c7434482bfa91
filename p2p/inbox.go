package p2p

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
)

// An inbox lets one frame stream of a peer be read at a time: the newest.
type inbox struct {
	mu      sync.Mutex
	newest  network.Stream
	reading sync.Mutex
}

// enter ends the stream before s and waits until its reader has left. It
// reports false when a still newer stream has come meanwhile. leave follows
// either way.
func (in *inbox) enter(s network.Stream) bool {
	in.mu.Lock()
	if in.newest != nil {
		in.newest.Reset()
	}
	in.newest = s
	in.mu.Unlock()
	in.reading.Lock()
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.newest == s
}

func (in *inbox) leave(s network.Stream) {
	in.mu.Lock()
	if in.newest == s {
		in.newest = nil
	}
	in.mu.Unlock()
	in.reading.Unlock()
}
