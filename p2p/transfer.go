package p2p

import (
	"context"
	"fmt"
	"time"

	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

// transfers carries streams of blocks.
type transfers struct {
	*endpoint
	adverts *adverts
	greeter *greeter
	turns   askTurns
}

// AskBlocks opens a stream on which a peer is asked for blocks, dialling when
// needed, once few enough are open to that peer. The peer has heard before what overlays this node is a member of. end
// breaks it off and must be called; it ends with ctx and the host too.
func (t *transfers) AskBlocks(ctx context.Context, to task.PeerID) (s *wire.Stream, end func(), err error) {
	p, err := t.otherPeer(to)
	if err != nil {
		return nil, nil, err
	}
	leave, err := t.turns.take(ctx, p)
	if err != nil {
		return nil, nil, fmt.Errorf("waiting to ask %s for blocks: %w", to, err)
	}
	stream, stop, err := t.openStream(ctx, p, ProtocolBlocks)
	if err != nil {
		leave()
		return nil, nil, err
	}
	t.greeter.introduce(ctx, p)
	tag := fmt.Sprintf("blocks %p", stream)
	t.net.ConnManager().Protect(p, tag) // while it brings something
	stopToo := context.AfterFunc(t.life, func() { stream.Reset() })
	end = func() {
		t.net.ConnManager().Unprotect(p, tag)
		stopToo()
		stream.Reset()
		stop()
		leave()
	}
	return &wire.Stream{Conn: stream, Count: asked(stream), Pace: t.pace}, end, nil
}

// receiveBlocks serves one stream of a peer that asks for blocks.
func (t *transfers) receiveBlocks(ctx context.Context, s network.Stream) {
	from, pace := task.PeerID(s.Conn().RemotePeer().String()), t.pace
	pace.Owes = func(n int) time.Duration { return t.costs.Owes(from, cost.Blocks, n) }
	t.set.OnBlocks(ctx, from, &wire.Stream{Conn: s, Count: t.adverts.inbound(s), Pace: pace})
}

// SetRates bounds the bytes of blocks and hand-overs a second that the host sends and takes; 0
// is no bound. It holds for transfers under way too. A peer gives up on a block
// that takes longer than 10 s: below wire.MaxBlock in that time large blocks may
// never arrive.
func (t *transfers) SetRates(up, down int64) { t.pace.Set(up, down) }
