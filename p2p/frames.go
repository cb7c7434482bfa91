package p2p

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// inboxes take the frames of peers to the handler.
type inboxes struct {
	*endpoint
	links   *links
	adverts *adverts
}

// receiveFrames gives the frames of one stream to the handler. A stream that
// breaks our rules costs the peer its connections.
func (in *inboxes) receiveFrames(ctx context.Context, s network.Stream) {
	defer s.Reset()
	p := s.Conn().RemotePeer()
	if in.adverts.unheard(p) {
		return
	}
	l, gen := in.links.await(ctx, s.Conn())
	if l == nil {
		return
	}
	defer in.links.release(p, l)
	defer l.inbox.leave(s)
	if !l.inbox.enter(s) {
		return
	}
	err := in.readFrames(ctx, s, l, gen)
	switch {
	case errors.Is(err, errMoved):
		s.Close()
	case err != nil && ctx.Err() == nil:
		in.adverts.overspent(p, err)
		in.set.Log.Debug("frames ended", "from", p, "error", err)
		_ = s.Conn().Close()
	}
}

// errMoved ends a stream through a relay whose sender has found a direct way.
var errMoved = errors.New("p2p: goes on over a direct connection")

// deliver gives the handler a frame, unless the link is another by now.
func (in *inboxes) deliver(p peer.ID, l *link, gen uint64, frame []byte) (current bool) {
	l.deliver.Lock()
	defer in.links.delivered(p, l) // whatever the handler does
	if current = in.links.current(l, gen); current {
		in.set.Handler.Frame(task.PeerID(p.String()), frame)
	}
	return current
}

// readFrames waits without a deadline for a frame to begin: silence is normal. Then it waits
// until the peer has paid for what its frames cost so far.
func (in *inboxes) readFrames(ctx context.Context, s network.Stream, l *link, gen uint64) error {
	from := task.PeerID(s.Conn().RemotePeer().String())
	r := bufio.NewReaderSize(s, 16<<10)
	count := in.adverts.paid(ctx, s)
	defer count.Release()
	for {
		if err := s.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
		if _, err := r.Peek(1); err != nil {
			if errors.Is(err, io.EOF) && isRelayed(s.Conn()) {
				return errMoved
			}
			return err
		}
		if err := in.costs.Settle(ctx, from); err != nil {
			return err
		}
		if err := s.SetReadDeadline(time.Now().Add(messageTimeout)); err != nil {
			return err
		}
		frame, err := wire.ReadFrame(r, MaxFrame, count)
		if err != nil {
			return wire.NoEOF(err)
		}
		current := in.deliver(s.Conn().RemotePeer(), l, gen, frame)
		count.Release()
		if !current {
			return nil
		}
	}
}
