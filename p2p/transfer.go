package p2p

import (
	"context"
	"fmt"
	"sync"
	"time"

	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// transfers carries streams of blocks.
type transfers struct {
	*endpoint
	adverts *adverts
	greeter *greeter
	turns   askTurns
	kept    keptStreams
}

// An askStream is one on which a peer is asked for blocks.
type askStream struct {
	network.Stream
	count *wire.Intake
	kept  *time.Timer // ends it while nobody uses it; nil before it was kept
	stop  func() bool // has it not end with the host
}

// close ends it for good.
func (s *askStream) close() {
	s.stop()
	s.Reset()
}

// AskBlocks opens a stream on which a peer is asked for blocks, or takes one that was kept, dialling when
// needed, once few enough are open to that peer. The peer has heard before what overlays this node is a member of.
// end must be called: it keeps a stream that is settled, and breaks off any other. The stream ends with ctx and the
// host too.
func (t *transfers) AskBlocks(ctx context.Context, to task.PeerID) (s *wire.Stream, end func(), err error) {
	p, err := t.otherPeer(to)
	if err != nil {
		return nil, nil, err
	}
	leave, err := t.turns.take(ctx, p)
	if err != nil {
		return nil, nil, fmt.Errorf("waiting to ask %s for blocks: %w", to, err)
	}
	stream := t.kept.take(p)
	kept := stream != nil
	if !kept {
		if stream, err = t.openAsking(ctx, p); err != nil {
			leave()
			return nil, nil, err
		}
	}
	stop := context.AfterFunc(ctx, func() { stream.Reset() })
	t.greeter.introduce(ctx, p)
	tag := fmt.Sprintf("blocks %p", stream)
	t.net.ConnManager().Protect(p, tag) // while it brings something
	s = &wire.Stream{Conn: stream, Count: stream.count, Pace: t.pace, Kept: kept}
	end = sync.OnceFunc(func() {
		t.net.ConnManager().Unprotect(p, tag)
		if !stop() || !s.Settled || t.life.Err() != nil || !t.kept.keep(p, stream) {
			stream.close()
		}
		leave()
	})
	return s, end, nil
}

// openAsking opens a stream that ends with the host.
func (t *transfers) openAsking(ctx context.Context, p peer.ID) (*askStream, error) {
	stream, stop, err := t.openStream(ctx, p, ProtocolBlocks)
	if err != nil {
		return nil, err
	}
	stop()
	return &askStream{Stream: stream, count: asked(stream),
		stop: context.AfterFunc(t.life, func() { stream.Reset() })}, nil
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
