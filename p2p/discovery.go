package p2p

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	// mdnsName keeps us apart from other libp2p programs on the same network.
	mdnsName = "_godwit._udp"

	// pingPeriod is how often each peer's latency is measured. A ping opens a
	// stream and so takes some 1.5 kB on the wire: each minute, all peers, was a
	// sixth of what an idle node moved.
	pingPeriod  = 15 * time.Minute
	pingTimeout = 5 * time.Second
)

// startMDNS looks for peers on the local network, when asked to, until the host
// closes.
func (h *Host) startMDNS() error {
	if !h.set.MDNS {
		return nil
	}
	s := mdns.NewMdnsService(h.net, mdnsName, found{h})
	if err := s.Start(); err != nil {
		return fmt.Errorf("p2p: multicast DNS: %w", err)
	}
	h.spawn(func(ctx context.Context) {
		<-ctx.Done()
		s.Close()
	})
	return nil
}

// found connects to what mDNS finds.
type found struct{ h *Host }

// HandlePeerFound implements mdns.Notifee.
func (f found) HandlePeerFound(info peer.AddrInfo) {
	if info.ID == f.h.net.ID() {
		return
	}
	f.h.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		f.h.net.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.RecentlyConnectedAddrTTL)
		if err := f.h.net.Connect(ctx, info); err != nil {
			f.h.set.Log.Debug("peer of the local network not reached", "peer", info.ID, "error", err)
		}
	})
}

// pingPeers keeps the latencies of Peers fresh, one peer after the other.
func (h *Host) pingPeers(ctx context.Context) {
	tick := time.NewTicker(pingPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for _, p := range h.net.Network().Peers() {
			h.measure(ctx, p)
		}
	}
}

// measure records the round trip to a connected peer, in the peerstore.
func (h *Host) measure(ctx context.Context, p peer.ID) {
	ctx, cancel := context.WithTimeout(allowRelayed(network.WithNoDial(ctx, "ping")), pingTimeout)
	defer cancel()
	for r := range ping.Ping(ctx, h.net, p) {
		if r.Error != nil {
			break
		}
		cancel() // once is enough
	}
}

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
