package node

import (
	"context"
	"time"

	"godwit/blocks"
	"godwit/node/exec"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/task"
)

// A network is the node's place in the swarm: a p2p.Host.
type network interface {
	Run(ctx context.Context) error
	Close() error // in place of Run
	blocks.Network
	Send(to task.PeerID, frame []byte) error
	Request(ctx context.Context, to task.PeerID, method string, body []byte) ([]byte, error)
	HandOver(ctx context.Context, to task.PeerID) (exec.Stream, error)
	SetAdvert(a overlay.Advert) error
	// EnterCell has adverts of another cell be told and heard, SaySummary other cells' leaders hear of this
	// one's, and this node of theirs while it leads.
	EnterCell(id overlay.ID, c overlay.Cell) error
	SaySummary(s overlay.Summary) error
	// Greet has a peer hear this node's adverts before what is sent to it next; Introduce waits for that.
	Greet(to task.PeerID) error
	Introduce(ctx context.Context, to task.PeerID) error
	// Reachable takes in where leaders are reached, by what a peer showed.
	Reachable(list []overlay.Summary, by task.PeerID)
	AdvertAddrs(n int) []string
	Reach() overlay.Reach
	Join(o p2p.Overlay) error
	Recheck(id overlay.ID) error // its rule of admission has changed
	Leave(id overlay.ID) error
	Shared(p task.PeerID) []overlay.ID // of which p is a member, too
	Addrs() []string
	Peers() []p2p.Peer
	Met() []p2p.MetPeer
	// Name has the node stay connected to a peer, and Unname no longer; Named are those.
	Name(addr string) (task.PeerID, error)
	Unname(p task.PeerID) bool
	Named() []p2p.NamedPeer
	// Suggest takes in addresses of peers that may be dialled while there are few neighbours.
	Suggest(addrs []string)
	// Provide says by which keys this node is to be found in the hash table, and Find connects to
	// those who are found by one, until try says of one that it is good.
	Provide(keys []p2p.Key)
	Find(ctx context.Context, k p2p.Key, try func(ctx context.Context, p task.PeerID) bool) (bool, error)
	// Meet connects to a peer at an address.
	Meet(ctx context.Context, addr string) (task.PeerID, error)
	Blame(p task.PeerID) // and close the connections to it
	Cut(p task.PeerID, age time.Duration) (newer bool)
	Stats() p2p.Stats
	Reaching() p2p.Reaching
	Skew() p2p.Skew
	// Rank says with whom this node works, Class what a peer is, and Debit what it has cost.
	Rank(ranks map[task.PeerID]cost.Class)
	// Keep says whose connections are kept beside: those of members that this node coordinates.
	Keep(peers map[task.PeerID]bool)
	Class(of task.PeerID) cost.Class
	Debit(of task.PeerID, k cost.Kind, n int)
}

// A host is a p2p.Host as a network.
type host struct{ *p2p.Host }

// HandOver implements network.
func (h host) HandOver(ctx context.Context, to task.PeerID) (exec.Stream, error) {
	s, err := h.Host.HandOver(ctx, to)
	if err != nil {
		return nil, err
	}
	return s, nil
}
