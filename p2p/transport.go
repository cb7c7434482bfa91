package p2p

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	libp2pquic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
)

// trimGrace is how long a new connection is safe from being closed for being
// one too many: time enough to show what it is good for.
const trimGrace = 20 * time.Second

// openTransport builds the libp2p host: TCP and QUIC, or TCP alone in a private
// swarm; TLS before Noise, which it outruns where AES has instructions; yamux.
// No relay, no port mapping, no metrics registry.
func openTransport(s settings, traffic *traffic, extra []libp2p.Option) (host.Host, error) {
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
	opts := []libp2p.Option{
		libp2p.Identity(key),
		libp2p.UserAgent("godwit"),
		libp2p.ListenAddrs(s.listen...),
		libp2p.Security(libp2ptls.ID, libp2ptls.New),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.Transport(tcp.NewTCPTransport, tcp.DisableReuseport()),
		libp2p.ResourceManager(limits),
		libp2p.ConnectionManager(trimmer),
		libp2p.BandwidthReporter(traffic),
		libp2p.DisableMetrics(),
		libp2p.DisableRelay(),
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
	return h, nil
}

// traffic counts the bytes of all streams. It takes the place of libp2p's
// bandwidth counter, which keeps four meters per peer and protocol.
type traffic struct {
	in, out atomic.Int64
}

func (t *traffic) LogSentMessage(n int64)                                 {}
func (t *traffic) LogRecvMessage(n int64)                                 {}
func (t *traffic) LogSentMessageStream(n int64, _ protocol.ID, _ peer.ID) { t.out.Add(n) }
func (t *traffic) LogRecvMessageStream(n int64, _ protocol.ID, _ peer.ID) { t.in.Add(n) }

func (t *traffic) GetBandwidthForPeer(peer.ID) metrics.Stats         { return metrics.Stats{} }
func (t *traffic) GetBandwidthForProtocol(protocol.ID) metrics.Stats { return metrics.Stats{} }
func (t *traffic) GetBandwidthTotals() metrics.Stats {
	return metrics.Stats{TotalIn: t.in.Load(), TotalOut: t.out.Load()}
}
func (t *traffic) GetBandwidthByPeer() map[peer.ID]metrics.Stats         { return nil }
func (t *traffic) GetBandwidthByProtocol() map[protocol.ID]metrics.Stats { return nil }
func (t *traffic) Reset()                                                {}
func (t *traffic) TrimIdle(time.Time)                                    {}
