package p2p

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

// handOvers opens and takes hand-overs, and counts those that run: each place is
// taken by a token.
type handOvers struct {
	*endpoint
	adverts *adverts
	out, in chan struct{}
}

func newHandOvers(ep *endpoint, as *adverts) *handOvers {
	return &handOvers{ep, as, make(chan struct{}, maxHandOvers), make(chan struct{}, maxHandOvers)}
}

// HandOver opens a stream to a member, dialling when needed; opening may take
// 15 s. The stream ends with Close, Hang or the host, not with ctx: one of the
// first two must be called. It returns ErrStranger, ErrBusy, ErrBadPeer or ErrClosed.
func (hs *handOvers) HandOver(ctx context.Context, to task.PeerID) (*HandOverStream, error) {
	p, err := hs.otherPeer(to)
	switch {
	case err != nil:
		return nil, err
	case hs.life.Err() != nil:
		return nil, ErrClosed
	case !hs.adverts.fellow(to, time.Now()):
		return nil, fmt.Errorf("%w: %s", ErrStranger, to)
	}
	select {
	case hs.out <- struct{}{}:
	default:
		return nil, fmt.Errorf("%w: %d", ErrBusy, maxHandOvers)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(hs.life, cancel)()
	open, cancelOpen := context.WithTimeout(ctx, openTimeout)
	defer cancelOpen()
	s, err := hs.net.NewStream(allowRelayed(open), p, ProtocolHandOver)
	if err != nil {
		<-hs.out
		return nil, fmt.Errorf("p2p: reaching %s: %w", to, err)
	}
	return hs.newHandOver(s, to, hs.out), nil
}

// newHandOver takes over a stream, and the token that was put in place.
func (hs *handOvers) newHandOver(s network.Stream, peer task.PeerID, place chan struct{}) *HandOverStream {
	o := &HandOverStream{
		peer: peer, stream: s, pace: hs.pace, count: hs.adverts.inbound(s), sending: make(chan struct{}, 1),
	}
	o.ctx, o.cancel = context.WithCancel(hs.life)
	stop := context.AfterFunc(hs.life, func() { s.Reset() })
	o.leave = func() {
		stop()
		<-place
	}
	o.reader = bufio.NewReaderSize(pacedReader{o}, handOverChunk)
	return o
}

// receiveHandOver serves one stream of a member.
func (hs *handOvers) receiveHandOver(ctx context.Context, s network.Stream) {
	from := task.PeerID(s.Conn().RemotePeer().String())
	if !hs.adverts.fellow(from, time.Now()) {
		hs.set.Log.Debug("hand-over refused: not a member", "from", from)
		s.Reset()
		return
	}
	select {
	case hs.in <- struct{}{}:
	default:
		hs.set.Log.Debug("hand-over refused: too many at once", "from", from)
		s.Reset()
		return
	}
	o := hs.newHandOver(s, from, hs.in)
	o.first = true
	defer o.Close()
	hs.set.OnHandOver(ctx, from, o)
}
