package p2p

import (
	"context"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

// AskBlocks opens a stream on which a peer is asked for blocks, dialling when
// needed. end breaks it off and must be called; it ends with ctx and the host too.
func (h *Host) AskBlocks(ctx context.Context, to task.PeerID) (s *wire.Stream, end func(), err error) {
	p, err := h.otherPeer(to)
	if err != nil {
		return nil, nil, err
	}
	stream, stop, err := h.openStream(ctx, p, ProtocolBlocks)
	if err != nil {
		return nil, nil, err
	}
	stopToo := context.AfterFunc(h.life, func() { stream.Reset() })
	end = func() {
		stopToo()
		stream.Reset()
		stop()
	}
	return &wire.Stream{Conn: stream, Count: asked(stream), Pace: h.pace}, end, nil
}

// receiveBlocks serves one stream of a peer that asks for blocks.
func (h *Host) receiveBlocks(ctx context.Context, s network.Stream) {
	h.set.OnBlocks(ctx, &wire.Stream{Conn: s, Count: h.inbound(s), Pace: h.pace})
}

// SetRates bounds the bytes of blocks and hand-overs a second that the host sends and takes; 0
// is no bound. It holds for transfers under way too. A peer gives up on a block
// that takes longer than 10 s: below wire.MaxBlock in that time large blocks may
// never arrive.
func (h *Host) SetRates(up, down int64) { h.pace.Set(up, down) }

// inbound counts what a peer sends of its own accord. Strangers may use 40 % of what
// a peer has, and of what all have together, members 80 %: strangers, however many,
// cannot keep members from being heard. Windows grow to 50 or 60 % at most.
func (h *Host) inbound(s network.Stream) *wire.Intake {
	from := task.PeerID(s.Conn().RemotePeer().String())
	return wire.Counted(s.Scope(), func() uint8 {
		if h.adverts.fellow(from, time.Now()) {
			return network.ReservationPriorityHigh
		}
		return network.ReservationPriorityLow
	})
}

// asked counts what we have asked for: up to all there is.
func asked(s network.Stream) *wire.Intake {
	return wire.Counted(s.Scope(), func() uint8 { return network.ReservationPriorityAlways })
}
