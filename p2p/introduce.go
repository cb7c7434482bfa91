package p2p

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// introduceTime bounds how long a peer may take to hear who we are. One that takes longer is
// asked all the same, and may take us for a stranger.
const introduceTime = 3 * time.Second

// introduce returns when a peer, which is connected, has heard what overlays we are a member
// of. What it answers may depend on that, and gossip may not have told it yet.
func (g *greeter) introduce(ctx context.Context, p peer.ID) {
	own := g.adverts.own()
	if len(own) == 0 || g.knows(p, own) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, introduceTime)
	defer cancel()
	s, stop, err := g.openStream(network.WithNoDial(ctx, "introduction"), p, ProtocolHello2, ProtocolHello)
	if err != nil {
		return // whoever asks next finds out
	}
	defer stop()
	defer s.Reset()
	_ = s.SetDeadline(time.Now().Add(introduceTime))
	if writeHello(s, g.readable(s, own)) != nil || s.CloseWrite() != nil {
		return
	}
	// Nothing is answered: the stream ends when all was taken in.
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.knowing) >= maxBlamed {
		maps.DeleteFunc(g.knowing, func(p peer.ID, _ [][]byte) bool { return !g.connected(p) })
	}
	if len(g.knowing) < maxBlamed {
		g.knowing[p] = own
	}
}

// knows reports whether a peer has taken in our adverts as they are, since it is connected.
func (g *greeter) knows(p peer.ID, own [][]byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.EqualFunc(g.knowing[p], own, bytes.Equal)
}

// forget forgets a peer that is connected no longer.
func (g *greeter) forget(p peer.ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.knowing, p)
}
