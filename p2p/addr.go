package p2p

import (
	"context"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// allowRelayed lets a stream go through a relay where there is no direct way: all
// of ours may. Gossip's may not: a node that is reached through a relay has
// the relay for a neighbour, which tells it all adverts once; over circuits the
// relay's owner would pay for each of them twice more.
func allowRelayed(ctx context.Context) context.Context {
	return network.WithAllowLimitedConn(ctx, "godwit")
}

// isRelayed says that a connection goes through a relay.
func isRelayed(c network.Conn) bool { return c.Stat().Limited || isCircuit(c.RemoteMultiaddr()) }

func protocolID(s string) protocol.ID { return protocol.ID(s) }

// reach ranks addresses: 0 public, 1 of a local network, 2 of this machine, 3
// through a relay.
func reach(a ma.Multiaddr) int {
	switch {
	case isCircuit(a):
		return 3
	case manet.IsIPLoopback(a):
		return 2
	case manet.IsPublicAddr(a):
		return 0
	default:
		return 1
	}
}

// transportOf names the transport of an address.
func transportOf(a ma.Multiaddr) string {
	if isCircuit(a) {
		return "relay"
	}
	if _, err := a.ValueForProtocol(ma.P_QUIC_V1); err == nil {
		return "quic"
	}
	return "tcp"
}

// isCircuit says that an address leads through a relay.
func isCircuit(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_CIRCUIT)
	return err == nil
}

// viaOf is the part of a circuit's address that leads to its relay.
func viaOf(a ma.Multiaddr) ma.Multiaddr {
	via, _ := ma.SplitFunc(a, func(c ma.Component) bool { return c.Protocol().Code == ma.P_CIRCUIT })
	return via
}
