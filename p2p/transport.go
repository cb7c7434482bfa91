package p2p

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/gologshim"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// trimGrace is how long a new connection is safe from being closed for being
// one too many: time enough to show what it is good for.
const trimGrace = 20 * time.Second

// deadDials is how many dials by UDP in a row must fail until it is taken for blocked: more than all
// peers that a node may remember and be told of, for they may all be gone but one. libp2p's own
// hundred then has the one that is left not dialled at all.
const deadDials = (MaxRecalled + maxTold) * maxRecalledAddrs

// openTransport builds the libp2p host: TCP and QUIC, or TCP alone in a private
// swarm; TLS before Noise, which it outruns where AES has instructions; yamux.
// The host dials and listens through relays and punches holes where it can; no metrics
// registry.
func openTransport(s settings, gate *gate, traffic *traffic, extra []libp2p.Option) (host.Host, error) {
	quietLibraries()
	key, err := crypto.UnmarshalEd25519PrivateKey(s.Key)
	if err != nil {
		return nil, fmt.Errorf("p2p: key: %w", err)
	}
	limits, err := newLimits(s.MaxConns)
	if err != nil {
		return nil, fmt.Errorf("p2p: resource limits: %w", err)
	}
	trimmer, err := connmgr.NewConnManager(s.MaxConns*3/4, s.MaxConns, connmgr.WithGracePeriod(trimGrace))
	if err != nil {
		limits.Close()
		return nil, fmt.Errorf("p2p: connection manager: %w", err)
	}
	dialer := &tcpDialer{}
	opts := []libp2p.Option{
		libp2p.Identity(key),
		libp2p.UserAgent("godwit"),
		libp2p.NoListenAddrs, // until it is there: a host that fails to listen while it starts leaves goroutines behind
		libp2p.Security(libp2ptls.ID, libp2ptls.New),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.Transport(dialer.newTCP),
		libp2p.ResourceManager(limits),
		libp2p.ConnectionManager(trimmer),
		libp2p.BandwidthReporter(traffic),
		libp2p.DialRanker(rankAddrs),
		libp2p.ConnectionGater(gate),
		libp2p.DisableMetrics(),
		libp2p.EnableRelay(),
		libp2p.EnableHolePunching(),
		libp2p.UDPBlackHoleSuccessCounter(&swarm.BlackHoleSuccessCounter{N: deadDials, MinSuccesses: 1, Name: "UDP"}),
	}
	if s.SwarmKey != nil {
		opts = append(opts, libp2p.PrivateNetwork(s.SwarmKey))
	} else {
		opts = append(opts, libp2p.Transport(libp2pquic.NewTransport))
	}
	h, err := libp2p.New(append(opts, extra...)...)
	if err != nil {
		trimmer.Close()
		limits.Close()
		return nil, fmt.Errorf("p2p: starting the network: %w", err)
	}
	gate.host.Store(&h)
	dialer.host.Store(&h)
	err = vacant(s.listen)
	if err == nil {
		err = h.Network().Listen(s.listen...)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("p2p: listening: %w", err), h.Close())
	}
	return h, nil
}

// rankAddrs dials TCP before QUIC on this machine and the local network: there it
// moves the same bytes with half the processor time, which is the volunteer's.
// Elsewhere QUIC goes first, as is usual: it connects in fewer round trips and
// through more routers. A relay is the last resort.
func rankAddrs(addrs []ma.Multiaddr) []network.AddrDelay {
	ranked := swarm.DefaultDialRanker(addrs)
	straight := slices.ContainsFunc(addrs, func(a ma.Multiaddr) bool { return !isCircuit(a) })
	local := slices.ContainsFunc(addrs, func(a ma.Multiaddr) bool {
		return manet.IsPrivateAddr(a) && transportOf(a) == "tcp"
	})
	for i, r := range ranked {
		switch {
		case isCircuit(r.Addr):
			if straight {
				ranked[i].Delay = max(r.Delay, swarm.RelayDelay)
			}
		case !manet.IsPrivateAddr(r.Addr):
		case transportOf(r.Addr) == "tcp":
			ranked[i].Delay = 0
		case local:
			ranked[i].Delay = max(r.Delay, swarm.PrivateQUICDelay)
		}
	}
	return ranked
}

// quietLibraries keeps libp2p from logging to standard error by itself: what it
// says there either comes back as an error or is about peers that misbehave.
// Setting GOLOG_LOG_LEVEL brings it back.
var quietLibraries = sync.OnceFunc(func() {
	if os.Getenv("GOLOG_LOG_LEVEL") == "" {
		gologshim.SetDefaultHandler(slog.DiscardHandler)
	}
})
