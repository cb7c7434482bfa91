package p2p

import (
	"context"
	"fmt"
	"time"

	"godwit/internal/pause"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
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
func (e *endpoint) startMDNS(as *adverts) error {
	if !e.set.MDNS {
		return nil
	}
	s := mdns.NewMdnsService(e.net, mdnsName, found{e, as})
	if err := s.Start(); err != nil {
		return fmt.Errorf("p2p: multicast DNS: %w", err)
	}
	e.spawn(func(ctx context.Context) {
		<-ctx.Done()
		s.Close()
	})
	return nil
}

// found connects to what mDNS finds, as far as that is of use.
type found struct {
	*endpoint
	adverts *adverts
}

// HandlePeerFound implements mdns.Notifee.
func (f found) HandlePeerFound(info peer.AddrInfo) {
	if info.ID == f.net.ID() {
		return
	}
	f.spawn(func(ctx context.Context) {
		f.net.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.RecentlyConnectedAddrTTL)
		if !f.needs(ctx, info.ID) {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, dialTimeout)
		defer cancel()
		if err := f.net.Connect(ctx, info); err != nil {
			f.set.Log.Debug("peer of the local network not reached", "peer", info.ID, "error", err)
		}
	})
}

// needs reports whether to connect to a peer. A node that has neighbours enough waits for a while
// whether they tell it of the peer: then it is of the same swarm, and all nodes of a large local
// network are not connected to all. A peer that nobody tells of may be of another, which is to become
// one with this.
func (f found) needs(ctx context.Context, p peer.ID) bool {
	if f.neighbours() < wantPeers {
		return true
	}
	name := task.PeerID(p.String())
	if !f.adverts.fellow(name, time.Now()) && pause.For(ctx, jitter(lookAgain)) != nil {
		return false
	}
	return !f.adverts.fellow(name, time.Now())
}

// pingPeers keeps the latencies of Peers fresh, one peer after the other.
func (e *endpoint) pingPeers(ctx context.Context) {
	tick := time.NewTicker(pingPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for _, p := range e.net.Network().Peers() {
			e.measure(ctx, p)
		}
	}
}

// measure records the round trip to a connected peer, in the peerstore.
func (e *endpoint) measure(ctx context.Context, p peer.ID) {
	ctx, cancel := context.WithTimeout(allowRelayed(network.WithNoDial(ctx, "ping")), pingTimeout)
	defer cancel()
	for r := range ping.Ping(ctx, e.net, p) {
		if r.Error != nil {
			break
		}
		cancel() // once is enough
	}
}
