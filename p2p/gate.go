package p2p

import (
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// A gate says what is dialled. Not dialled are
//
//   - a relay that would have to be dialled through a relay itself. Such a one is hidden, so
//     that it relays for nobody; and of two peers that each name the other for their relay,
//     both dials would wait for each other until they time out;
//   - an address that rests, since nobody answers there;
//   - anything once the host closes: a dial that begins while libp2p's own services end
//     panics in them. One that has begun looks at addresses later, when libp2p has given up its
//     transports, and panics where none may be a relay's.
type gate struct {
	host    atomic.Pointer[host.Host] // nil until the host is there
	redial  *redial
	lets    atomic.Pointer[func(peer.ID) bool] // whether a peer may come in; nil until that is known
	closing atomic.Bool
}

// InterceptAddrDial implements connmgr.ConnectionGater.
func (g *gate) InterceptAddrDial(p peer.ID, addr ma.Multiaddr) bool {
	if g.closing.Load() {
		return false
	}
	h := g.host.Load()
	if !isCircuit(addr) {
		// Who is met through a relay is dialled for a hole to be punched, in step with its own dials
		// and a few times alone.
		met := h != nil && (*h).Network().Connectedness(p) != network.NotConnected
		return met || g.redial.lets(p, addr, time.Now())
	}
	if h == nil {
		return true
	}
	through, err := relayOf(addr)
	if err != nil {
		return false
	}
	if (*h).Network().Connectedness(through) == network.Connected {
		return true
	}
	for _, a := range (*h).Peerstore().Addrs(through) {
		if isCircuit(a) {
			return false
		}
	}
	return true
}

// relayOf is who an address of a circuit leads through.
func relayOf(addr ma.Multiaddr) (peer.ID, error) {
	text, err := addr.ValueForProtocol(ma.P_P2P)
	if err != nil {
		return "", err
	}
	return peer.Decode(text)
}

// InterceptPeerDial implements connmgr.ConnectionGater.
func (g *gate) InterceptPeerDial(peer.ID) bool { return !g.closing.Load() }

// InterceptAccept implements connmgr.ConnectionGater.
func (g *gate) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured implements connmgr.ConnectionGater.
func (g *gate) InterceptSecured(way network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	lets := g.lets.Load()
	return way == network.DirOutbound || lets == nil || (*lets)(p)
}

// InterceptUpgraded implements connmgr.ConnectionGater.
func (g *gate) InterceptUpgraded(c network.Conn) (bool, control.DisconnectReason) {
	if !isCircuit(c.RemoteMultiaddr()) {
		g.redial.met(c.RemotePeer(), c.RemoteMultiaddr(), time.Now())
	}
	return true, 0
}
