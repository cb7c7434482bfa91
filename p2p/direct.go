package p2p

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"godwit/internal/pause"
)

// retireEvery is how often a circuit beside a direct connection is looked at, to
// be closed when nothing that matters uses it any more.
const retireEvery = 5 * time.Second

// seekBackAfter is how long one that came through a relay has to say where it is. Holes are punched
// meanwhile.
const seekBackAfter = time.Second

// seekTime is how long a hidden node looks for a direct way to a peer by itself. Both are hidden, as a rule,
// and the peer is about to punch a hole: while a dial to an address goes on libp2p makes no other.
const seekTime = time.Second

// An upgrader puts direct connections in the place of circuits.
type upgrader struct {
	*endpoint
	hidden  func() bool
	outs    *outboxes
	greeter *greeter
}

// seekDirect tries once to do without a relay that this node has dialled through:
// the peer may have been slow to answer. The peer tries to punch a hole meanwhile.
func (u *upgrader) seekDirect(ctx context.Context, p peer.ID) {
	limit := dialTimeout
	if u.hidden() {
		limit = seekTime
	}
	ctx, cancel := context.WithTimeout(network.WithForceDirectDial(ctx, "direct"), limit)
	defer cancel()
	_ = u.net.Connect(ctx, peer.AddrInfo{ID: p})
}

// seekBack dials one that came through a relay, once it has said where it is: it may be one that
// can be dialled, and was not able to dial this node. Holes are punched by those alone that know
// where their router has them, which takes the word of several.
func (u *upgrader) seekBack(ctx context.Context, p peer.ID) {
	if pause.For(ctx, seekBackAfter) == nil && u.relayed(p) && !u.direct(p) {
		u.seekDirect(ctx, p)
	}
}

// opened does what a new connection calls for: it leaves circuits when a direct one
// is there, and looks for a direct one when there are circuits alone.
func (u *upgrader) opened(c network.Conn, first bool) {
	p := c.RemotePeer()
	switch {
	case !isRelayed(c) && u.relayed(p):
		u.outs.moveOutbox(p)
		u.spawn(func(ctx context.Context) { u.greeter.greet(ctx, p) })
		u.spawn(func(ctx context.Context) { u.retire(ctx, p) })
	case isRelayed(c) && first && c.Stat().Direction == network.DirOutbound:
		u.spawn(func(ctx context.Context) { u.seekDirect(ctx, p) })
	case isRelayed(c) && first:
		u.spawn(func(ctx context.Context) { u.seekBack(ctx, p) })
	}
}

// retire closes the circuits to a peer once there is a direct connection and no
// stream of ours is left on them; what runs may end there.
func (u *upgrader) retire(ctx context.Context, p peer.ID) {
	for pause.For(ctx, retireEvery) == nil && u.direct(p) {
		left := false
		for _, c := range u.net.Network().ConnsToPeer(p) {
			if !isRelayed(c) {
				continue
			}
			if busy(c) {
				left = true
				continue
			}
			_ = c.Close()
		}
		if !left {
			return
		}
	}
}

// busy says that a stream of ours is open on a connection.
func busy(c network.Conn) bool {
	for _, s := range c.GetStreams() {
		for _, id := range protocols {
			if s.Protocol() == id {
				return true
			}
		}
	}
	return false
}
