package p2p

import (
	"sync"

	"godwit/p2p/cost"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
)

const (
	// MaxKept is how many members of the overlays that a node coordinates keep their connections
	// to it, beyond those that any node has. A leader hears of the loss of a member by its
	// connection; 512 cost it some 50 MB. Beyond it connections are trimmed and made again when
	// there is something to say.
	MaxKept = 512
	// maxBeyond is how many connections a node has at most beyond those that any has: MaxKept, and
	// as many of those that it works with.
	maxBeyond = 2 * MaxKept
	// keptMemory is what libp2p counts for the four streams of a connection that is kept: 256 KiB
	// each for the window of yamux, frames and adverts both ways.
	keptMemory = 1 << 20
)

// A keeper knows whose connections are not closed for being too many, and lets in as many more as
// there are of those.
type keeper struct {
	*endpoint

	mu   sync.Mutex
	tags map[string]map[peer.ID]bool // protected, by the connection manager's tag
	all  map[peer.ID]bool            // under any tag
}

// The tags under which the connection manager protects peers.
const (
	rankTag = "worked with" // members that the node works with
	keepTag = "kept"        // others that it coordinates
)

func newKeeper(ep *endpoint) *keeper {
	return &keeper{endpoint: ep, tags: map[string]map[peer.ID]bool{}, all: map[peer.ID]bool{}}
}

// Keep says whose connections are to be kept beside those that the node works with, at most MaxKept,
// and replaces what was said before. Who was kept stays: a flood of newcomers displaces nobody.
func (k *keeper) Keep(peers map[task.PeerID]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := map[peer.ID]bool{}
	for p := range k.tags[keepTag] {
		if peers[task.PeerID(p.String())] {
			next[p] = true
		}
	}
	for name := range peers {
		if len(next) >= MaxKept {
			break
		}
		if p, err := k.otherPeer(name); err == nil {
			next[p] = true
		}
	}
	k.protect(keepTag, next)
}

// works keeps those that the node works with.
func (k *keeper) works(ranks map[task.PeerID]cost.Class) {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := map[peer.ID]bool{}
	for name, class := range ranks {
		if p, err := k.otherPeer(name); err == nil && class >= cost.Worker {
			next[p] = true
		}
	}
	k.protect(rankTag, next)
}

// protect has those under a tag be these; k.mu is held.
func (k *keeper) protect(tag string, next map[peer.ID]bool) {
	before, changed := k.tags[tag], false
	for p := range next {
		if !before[p] {
			k.net.ConnManager().Protect(p, tag)
			k.all[p], changed = true, true
		}
	}
	k.tags[tag] = next
	for p := range before {
		if next[p] {
			continue
		}
		k.net.ConnManager().Unprotect(p, tag)
		if changed = true; !k.tags[rankTag][p] && !k.tags[keepTag][p] {
			delete(k.all, p)
		}
	}
	if changed {
		k.makeRoom(min(len(k.all), maxBeyond))
	}
}

// makeRoom lets in so many connections, and what they count with, beyond those that any node has.
func (e *endpoint) makeRoom(beyond int) {
	err := e.net.Network().ResourceManager().ViewSystem(func(s network.ResourceScope) error {
		l, ok := s.(rcmgr.ResourceScopeLimiter)
		if !ok {
			return nil // a resource manager of a test that limits nothing
		}
		limit, ok := l.Limit().(*rcmgr.BaseLimit)
		if !ok {
			return nil
		}
		next := *limit
		next.Conns = e.set.MaxConns + spareConns + beyond
		next.ConnsInbound, next.ConnsOutbound = next.Conns, next.Conns
		next.Memory = networkMemory + int64(beyond)*keptMemory
		l.SetLimit(&next)
		return nil
	})
	if err != nil {
		e.set.Log.Error("the limits of the network stay as they were", "error", err)
	}
}

// lets reports whether a connection from a peer may come in, by how many there are: what is beyond
// those that any node has is for those that are kept.
func (k *keeper) lets(p peer.ID) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all[p] {
		return true
	}
	others := 0
	for _, c := range k.net.Network().Conns() {
		if !k.all[c.RemotePeer()] {
			others++
		}
	}
	return others < k.set.MaxConns+spareConns
}
