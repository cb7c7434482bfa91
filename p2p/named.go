package p2p

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
)

// MaxNamed bounds the peers that an owner names: a connection to each is sought for ever.
const MaxNamed = 128

// maxNamedAddrs bounds the addresses that are remembered of one.
const maxNamedAddrs = 8

// tellAfter is how often a named peer may not be reached in a row before its owner is told:
// three tries take two seconds, in which a peer that has just begun is ready.
const tellAfter = 3

// A NamedPeer is one whose address the owner gave to this node, which stays connected to it.
type NamedPeer struct {
	Peer      task.PeerID `json:"peer"`
	Addrs     []string    `json:"addrs"` // as they were given, with /p2p/ID
	Connected bool        `json:"connected"`
	Since     time.Time   `json:"since,omitzero"` // when it was lost, or named; zero while it is connected
	Tries     int         `json:"tries"`          // in vain, in a row
	Why       string      `json:"why"`            // it was not reached the last time, for a person; "" while it is
}

// named are the peers that the owner named. All methods are safe for concurrent use, and a
// nil one has none.
type named struct {
	mu    sync.Mutex
	peers map[peer.ID]*NamedPeer
}

func newNamed(peers []peer.AddrInfo, now time.Time) *named {
	n := &named{peers: map[peer.ID]*NamedPeer{}}
	for _, p := range peers {
		n.add(p, now)
	}
	return n
}

// add names a peer, or further addresses of one. It reports false beyond MaxNamed.
func (n *named) add(p peer.AddrInfo, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	x := n.peers[p.ID]
	if x == nil {
		if len(n.peers) >= MaxNamed {
			return false
		}
		x = &NamedPeer{Peer: task.PeerID(p.ID.String()), Since: now}
		n.peers[p.ID] = x
	}
	for _, a := range p.Addrs {
		text := a.String() + "/p2p/" + p.ID.String()
		switch {
		case slices.Contains(x.Addrs, text):
		case len(x.Addrs) < maxNamedAddrs:
			x.Addrs = append(x.Addrs, text)
		default:
			x.Addrs[maxNamedAddrs-1] = text
		}
	}
	return true
}

// remove forgets a peer. It reports whether it was there.
func (n *named) remove(p peer.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, had := n.peers[p]
	delete(n.peers, p)
	return had
}

func (n *named) has(p peer.ID) bool {
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, has := n.peers[p]
	return has
}

func (n *named) ids() []peer.ID {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := make([]peer.ID, 0, len(n.peers))
	for id := range n.peers {
		ids = append(ids, id)
	}
	return ids
}

// tried takes in how a dial ended, and reports whether the owner is to be told: of a reason
// that is new, and of a peer that is there after its owner was told that it is not.
func (n *named) tried(p peer.ID, err error, now time.Time) (x NamedPeer, tell bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.peers[p]
	if at == nil {
		return x, false
	}
	if err == nil {
		tell = at.Why != "" && at.Tries >= tellAfter
		at.Since, at.Tries, at.Why = time.Time{}, 0, ""
		return *at, tell
	}
	why := whyNot(err)
	at.Tries++
	tell = at.Tries == tellAfter || at.Tries > tellAfter && why != at.Why
	if at.Since.IsZero() {
		at.Since = now
	}
	at.Why = why
	return *at, tell
}

// list describes them, in order; connected says which are.
func (n *named) list(connected func(peer.ID) bool) []NamedPeer {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]NamedPeer, 0, len(n.peers))
	for id, x := range n.peers {
		y := *x
		y.Addrs = slices.Clone(x.Addrs)
		if y.Connected = connected(id); y.Connected {
			y.Since, y.Tries, y.Why = time.Time{}, 0, ""
		}
		out = append(out, y)
	}
	slices.SortFunc(out, func(a, b NamedPeer) int { return strings.Compare(string(a.Peer), string(b.Peer)) })
	return out
}

// Named describes the peers whose addresses the owner gave, by ID.
func (d *dialer) Named() []NamedPeer { return d.named.list(d.endpoint.connected) }

// Name has the host stay connected to a peer from now on. The address ends in /p2p/ID.
func (d *dialer) Name(addr string) (task.PeerID, error) {
	info, err := parseNamed(addr)
	switch {
	case err != nil:
		return "", err
	case info.ID == d.net.ID():
		return "", fmt.Errorf("%w: %q is this node itself", ErrBadPeer, addr)
	case !d.named.add(*info, time.Now()):
		return "", fmt.Errorf("%w: %d peers are named already, the most that can be", ErrBadPeer, MaxNamed)
	}
	d.hold(*info)
	d.poke()
	return task.PeerID(info.ID.String()), nil
}

// Unname has the host treat a peer that was named as any other. It reports whether it was.
func (d *dialer) Unname(p task.PeerID) bool {
	id, err := peer.Decode(string(p))
	if err != nil || !d.named.remove(id) {
		return false
	}
	d.net.ConnManager().Unprotect(id, protectNamed)
	return true
}

// protectNamed is the tag that keeps the connection to a named peer.
const protectNamed = "bootstrap"

// hold remembers where a named peer is, and keeps its connection from being trimmed.
func (d *dialer) hold(p peer.AddrInfo) {
	d.net.Peerstore().AddAddrs(p.ID, p.Addrs, peerstore.PermanentAddrTTL)
	d.net.ConnManager().Protect(p.ID, protectNamed)
}

// parseNamed reads the address of a peer.
func parseNamed(text string) (*peer.AddrInfo, error) {
	info, err := peer.AddrInfoFromString(text)
	if err == nil && len(info.Addrs) == 0 {
		err = errors.New("it has an ID and no address")
	}
	if err != nil {
		return nil, fmt.Errorf("p2p: peer address %q: %w (an example: /ip4/192.0.2.1/tcp/4001/p2p/12D3KooW...)", text, err)
	}
	return info, nil
}

// whyNot tells a person why a peer was not reached: of several addresses what was nearest to success.
func whyNot(err error) string {
	best, why := -1, "nobody answers there"
	better := func(rank int, text string) {
		if rank > best {
			best, why = rank, text
		}
	}
	var dial *swarm.DialError
	if !errors.As(err, &dial) {
		better(rankCause(err))
		return why
	}
	for _, at := range dial.DialErrors {
		rank, text := rankCause(at.Cause)
		better(rank, text+" ("+at.Address.String()+")")
	}
	return why
}

// rankCause says why a dial of one address failed, and how far it came.
func rankCause(err error) (int, string) {
	const silent, refused, unlike, another = 0, 1, 2, 3
	var mismatch sec.ErrPeerIDMismatch
	text := err.Error()
	switch {
	case errors.As(err, &mismatch):
		return another, "another node answers there: " + mismatch.Actual.String()
	case strings.Contains(text, "failed to negotiate security protocol"):
		return unlike, "who answers there does not speak as this node does: one of the two may lack the swarm's key " +
			"(--swarm-key), or have another"
	case strings.Contains(text, "connection refused"):
		return refused, "no program listens there"
	}
	return silent, "nobody answers there"
}
