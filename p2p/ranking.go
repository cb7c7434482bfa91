package p2p

import (
	"context"
	"errors"
	"time"

	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// A ranking is with whom the node works.
type ranking struct {
	*endpoint
	keeper *keeper
}

// Rank says with whom the node works now, and replaces what was said before: they may cost
// it more than other members may, and keep their connections. The map is Rank's to keep.
func (r *ranking) Rank(ranks map[task.PeerID]cost.Class) {
	r.costs.Rank(ranks)
	r.keeper.works(ranks)
}

// Class returns what a peer is to the node.
func (r *ranking) Class(of task.PeerID) cost.Class { return r.costs.Class(of) }

// Debit notes what a peer has cost the node: the next that it sends waits until that is paid.
func (r *ranking) Debit(of task.PeerID, k cost.Kind, n int) { r.costs.Debit(of, k, n) }

// paid is inbound, and takes what is held from what the peer may cost.
func (as *adverts) paid(ctx context.Context, s network.Stream) *wire.Intake {
	from := task.PeerID(s.Conn().RemotePeer().String())
	return as.inbound(s).Paid(func(n int) error { return as.costs.Pay(ctx, from, cost.Messages, n) })
}

// overspent holds it against a peer that it went on long after its budget was spent, if that
// is what err says.
func (as *adverts) overspent(p peer.ID, err error) {
	if errors.Is(err, cost.ErrBeyond) {
		as.accuse(p, blameCost, time.Now())
	}
}

// unheard reports whether a peer did so much wrong that nothing is taken from it for now.
func (as *adverts) unheard(p peer.ID) bool { return as.score(p) < scoreGraylist }
