package p2p

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"
)

// ErrClosed is returned by a Host whose Run has ended.
var ErrClosed = errors.New("p2p: host is closed")

// A Host is a node's place in the swarm. All methods are safe for concurrent
// use.
type Host struct {
	set     settings
	net     host.Host
	id      task.PeerID
	traffic traffic
	pace    wire.Pace

	handOvers handOvers

	links   *links
	adverts *adverts
	gossip  *gossip
	relay   *relay.Relay // nil where the owner wants none
	relays  *relays
	dialer  *dialer
	reach   atomic.Uint32 // an overlay.Reach

	// life ends when the host closes. Every goroutine is started by spawn and
	// ends with it.
	life   context.Context
	end    context.CancelFunc
	served chan struct{} // closed when Run begins: until then streams wait

	joining sync.Mutex // held by Join and Leave

	mu      sync.Mutex
	closed  bool // guards wg: nothing is spawned after it is set
	running bool // Run was called
	outs    map[peer.ID]*outbox
	wg      sync.WaitGroup
}

// New makes a host that listens. It takes part in the swarm
// when Run is called. When New fails, nothing is left behind.
func New(cfg Config) (*Host, error) {
	return NewWith(cfg, libp2p.EnableNATService()) // dials back for others, as they do for us
}

// NewWith is New with further libp2p options. It exists for
// internal/testnet, which puts hosts on a simulated network, where nobody dials
// back.
func NewWith(cfg Config, extra ...libp2p.Option) (*Host, error) {
	set, err := cfg.check()
	if err != nil {
		return nil, err
	}
	h := &Host{set: set, pace: wire.NewPace(), handOvers: newHandOvers(), served: make(chan struct{}), outs: map[peer.ID]*outbox{}}
	h.net, err = openTransport(set, &h.traffic, extra)
	if err != nil {
		return nil, err
	}
	h.id = task.PeerID(h.net.ID().String())
	h.life, h.end = context.WithCancel(context.Background())
	h.links = newLinks(h)
	h.adverts = newAdverts(h)
	h.dialer, h.relays = newDialer(h), newRelays(h)
	if h.gossip, err = openGossip(h); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	if h.relay, err = openRelay(h); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.handle(ProtocolFrame, h.receiveFrames)
	h.handle(ProtocolRequest, h.answer)
	h.handle(ProtocolHello, h.receiveHello)
	if set.OnBlocks != nil {
		h.handle(ProtocolBlocks, h.receiveBlocks)
	}
	if set.OnHandOver != nil {
		h.handle(ProtocolHandOver, h.receiveHandOver)
	}
	h.net.Network().Notify(h.links)
	return h, nil
}

// handle serves inbound streams of one protocol. A stream that comes between
// New and Run waits.
func (h *Host) handle(id string, serve func(context.Context, network.Stream)) {
	h.net.SetStreamHandler(protocolID(id), func(s network.Stream) {
		served := h.spawn(func(ctx context.Context) {
			stop := context.AfterFunc(ctx, func() { s.Reset() })
			defer stop()
			select {
			case <-h.served:
				serve(ctx, s)
			case <-ctx.Done():
			}
		})
		if !served {
			s.Reset()
		}
	})
}

// spawn runs f until it returns, with a context that ends when the host closes.
// It reports false, and does not run f, once the host has closed.
func (h *Host) spawn(f func(ctx context.Context)) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.wg.Go(func() { f(h.life) })
	return true
}

// Run takes part in the swarm until ctx ends. It returns when everything the
// host started has ended; the host cannot be used again. It may be called once.
func (h *Host) Run(ctx context.Context) error {
	h.mu.Lock()
	again := h.running || h.closed
	h.running = true
	h.mu.Unlock()
	if again {
		return ErrClosed
	}
	close(h.served)
	h.spawn(h.links.run)
	h.spawn(h.dialer.run)
	h.spawn(h.relays.run)
	h.spawn(h.pingPeers)
	h.spawn(h.watchReach)
	h.spawn(h.remind)
	mdnsErr := h.startMDNS()
	if mdnsErr != nil {
		h.set.Log.Warn("cannot look for peers on the local network", "error", mdnsErr)
	}
	<-ctx.Done()
	return h.Close()
}

// Close ends the host. It is needed only when Run is never called, and waits
// like Run.
func (h *Host) Close() error {
	h.mu.Lock()
	first := !h.closed
	h.closed = true
	h.mu.Unlock()
	var err error
	if first {
		h.end()
		if h.relay != nil {
			_ = h.relay.Close() // it has no error
		}
		if err = h.net.Close(); err != nil {
			err = fmt.Errorf("p2p: closing the network: %w", err)
		}
	}
	h.wg.Wait()
	return err
}

// ID returns the node's name.
func (h *Host) ID() task.PeerID { return h.id }

// Addrs returns where this node can be reached, each with /p2p/ID at its end, at
// the end those through relays.
func (h *Host) Addrs() []string {
	var addrs []string
	for _, a := range append(h.ownAddrs(), h.relays.circuits()...) {
		addrs = append(addrs, a.String()+"/p2p/"+string(h.id))
	}
	return addrs
}

// ownAddrs are the host's addresses without those through relays.
func (h *Host) ownAddrs() []ma.Multiaddr {
	return slices.DeleteFunc(slices.Clone(h.net.Addrs()), isCircuit)
}

// AdvertAddrs returns where this node can be reached, for its advert: the most
// useful first, without /p2p/ID, at most n. Those through relays come last, and
// none of them is left out for another.
func (h *Host) AdvertAddrs(n int) []string {
	addrs, circuits := h.ownAddrs(), h.relays.circuits()
	slices.SortStableFunc(addrs, func(a, b ma.Multiaddr) int { return reach(a) - reach(b) })
	circuits = circuits[:min(n, len(circuits))]
	var texts []string
	for _, a := range append(addrs[:min(n-len(circuits), len(addrs))], circuits...) {
		texts = append(texts, a.String())
	}
	return texts
}

// A Peer is a connected node.
type Peer struct {
	ID        task.PeerID
	Addrs     []string      // remote ends of its connections
	Latency   time.Duration // round trip, smoothed; 0 not yet known
	Direction string        // "in" or "out": who made the first connection
	Transport string        // "tcp", "quic" or, with no direct connection, "relay"
	Opened    time.Time     // the first connection
}

// Peers returns the connected nodes, by ID.
func (h *Host) Peers() []Peer {
	var peers []Peer
	for _, id := range h.net.Network().Peers() {
		conns := h.net.Network().ConnsToPeer(id)
		if len(conns) == 0 {
			continue
		}
		p := Peer{ID: task.PeerID(id.String()), Latency: h.net.Peerstore().LatencyEWMA(id)}
		first := conns[0]
		p.Opened = first.Stat().Opened
		if direct := slices.IndexFunc(conns, func(c network.Conn) bool { return !isRelayed(c) }); direct >= 0 {
			first = conns[direct]
		}
		p.Direction, p.Transport = "out", transportOf(first.RemoteMultiaddr())
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

// Cut closes the connections to a peer that are older than age, and says whether
// it has newer ones. Handler.Disconnected follows if it has none; after it, the
// next connection is told as any first one. It does not wait for the closing.
func (h *Host) Cut(p task.PeerID, age time.Duration) (newer bool) {
	id, err := h.otherPeer(p)
	if err != nil {
		return false
	}
	from := time.Now().Add(-age)
	var old []network.Conn
	for _, c := range h.net.Network().ConnsToPeer(id) {
		if c.Stat().Opened.Before(from) {
			old = append(old, c)
		} else {
			newer = true
		}
	}
	if len(old) > 0 {
		h.links.cut(id, old)
	}
	for _, c := range old {
		h.spawn(func(context.Context) { _ = c.Close() })
	}
	return newer
}

// Stats are counts since New.
type Stats struct {
	BytesIn, BytesOut int64 // payload of all streams, before encryption
	Conns             int   // now open
	Peers             int   // now connected
	Adverts           int   // known and not expired, of the members of all overlays
	// Protocols divides BytesIn and BytesOut; at most 32 keys, of which "other"
	// and "negotiation" are no protocols.
	Protocols map[string]Traffic
	// DroppedAdverts counts refused adverts by reason.
	DroppedAdverts map[string]uint64
}

// Stats returns the counts as they are now.
func (h *Host) Stats() Stats {
	known, dropped := h.adverts.stats(time.Now())
	return Stats{
		BytesIn: h.traffic.in.Load(), BytesOut: h.traffic.out.Load(), Protocols: h.traffic.byProtocol(),
		Conns: len(h.net.Network().Conns()), Peers: len(h.net.Network().Peers()),
		Adverts: known, DroppedAdverts: dropped,
	}
}

// AddAddrs tells the host where a peer can be reached for the next while.
// Addresses that it cannot read, and those that lead through this host, are left out.
func (h *Host) AddAddrs(p task.PeerID, addrs []string, ttl time.Duration) {
	id, err := peer.Decode(string(p))
	if err != nil || id == h.net.ID() {
		return
	}
	var good []ma.Multiaddr
	for _, text := range addrs {
		if a, err := ma.NewMultiaddr(text); err == nil && !h.leadsHere(a) {
			good = append(good, a)
		}
	}
	h.net.Peerstore().AddAddrs(id, good, max(ttl, peerstore.TempAddrTTL))
}

// leadsHere says that an address is through this host: whoever it relays to is
// connected, or not to be had.
func (h *Host) leadsHere(a ma.Multiaddr) bool {
	via, err := a.ValueForProtocol(ma.P_P2P)
	return err == nil && isCircuit(a) && via == h.net.ID().String()
}

// openStream opens a stream to a peer, dialling when needed, through a relay where
// there is no other way. The stream ends with ctx.
func (h *Host) openStream(ctx context.Context, p peer.ID, id string) (network.Stream, func() bool, error) {
	open, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	s, err := h.net.NewStream(allowRelayed(open), p, protocolID(id))
	if err != nil {
		return nil, nil, fmt.Errorf("p2p: reaching %s: %w", p, err)
	}
	return s, context.AfterFunc(ctx, func() { s.Reset() }), nil
}
