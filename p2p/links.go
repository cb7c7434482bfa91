package p2p

import (
	"context"
	"sync"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// links turns connections, of which a peer may have several, into the one fact
// that the handler is told: this peer is connected, or not.
//
// A peer's link has a generation, counted up when its first connection opens.
// Frames belong to the generation of the connection that carries them, and the
// handler gets those only between the Connected and the Disconnected of that
// generation.
type links struct {
	*endpoint
	opened func(c network.Conn, first bool) // told of each connection, and whether it is the peer's first
	ended  func(p peer.ID, how ending)      // told when some have ended

	mu    sync.Mutex
	peers map[peer.ID]*link
	dirty []peer.ID     // links to look at, without duplicates
	wake  chan struct{} // holds one token when dirty is not empty
}

// An ending is how connections to a peer ended: last when none is left, trimmed when that one
// was closed for being one too many.
type ending struct{ last, trimmed bool }

type link struct {
	gen     uint64            // of the newest connection
	conns   map[string]uint64 // open connections and their generations
	told    uint64            // generation the handler knows of; 0 none
	ready   chan struct{}     // closed when told reaches gen, or never will
	lost    bool              // frames were dropped: the handler must be told
	trimmed bool              // the last connection was one too many
	listed  bool              // in links.dirty
	waiting int               // goroutines that hold this link
	held    bool              // tell found deliver held: who holds it has tell called again

	// deliver is held while the handler is called about this peer.
	deliver sync.Mutex
	inbox   inbox
}

func newLinks(ep *endpoint) *links {
	return &links{endpoint: ep, peers: map[peer.ID]*link{}, wake: make(chan struct{}, 1)}
}

var _ network.Notifiee = (*links)(nil)

// Listen is of no interest.
func (*links) Listen(network.Network, ma.Multiaddr) {}

// ListenClose is of no interest.
func (*links) ListenClose(network.Network, ma.Multiaddr) {}

// Connected is called by libp2p for every connection.
func (ls *links) Connected(_ network.Network, c network.Conn) {
	p := c.RemotePeer()
	ls.mu.Lock()
	l := ls.get(p)
	first := len(l.conns) == 0
	if first {
		l.gen++
		l.trimmed = false
		closeOnce(l.ready) // who waits for the generation before finds it over
		l.ready = make(chan struct{})
		ls.mark(p, l)
	}
	l.conns[c.ID()] = l.gen
	ls.mu.Unlock()
	ls.opened(c, first)
}

// Disconnected is called by libp2p for every connection.
func (ls *links) Disconnected(_ network.Network, c network.Conn) {
	ls.end(c.RemotePeer(), []network.Conn{c}, ls.trimmed(c))
}

// cut takes connections to a peer for ended: those that are, or are about to be
// closed. One that opens meanwhile is the first again.
func (ls *links) cut(p peer.ID, conns []network.Conn) { ls.end(p, conns, false) }

func (ls *links) end(p peer.ID, conns []network.Conn, trimmed bool) {
	ls.mu.Lock()
	l := ls.get(p)
	for _, c := range conns {
		delete(l.conns, c.ID())
	}
	how := ending{last: len(l.conns) == 0}
	if how.last {
		l.trimmed = l.trimmed || trimmed
		how.trimmed = l.trimmed
		ls.mark(p, l)
	}
	ls.mu.Unlock()
	ls.ended(p, how)
}

// lose has the handler told that frames to or from a peer were dropped.
func (ls *links) lose(p peer.ID) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.get(p)
	l.lost = true
	ls.mark(p, l)
}

// get returns the link of a peer; ls.mu is held.
func (ls *links) get(p peer.ID) *link {
	l := ls.peers[p]
	if l == nil {
		l = &link{conns: map[string]uint64{}, ready: make(chan struct{})}
		ls.peers[p] = l
	}
	return l
}

// mark has run look at a link; ls.mu is held.
func (ls *links) mark(p peer.ID, l *link) {
	if !l.listed {
		l.listed = true
		ls.dirty = append(ls.dirty, p)
	}
	select {
	case ls.wake <- struct{}{}:
	default:
	}
}

// run tells the handler. It has a goroutine of its own, so that a handler that
// blocks does not hold up libp2p.
func (ls *links) run(ctx context.Context) {
	for {
		select {
		case <-ls.wake:
		case <-ctx.Done():
			return
		}
		for p := range ls.takeDirty() {
			ls.tell(p)
		}
	}
}

func (ls *links) takeDirty() map[peer.ID]struct{} {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	set := map[peer.ID]struct{}{}
	for _, p := range ls.dirty {
		ls.peers[p].listed = false
		set[p] = struct{}{}
	}
	ls.dirty = ls.dirty[:0]
	return set
}

// tell brings the handler up to date about one peer. Connections that came and
// went meanwhile are one Disconnected and one Connected, never silence.
func (ls *links) tell(p peer.ID) {
	ls.mu.Lock()
	l := ls.peers[p]
	ls.mu.Unlock()
	if l == nil {
		return
	}
	name := task.PeerID(p.String())
	if !ls.mayDeliver(l) {
		return
	}
	defer l.deliver.Unlock()

	ls.mu.Lock()
	up, gen := len(l.conns) > 0, l.gen
	down := l.lost || l.told != 0 && (!up || l.told != gen)
	quiet := l.trimmed && !l.lost
	l.lost = false
	if down {
		l.told = 0
	}
	ls.mu.Unlock()
	switch {
	case down && quiet:
		ls.set.Handler.Trimmed(name)
	case down:
		ls.set.Handler.Disconnected(name)
	}

	ls.mu.Lock()
	tell := up && l.told != gen
	if tell {
		l.told = gen
	}
	ls.mu.Unlock()
	if tell {
		ls.set.Handler.Connected(name)
	}

	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.gen == gen {
		closeOnce(l.ready) // told, or gone before it could be told
	}
	if len(l.conns) == 0 && l.told == 0 && !l.listed && l.waiting == 0 {
		delete(ls.peers, p)
	}
}

// mayDeliver locks deliver, or has the one that holds it, whose frame may wait for long, call tell
// when it is through.
func (ls *links) mayDeliver(l *link) bool {
	if l.deliver.TryLock() {
		return true
	}
	ls.mu.Lock()
	l.held = true
	ls.mu.Unlock()
	return l.deliver.TryLock() // it may have left before it could see that
}

// delivered unlocks deliver.
func (ls *links) delivered(p peer.ID, l *link) {
	l.deliver.Unlock()
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.held {
		l.held = false
		ls.mark(p, l)
	}
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// await waits until the handler knows the peer at the other end of c, and
// returns its link, to be given back by release, and its generation; or nil
// when the connection has ended.
func (ls *links) await(ctx context.Context, c network.Conn) (*link, uint64) {
	ls.mu.Lock()
	l := ls.get(c.RemotePeer())
	gen, open := l.conns[c.ID()]
	ready := l.ready
	if open {
		l.waiting++
	}
	ls.mu.Unlock()
	if !open {
		return nil, 0
	}
	select {
	case <-ready:
		return l, gen
	case <-ctx.Done():
		ls.release(c.RemotePeer(), l)
		return nil, 0
	}
}

func (ls *links) release(p peer.ID, l *link) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l.waiting--
	if len(l.conns) == 0 {
		ls.mark(p, l)
	}
}

// current reports whether the handler still takes frames of this generation.
// l.deliver is held.
func (ls *links) current(l *link, gen uint64) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return l.told == gen
}
