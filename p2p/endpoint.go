package p2p

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// An endpoint is this node's end of the network: the libp2p host, and the life of
// all that runs on it.
type endpoint struct {
	set     settings
	net     host.Host
	gate    *gate
	named   *named
	id      task.PeerID
	traffic *traffic
	pace    wire.Pace
	costs   *cost.Budgets
	ports   *openPorts // nil where no router is asked

	// life ends when the host closes. Every goroutine is started by spawn and
	// ends with it.
	life   context.Context
	end    context.CancelFunc
	served chan struct{} // closed when Run begins: until then streams wait

	// blame is called with a peer whose stream made its handler panic.
	blame func(task.PeerID)

	mu      sync.Mutex
	closed  bool // guards wg: nothing is spawned after it is set
	running bool // Run was called
	wg      sync.WaitGroup
}

func newEndpoint(set settings, extra []libp2p.Option) (*endpoint, error) {
	named := newNamed(set.bootstrap, time.Now())
	e := &endpoint{
		set: set, named: named, gate: &gate{redial: newRedial(named)}, traffic: &traffic{}, pace: wire.NewPace(),
		served: make(chan struct{}),
	}
	var err error
	if e.ports = newOpenPorts(set, e.addrsChanged); e.ports != nil {
		extra = append(extra, libp2p.NATManager(e.ports.over))
	}
	if e.net, err = openTransport(set, e.gate, e.traffic, extra); err != nil {
		return nil, err
	}
	e.id = task.PeerID(e.net.ID().String())
	e.life, e.end = context.WithCancel(context.Background())
	return e, nil
}

// begin lets streams in. It reports false when it was called before, or after stop.
func (e *endpoint) begin() bool {
	e.mu.Lock()
	again := e.running || e.closed
	e.running = true
	e.mu.Unlock()
	if !again {
		close(e.served)
	}
	return !again
}

// stop ends life. It reports false when it was called before.
func (e *endpoint) stop() bool {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	e.mu.Unlock()
	if first {
		e.gate.closing.Store(true)
		e.end()
	}
	return first
}

// stopped reports whether stop was called.
func (e *endpoint) stopped() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// handle serves inbound streams of one protocol. A stream that comes between
// New and Run waits.
func (e *endpoint) handle(id string, serve func(context.Context, network.Stream)) {
	e.net.SetStreamHandler(protocolID(id), func(s network.Stream) {
		served := e.spawn(func(ctx context.Context) {
			stop := context.AfterFunc(ctx, func() { s.Reset() })
			defer stop()
			defer e.catch(id, s)
			select {
			case <-e.served:
				serve(ctx, s)
			case <-ctx.Done():
			}
		})
		if !served {
			s.Reset()
		}
	})
}

// catch ends a stream whose handler panicked, and the connection with it: what a peer sends
// must not end the program. It is deferred.
func (e *endpoint) catch(id string, s network.Stream) {
	p := recover()
	if p == nil {
		return
	}
	e.set.Log.Error("what a peer sent made this program panic; its connection is closed, and this should be reported",
		"peer", s.Conn().RemotePeer(), "protocol", id, "panic", p, "stack", string(debug.Stack()))
	s.Reset()
	e.blame(task.PeerID(s.Conn().RemotePeer().String()))
}

// spawn runs f until it returns, with a context that ends when the host closes.
// It reports false, and does not run f, once the host has closed.
func (e *endpoint) spawn(f func(ctx context.Context)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.wg.Go(func() { f(e.life) })
	return true
}

// ID returns the node's name.
func (e *endpoint) ID() task.PeerID { return e.id }

// Other returns a peer's ID as everybody writes it, or ErrBadPeer.
func (e *endpoint) Other(p task.PeerID) (task.PeerID, error) {
	id, err := e.otherPeer(p)
	return task.PeerID(id.String()), err
}

func (e *endpoint) otherPeer(text task.PeerID) (peer.ID, error) {
	p, err := peer.Decode(string(text))
	if err != nil || p == e.net.ID() {
		return "", fmt.Errorf("%w: %q", ErrBadPeer, text)
	}
	return p, nil
}

// openStream opens a stream to a peer, dialling when needed, through a relay where
// there is no other way, by the first protocol that the peer speaks. The stream ends with ctx.
func (e *endpoint) openStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, func() bool, error) {
	open, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	s, err := e.net.NewStream(allowRelayed(open), p, ids...)
	if err != nil {
		return nil, nil, fmt.Errorf("p2p: reaching %s: %w", p, err)
	}
	return s, context.AfterFunc(ctx, func() { s.Reset() }), nil
}

// addrsChanged has the node say where it can be reached now.
func (e *endpoint) addrsChanged() {
	if e.set.OnAddrs != nil {
		e.set.OnAddrs()
	}
}
