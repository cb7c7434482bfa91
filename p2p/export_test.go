package p2p

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
)

// Say publishes bytes as if they were this node's advert in an overlay.
func (h *Host) Say(id overlay.ID, b []byte) { h.gossip.publish(h.adverts.member(id), b) }

// TopicOf is the topic of an overlay.
func TopicOf(id overlay.ID) string { return topicOf(id, overlay.Cell{}) }

// WantPeers is how many connections a host seeks.
const WantPeers = wantPeers

// PublishToMesh has hosts opened from now on publish as they relay, to their
// mesh alone, until the returned function is called: for hosts that publish for
// many members, of which each has but its own neighbours.
func PublishToMesh() func() {
	floodPublish = false
	return func() { floodPublish = true }
}

// ForgetAdvert has the host not know a member, as if it had never been told of it.
func (h *Host) ForgetAdvert(id overlay.ID, p task.PeerID) {
	m := h.adverts.member(id)
	h.adverts.mu.Lock()
	defer h.adverts.mu.Unlock()
	delete(m.known, p)
}

// NothingKnown is what a node compares that knows no member of an overlay.
func NothingKnown(id overlay.ID) []byte { return encodeLists(1, []list{newList(id, 0, 64)}) }

// Score is what gossip thinks of a peer; below -100 it is not heard.
func (h *Host) Score(p task.PeerID) float64 {
	id, err := peer.Decode(string(p))
	if err != nil {
		panic(err)
	}
	return h.adverts.score(id)
}

// MaxAdverts is how many members a host remembers.
const MaxAdverts = maxAdverts

// FillAdverts has the host know as many members of an overlay as it can, none of
// which exists.
func (h *Host) FillAdverts(id overlay.ID) {
	m := h.adverts.member(id)
	h.adverts.mu.Lock()
	defer h.adverts.mu.Unlock()
	now := time.Now()
	for i := 0; len(m.known) < maxAdverts; i++ {
		id := task.PeerID(fmt.Sprintf("invented %d", i))
		m.known[id] = known{Advert: overlay.Advert{Peer: id, Expires: now.Add(time.Hour)}, since: now}
	}
}

// RawHandOver opens a stream for a hand-over on which anything can be said.
func (h *Host) RawHandOver(tb testing.TB, to *Host) network.Stream {
	tb.Helper()
	s, err := h.net.NewStream(tb.Context(), to.net.ID(), ProtocolHandOver)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Held is the memory that a peer's connections, streams and messages count with,
// and that of all peers together.
func (h *Host) Held(p task.PeerID) (one, all int64) {
	id, err := peer.Decode(string(p))
	if err != nil {
		panic(err)
	}
	view := func(s network.ResourceScope) error { all = s.Stat().Memory; return nil }
	viewPeer := func(s network.PeerScope) error { one = s.Stat().Memory; return nil }
	limits := h.net.Network().ResourceManager()
	if err := errors.Join(limits.ViewSystem(view), limits.ViewPeer(id, viewPeer)); err != nil {
		panic(err)
	}
	return one, all
}

// The limits that Held is held to.
const (
	NetworkMemory = networkMemory
	PeerMemory    = peerMemory
)

// RequestStreams is how many requests a peer may have going.
var RequestStreams = inboundStreams[ProtocolRequest]

// SetTable has a host take part in the hash table from so many members on, and serve it once it
// has been up for so long, as one that others have dialled.
func (h *Host) SetTable(least int, serves time.Duration) {
	h.table.least, h.table.serves = least, serves
	h.reachability.now.Store(uint32(overlay.ReachPublic))
	h.table.look()
}

// Serves reports whether a host serves the hash table.
func (h *Host) Serves() bool {
	h.table.mu.Lock()
	defer h.table.mu.Unlock()
	return h.table.dht != nil && h.table.server
}

// TakesPart reports whether a host takes part in the hash table at all.
func (h *Host) TakesPart() bool {
	h.table.mu.Lock()
	defer h.table.mu.Unlock()
	return h.table.dht != nil
}

// Lie has a server of the hash table say that those provide a key, whatever anybody tells it.
func (h *Host) Lie(k Key, peers []MetPeer) {
	of := map[peer.ID]provider{}
	for _, p := range infosOf(peers) {
		of[p.ID] = provider{addrs: p.Addrs, until: time.Now().Add(time.Hour)}
	}
	h.table.provided.mu.Lock()
	defer h.table.provided.mu.Unlock()
	h.table.provided.keys[string(k.multihash())] = of
}

// ReadWithin is how long a frame that was written may be on its way.
const ReadWithin = readWithin

// SpareConns is how many connections a host has beyond MaxConns until they are trimmed.
const SpareConns = spareConns

// Trim closes the connections to a peer as those are that are too many.
func (h *Host) Trim(p task.PeerID) {
	id, err := peer.Decode(string(p))
	if err != nil {
		panic(err)
	}
	for _, c := range h.net.Network().ConnsToPeer(id) {
		_ = c.CloseWithError(network.ConnGarbageCollected)
	}
}

// Room is how many connections, and how much memory, the host may have.
func (h *Host) Room() (conns int, memory int64) {
	view := func(s network.ResourceScope) error {
		limit := s.(rcmgr.ResourceScopeLimiter).Limit()
		conns, memory = limit.GetConnTotalLimit(), limit.GetMemoryLimit()
		return nil
	}
	if err := h.net.Network().ResourceManager().ViewSystem(view); err != nil {
		panic(err)
	}
	return conns, memory
}

// Keeps reports whether a peer's connection is kept.
func (h *Host) Keeps(p task.PeerID) bool {
	id, err := peer.Decode(string(p))
	return err == nil && h.net.ConnManager().IsProtected(id, keepTag)
}

// Needs reports whether the host connects to a peer that is found on the local network.
func (h *Host) Needs(p task.PeerID) bool {
	id, err := peer.Decode(string(p))
	if err != nil {
		panic(err)
	}
	return found{h.endpoint, h.adverts}.needs(h.life, id)
}
