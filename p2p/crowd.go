package p2p

import (
	"net/netip"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// perNetwork is how many of the neighbours that a node seeks by itself are of one public network
// (network16) while it knows of others: names cost nothing, addresses all over the world do, and a node whose
// neighbours
// are all one person's hears what that person likes.
const perNetwork = 2

// A crowd counts the neighbours that this node has sought, by network.
type crowd map[netip.Prefix]int

// crowd counts those that this node has dialled.
func (d *dialer) crowd() crowd {
	cr := crowd{}
	for _, c := range d.net.Network().Conns() {
		if isRelayed(c) || c.Stat().Direction != network.DirOutbound || d.named.has(c.RemotePeer()) {
			continue
		}
		if n, ok := network16(c.RemoteMultiaddr()); ok {
			cr[n]++
		}
	}
	return cr
}

// lets reports whether a peer at some addresses may be one of the neighbours, and counts it. Of its
// networks none may be full, so that one address elsewhere is no way around.
func (cr crowd) lets(addrs []ma.Multiaddr) bool {
	nets := map[netip.Prefix]bool{}
	for _, a := range addrs {
		n, ok := network16(a)
		if !ok || isCircuit(a) {
			continue
		}
		if cr[n] >= perNetwork {
			return false
		}
		nets[n] = true
	}
	for n := range nets {
		cr[n]++
	}
	return true
}
