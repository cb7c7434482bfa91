package p2p

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// retireEvery is how often a circuit beside a direct connection is looked at, to
// be closed when nothing that matters uses it any more.
const retireEvery = 5 * time.Second

// allowRelayed lets a stream go through a relay where there is no direct way: all
// of ours may. Gossip's may not: a node that is reached through a relay has
// the relay for a neighbour, which tells it all adverts once; over circuits the
// relay's owner would pay for each of them twice more.
func allowRelayed(ctx context.Context) context.Context {
	return network.WithAllowLimitedConn(ctx, "godwit")
}

// isRelayed says that a connection goes through a relay.
func isRelayed(c network.Conn) bool { return c.Stat().Limited || isCircuit(c.RemoteMultiaddr()) }

// connected says that a peer is connected, directly or through a relay.
func (h *Host) connected(p peer.ID) bool {
	c := h.net.Network().Connectedness(p)
	return c == network.Connected || c == network.Limited
}

// direct says that a peer is connected without a relay.
func (h *Host) direct(p peer.ID) bool {
	for _, c := range h.net.Network().ConnsToPeer(p) {
		if !isRelayed(c) {
			return true
		}
	}
	return false
}

// relayed says that some connection to a peer goes through a relay.
func (h *Host) relayed(p peer.ID) bool {
	for _, c := range h.net.Network().ConnsToPeer(p) {
		if isRelayed(c) {
			return true
		}
	}
	return false
}

// neighbours counts the peers connected without a relay: those that gossip goes to.
func (h *Host) neighbours() int {
	n := 0
	for _, p := range h.net.Network().Peers() {
		if h.net.Network().Connectedness(p) == network.Connected {
			n++
		}
	}
	return n
}

// seekDirect tries once to do without a relay that this node has dialled through:
// the peer may have been slow to answer. The peer tries to punch a hole meanwhile.
func (h *Host) seekDirect(ctx context.Context, p peer.ID) {
	ctx, cancel := context.WithTimeout(network.WithForceDirectDial(ctx, "direct"), dialTimeout)
	defer cancel()
	_ = h.net.Connect(ctx, peer.AddrInfo{ID: p})
}

// shorten does what a new connection calls for: it leaves circuits when a direct one
// is there, and looks for a direct one when there are circuits alone.
func (h *Host) shorten(c network.Conn, first bool) {
	p := c.RemotePeer()
	switch {
	case !isRelayed(c) && h.relayed(p):
		h.moveOutbox(p)
		h.spawn(func(ctx context.Context) { h.greet(ctx, p) })
		h.spawn(func(ctx context.Context) { h.retire(ctx, p) })
	case isRelayed(c) && first && c.Stat().Direction == network.DirOutbound:
		h.spawn(func(ctx context.Context) { h.seekDirect(ctx, p) })
	}
}

// retire closes the circuits to a peer once there is a direct connection and no
// stream of ours is left on them; what runs may end there.
func (h *Host) retire(ctx context.Context, p peer.ID) {
	for wait(ctx, retireEvery) && h.direct(p) {
		left := false
		for _, c := range h.net.Network().ConnsToPeer(p) {
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
