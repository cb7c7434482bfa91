package p2p

import (
	"slices"
	"strings"
	"time"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"
)

// A Peer is a connected node.
type Peer struct {
	ID        task.PeerID
	Addrs     []string      // remote ends of its connections
	Latency   time.Duration // round trip, smoothed; 0 not yet known
	Direction string        // "in" or "out": who made the first connection
	Transport string        // "tcp", "quic" or, with no direct connection, "relay"
	Via       task.PeerID   // who relays, with no direct connection; else ""
	Opened    time.Time     // the first connection
}

// Peers returns the connected nodes, by ID.
func (e *endpoint) Peers() []Peer {
	var peers []Peer
	for _, id := range e.net.Network().Peers() {
		conns := e.net.Network().ConnsToPeer(id)
		if len(conns) == 0 {
			continue
		}
		p := Peer{ID: task.PeerID(id.String()), Latency: e.net.Peerstore().LatencyEWMA(id)}
		first := conns[0]
		p.Opened = first.Stat().Opened
		if direct := slices.IndexFunc(conns, func(c network.Conn) bool { return !isRelayed(c) }); direct >= 0 {
			first = conns[direct]
		}
		p.Direction, p.Transport = "out", transportOf(first.RemoteMultiaddr())
		if isRelayed(first) {
			p.Via = viaPeer(first.RemoteMultiaddr())
		}
		if first.Stat().Direction == network.DirInbound {
			p.Direction = "in"
		}
		for _, c := range conns {
			p.Addrs = append(p.Addrs, c.RemoteMultiaddr().String())
		}
		peers = append(peers, p)
	}
	slices.SortFunc(peers, func(a, b Peer) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return peers
}

// viaPeer is who an address of a circuit leads through; "" where it does not say.
func viaPeer(a ma.Multiaddr) task.PeerID {
	p, err := relayOf(a)
	if err != nil {
		return ""
	}
	return task.PeerID(p.String())
}

// connected says that a peer is connected, directly or through a relay.
func (e *endpoint) connected(p peer.ID) bool {
	c := e.net.Network().Connectedness(p)
	return c == network.Connected || c == network.Limited
}

// direct says that a peer is connected without a relay.
func (e *endpoint) direct(p peer.ID) bool {
	for _, c := range e.net.Network().ConnsToPeer(p) {
		if !isRelayed(c) {
			return true
		}
	}
	return false
}

// relayed says that some connection to a peer goes through a relay.
func (e *endpoint) relayed(p peer.ID) bool {
	for _, c := range e.net.Network().ConnsToPeer(p) {
		if isRelayed(c) {
			return true
		}
	}
	return false
}

// neighbours counts the peers connected without a relay: those that gossip goes to.
func (e *endpoint) neighbours() int {
	n := 0
	for _, p := range e.net.Network().Peers() {
		if e.net.Network().Connectedness(p) == network.Connected {
			n++
		}
	}
	return n
}

// AddAddrs tells the host where a peer can be reached for the next while.
// Addresses that it cannot read, and those that lead through this host, are left out.
func (e *endpoint) AddAddrs(p task.PeerID, addrs []string, ttl time.Duration) {
	id, err := peer.Decode(string(p))
	if err != nil || id == e.net.ID() {
		return
	}
	var good []ma.Multiaddr
	for _, text := range addrs {
		if a, err := ma.NewMultiaddr(text); err == nil && !e.leadsHere(a) {
			good = append(good, a)
		}
	}
	e.net.Peerstore().AddAddrs(id, good, max(ttl, peerstore.TempAddrTTL))
}

// leadsHere says that an address is through this host: whoever it relays to is
// connected, or not to be had.
func (e *endpoint) leadsHere(a ma.Multiaddr) bool {
	via, err := a.ValueForProtocol(ma.P_P2P)
	return err == nil && isCircuit(a) && via == e.net.ID().String()
}

// ownAddrs are the host's addresses without those through relays. libp2p needs some seconds to notice what
// the router has opened.
func (e *endpoint) ownAddrs() []ma.Multiaddr {
	return ma.Unique(slices.DeleteFunc(append(slices.Clone(e.net.Addrs()), e.ports.mapped()...), isCircuit))
}
