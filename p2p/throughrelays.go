package p2p

import (
	"context"
	"time"

	"godwit/overlay"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/peer"
)

// tellRelayed says our own advert to the members of its overlay and cell that are connected through
// relays alone, and whom gossip may not reach, for it does not go through relays: they would hear of who
// leads, or of a free slot, when a reminder happens to come to them, which with a dozen neighbours takes a
// dozen minutes. Where the relay is a member itself, its gossip has told them. Who has just joined an
// overlay does not know yet who of them is in it, and says so to all.
func (g *greeter) tellRelayed(m *membership, b []byte, joined bool) {
	for _, p := range g.net.Network().Peers() {
		if joined && !g.direct(p) || g.unreached(m, p, time.Now()) {
			g.spawn(func(ctx context.Context) { g.hello(ctx, p, [][]byte{b}) })
		}
	}
}

// unreached says whether a peer is a member of our cell of an overlay that is connected, through
// relays alone, of which none is a member.
func (g *greeter) unreached(m *membership, p peer.ID, now time.Time) bool {
	conns := g.net.Network().ConnsToPeer(p)
	if len(conns) == 0 || !g.adverts.inCell(m, task.PeerID(p.String()), now) {
		return false
	}
	for _, c := range conns {
		if !isRelayed(c) || g.adverts.inCell(m, viaPeer(c.RemoteMultiaddr()), now) {
			return false
		}
	}
	return true
}

// inCell says whether a peer is known for a member of an overlay, and of the cell that this node is in.
func (as *adverts) inCell(m *membership, p task.PeerID, now time.Time) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	k, ok := m.known[p]
	return ok && k.Expires.After(now) && m.told.cell.Holds(overlay.CellNumber(m.ID, p))
}
