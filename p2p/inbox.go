package p2p

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

// An inbox lets one frame stream of a peer be read at a time: the newest.
type inbox struct {
	mu      sync.Mutex
	newest  network.Stream
	reading sync.Mutex
}

// enter ends the stream before s and waits until its reader has left. It
// reports false when a still newer stream has come meanwhile. leave follows
// either way.
func (in *inbox) enter(s network.Stream) bool {
	in.mu.Lock()
	if in.newest != nil {
		in.newest.Reset()
	}
	in.newest = s
	in.mu.Unlock()
	in.reading.Lock()
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.newest == s
}

func (in *inbox) leave(s network.Stream) {
	in.mu.Lock()
	if in.newest == s {
		in.newest = nil
	}
	in.mu.Unlock()
	in.reading.Unlock()
}

// receiveFrames gives the frames of one stream to the handler. A stream that
// breaks our rules costs the peer its connections.
func (h *Host) receiveFrames(ctx context.Context, s network.Stream) {
	defer s.Reset()
	p := s.Conn().RemotePeer()
	l, gen := h.links.await(ctx, s.Conn())
	if l == nil {
		return
	}
	defer h.links.release(p, l)
	defer l.inbox.leave(s)
	if !l.inbox.enter(s) {
		return
	}
	err := h.readFrames(s, l, gen)
	switch {
	case errors.Is(err, errMoved):
		s.Close()
	case err != nil && ctx.Err() == nil:
		h.set.Log.Debug("frames ended", "from", p, "error", err)
		_ = s.Conn().Close()
	}
}

// errMoved ends a stream through a relay whose sender has found a direct way.
var errMoved = errors.New("p2p: goes on over a direct connection")

// readFrames waits without a deadline for a frame to begin: silence is normal.
func (h *Host) readFrames(s network.Stream, l *link, gen uint64) error {
	from := task.PeerID(s.Conn().RemotePeer().String())
	r := bufio.NewReaderSize(s, 16<<10)
	count := h.inbound(s)
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
		if err := s.SetReadDeadline(time.Now().Add(messageTimeout)); err != nil {
			return err
		}
		frame, err := wire.ReadFrame(r, MaxFrame, count)
		if err != nil {
			return wire.NoEOF(err)
		}
		l.deliver.Lock()
		current := h.links.current(l, gen)
		if current {
			h.set.Handler.Frame(from, frame)
		}
		l.deliver.Unlock()
		count.Release()
		if !current {
			return nil
		}
	}
}
