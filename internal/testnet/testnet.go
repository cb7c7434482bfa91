// Package testnet puts p2p hosts on a simulated network, for tests that run in a
// testing/synctest bubble: real hosts, real QUIC, packets with latency and
// bandwidth, no socket and no waiting.
//
// Everything must be made and ended inside the bubble: call New there, and let
// the test's cleanup, which the bubble runs, end it.
package testnet

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"godwit/blocks"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"
)

// Options say how a network is built. The zero value is a network of good home
// connections whose hosts all know the first.
type Options struct {
	Latency   time.Duration                // one way; 0 means 10 ms
	Bandwidth int                          // bits per second each way; 0 means 100 Mbit/s
	Overlays  func(i int) []p2p.Overlay    // that host i joins; nil means the one named "test"
	Handler   func(i int) p2p.Handler      // of host i; nil means its Recorder
	Config    func(i int, cfg *p2p.Config) // last changes to host i's config
	Alone     bool                         // no bootstrap peers
	NAT       func(i int) NAT              // that host i is behind; nil means NoNAT
	Log       io.Writer                    // where the hosts log; nil means nowhere
}

// A Net is a simulated network.
type Net struct {
	Nodes []*Node

	tb   testing.TB
	opts Options
	size int // hosts
	sim  *simnet.Simnet
}

// A Node is a host on the network. A host that was stopped can be started
// again, at the same address and with the same blocks.
type Node struct {
	*p2p.Host
	Recorder *Recorder
	Key      ed25519.PrivateKey
	Addr     string // its multiaddr, with /p2p/ID

	net    *Net
	index  int
	store  ds.Batching
	blocks *blocks.Store
	link   *link
	stop   func()
}

// New starts a network of n hosts, and ends it with the test. It sets GOMAXPROCS
// to 1 for that long: bubbles stall under the race detector otherwise
// (golang/go issue 78156).
func New(tb testing.TB, n int, opts Options) *Net {
	tb.Helper()
	procs := runtime.GOMAXPROCS(1)
	tb.Cleanup(func() {
		time.Sleep(time.Second) // pubsub's heartbeat begins with a sleep that nothing ends
		runtime.GOMAXPROCS(procs)
	})
	if opts.Latency == 0 {
		opts.Latency = 10 * time.Millisecond
	}
	if opts.Bandwidth == 0 {
		opts.Bandwidth = 100 * simlibp2p.OneMbps
	}
	if opts.Overlays == nil {
		opts.Overlays = func(int) []p2p.Overlay { return []p2p.Overlay{{ID: Overlay(testOverlay)}} }
	}
	net := &Net{tb: tb, opts: opts, size: n, sim: &simnet.Simnet{LatencyFunc: simnet.StaticLatency(opts.Latency)}}
	net.sim.Start()
	tb.Cleanup(net.sim.Close)
	for i := range n {
		node := &Node{net: net, index: i, Recorder: &Recorder{}, stop: func() {}}
		node.Key = Key(i)
		node.Addr = Addr(i)
		node.store = dssync.MutexWrap(ds.NewMapDatastore())
		net.Nodes = append(net.Nodes, node)
		node.Start()
		tb.Cleanup(func() { node.Stop() })
	}
	return net
}

// Key returns the key of host i.
func Key(i int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(fmt.Appendf(nil, "%032d", i))
}

// Addr returns the multiaddr of host i, with /p2p/ID.
func Addr(i int) string {
	id, err := p2p.PeerIDOf(Key(i))
	if err != nil {
		panic(err) // Key makes good ones
	}
	return listenAddr(i) + "/p2p/" + string(id)
}

func listenAddr(i int) string {
	return fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", simnet.IntToPublicIPv4(i))
}

// Start starts a host that was stopped.
func (n *Node) Start() {
	n.net.tb.Helper()
	opts := n.net.opts
	store, err := blocks.New(context.Background(), n.store)
	if err != nil {
		n.net.tb.Fatal(err)
	}
	n.blocks = store
	cfg := p2p.Config{
		Key: n.Key, Listen: []string{listenAddr(n.index)},
		OnBlocks: n.blocks.ServeAnybody, Handler: n.Recorder,
	}
	if opts.Handler != nil {
		cfg.Handler = opts.Handler(n.index)
	}
	if n.index > 0 && !opts.Alone {
		cfg.Bootstrap = []string{n.net.Nodes[0].Addr}
	}
	if opts.Log != nil {
		cfg.Log = slog.New(slog.NewTextHandler(opts.Log, &slog.HandlerOptions{Level: slog.LevelDebug})).With("host", n.index)
	}
	if opts.Config != nil {
		opts.Config(n.index, &cfg)
	}
	n.link = &link{net: n.net}
	n.link.nat.Store(int32(n.net.nat(n.index)))
	h, err := p2p.NewWith(cfg, n.link.options(n.net)...)
	if err != nil {
		n.net.tb.Fatal(err)
	}
	n.Host = h
	n.blocks.Connect(h)
	for _, o := range opts.Overlays(n.index) {
		if err := h.Join(o); err != nil {
			n.net.tb.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- h.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			n.net.tb.Errorf("host %d: %v", n.index, err)
		}
		n.link.close()
	})
}

// Blocks returns the node's blocks. They are those of before when it starts again.
func (n *Node) Blocks() *blocks.Store { return n.blocks }

// Stop ends a host, and waits for it. It may be called again.
func (n *Node) Stop() { n.stop() }

// Stranger adds a plain libp2p host, that speaks none of our protocols unless
// the test teaches it some. i must not be the number of another host.
func (net *Net) Stranger(i int) host.Host {
	net.tb.Helper()
	l := &link{net: net}
	h, err := libp2p.New(append(l.options(net), libp2p.ListenAddrStrings(listenAddr(i)), libp2p.DisableMetrics())...)
	if err != nil {
		net.tb.Fatal(err)
	}
	net.tb.Cleanup(func() {
		h.Close()
		l.close()
	})
	return h
}

// testOverlay is the name of the overlay that hosts join when nothing is said.
const testOverlay = "test"

// Overlay returns the ID of the open pool of a name.
func Overlay(name string) overlay.ID {
	m, err := overlay.Named(name)
	if err != nil {
		panic(err) // the test's name is no name
	}
	return m.ID()
}

// Advert returns a signed advert of a node in the overlay named "test", valid for
// five minutes from now, offering so many slots.
func (n *Node) Advert(slots int) overlay.Advert { return n.AdvertIn(Overlay(testOverlay), slots) }

// AdvertIn is Advert in another overlay.
func (n *Node) AdvertIn(id overlay.ID, slots int) overlay.Advert {
	n.net.tb.Helper()
	now := time.Now()
	a := overlay.Advert{
		Peer: n.ID(), Overlay: id, Seq: uint64(now.UnixNano()), Issued: now, Expires: now.Add(5 * time.Minute),
		Addrs: n.AdvertAddrs(overlay.MaxAddrs), Slots: slots,
	}
	if err := a.Sign(n.Key); err != nil {
		n.net.tb.Fatal(err)
	}
	return a
}

// Connect has a node learn of another and connect to it.
func (n *Node) Connect(to *Node) {
	n.net.tb.Helper()
	n.AddAddrs(to.ID(), to.AdvertAddrs(overlay.MaxAddrs), time.Hour)
	if _, err := n.Request(context.Background(), to.ID(), "connect", nil); err != nil {
		n.net.tb.Fatal(err)
	}
}

// IDs returns the IDs of nodes.
func IDs(nodes ...*Node) []task.PeerID {
	var ids []task.PeerID
	for _, n := range nodes {
		ids = append(ids, n.ID())
	}
	return ids
}
