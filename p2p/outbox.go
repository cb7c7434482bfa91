package p2p

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// What may wait for one peer. A peer that takes 30 s to read less than this is
// of no use as a worker.
const (
	maxQueuedFrames = 4096
	maxQueuedBytes  = 16 << 20
	writeBuffer     = 64 << 10
)

// ErrOutboxFull is returned by Send when too much waits for the peer.
var ErrOutboxFull = errors.New("p2p: outbox is full")

// ErrBadPeer is returned for a text that is not a peer ID, and for this node's
// own.
var ErrBadPeer = errors.New("p2p: not the ID of another node")

func protocolID(s string) protocol.ID { return protocol.ID(s) }

// An outbox holds the frames for one peer and writes them, in order, to one
// stream. It lives from the first Send until it fails or the peer is gone; what
// it then holds is dropped, and the handler told.
type outbox struct {
	peer peer.ID
	end  context.CancelFunc

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	closed bool
	wake   chan struct{} // holds one token when the queue is not empty
	move   chan struct{} // holds one token when there may be a better connection
}

// Send queues a frame for a peer and returns at once; a peer that is not
// connected is dialled. The frame is Send's to keep.
//
// It returns wire.ErrTooLarge, ErrOutboxFull, ErrBadPeer or ErrClosed. When a frame
// that was taken cannot be delivered, Handler.Disconnected tells.
func (h *Host) Send(to task.PeerID, frame []byte) error {
	if len(frame) > MaxFrame {
		return fmt.Errorf("%w: frame of %d bytes, at most %d", wire.ErrTooLarge, len(frame), MaxFrame)
	}
	p, err := h.otherPeer(to)
	if err != nil {
		return err
	}
	for {
		o := h.outboxOf(p)
		if o == nil {
			return ErrClosed
		}
		if taken, err := o.add(frame); taken || err != nil {
			return err
		}
	}
}

// Other returns a peer's ID as everybody writes it, or ErrBadPeer.
func (h *Host) Other(p task.PeerID) (task.PeerID, error) {
	id, err := h.otherPeer(p)
	return task.PeerID(id.String()), err
}

func (h *Host) otherPeer(text task.PeerID) (peer.ID, error) {
	p, err := peer.Decode(string(text))
	if err != nil || p == h.net.ID() {
		return "", fmt.Errorf("%w: %q", ErrBadPeer, text)
	}
	return p, nil
}

// outboxOf returns the peer's outbox, or nil when the host has closed.
func (h *Host) outboxOf(p peer.ID) *outbox {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	o := h.outs[p]
	if o == nil {
		ctx, cancel := context.WithCancel(h.life)
		o = &outbox{peer: p, end: cancel, wake: make(chan struct{}, 1), move: make(chan struct{}, 1)}
		h.outs[p] = o
		h.wg.Go(func() { h.runOutbox(ctx, o) })
	}
	return o
}

// dropOutbox ends the outbox of a peer, if there is one.
func (h *Host) dropOutbox(p peer.ID) {
	h.mu.Lock()
	o := h.outs[p]
	h.mu.Unlock()
	if o != nil {
		o.end()
	}
}

// add takes a frame. It reports false when the outbox has closed.
func (o *outbox) add(frame []byte) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false, nil
	}
	if len(o.queue) >= maxQueuedFrames || o.bytes+len(frame) > maxQueuedBytes {
		return false, fmt.Errorf("%w: %d frames, %d bytes wait for %s", ErrOutboxFull, len(o.queue), o.bytes, o.peer)
	}
	o.queue = append(o.queue, frame)
	o.bytes += len(frame)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return true, nil
}

// take empties the queue.
func (o *outbox) take() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := o.queue
	o.queue, o.bytes = nil, 0
	return q
}

// runOutbox writes until something fails. Then it also closes the peer's
// connections: both sides see that frames were lost, and start afresh.
func (h *Host) runOutbox(ctx context.Context, o *outbox) {
	err := h.writeFrames(ctx, o)
	o.mu.Lock()
	o.closed, o.queue = true, nil
	o.mu.Unlock()
	o.end()

	h.mu.Lock()
	delete(h.outs, o.peer)
	closing := h.closed
	h.mu.Unlock()
	if closing {
		return
	}
	h.set.Log.Debug("outbox dropped", "to", o.peer, "error", err)
	_ = h.net.Network().ClosePeer(o.peer)
	h.links.lose(o.peer)
}

// moveOutbox has the frames to a peer go over another connection than a circuit, if
// there is one.
func (h *Host) moveOutbox(p peer.ID) {
	h.mu.Lock()
	o := h.outs[p]
	h.mu.Unlock()
	if o == nil {
		return
	}
	select {
	case o.move <- struct{}{}:
	default:
	}
}

// writeFrames writes to one stream after the other: another is needed only where a
// direct connection takes the place of a circuit.
func (h *Host) writeFrames(ctx context.Context, o *outbox) error {
	for {
		if err := h.writeStream(ctx, o); err != nil {
			return err
		}
	}
}

// drain ends a stream whose frames are all to be read before the next stream's
// first: the reader closes it when it has come to its end.
func drain(s network.Stream) error {
	if err := s.CloseWrite(); err != nil {
		return err
	}
	_ = s.SetReadDeadline(time.Now().Add(messageTimeout))
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("p2p: leaving a relay: the reader did not come to the end: %w", err)
	}
	return nil
}

// writeStream returns nil when all that was written has been read, and more is to
// go over a better connection.
func (h *Host) writeStream(ctx context.Context, o *outbox) error {
	s, stop, err := h.openStream(ctx, o.peer, ProtocolFrame)
	if err != nil {
		return err
	}
	defer stop()
	defer s.Reset()
	w := bufio.NewWriterSize(s, writeBuffer)
	for {
		for _, frame := range o.take() {
			if err := writeOne(s, w, frame); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		select {
		case <-o.wake:
		case <-o.move:
			if isRelayed(s.Conn()) && h.direct(o.peer) {
				return drain(s)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeOne moves the deadline on with every frame, so that it bounds how long
// a peer may refuse to read, not how much is sent.
func writeOne(s network.Stream, w *bufio.Writer, frame []byte) error {
	if err := s.SetWriteDeadline(time.Now().Add(messageTimeout)); err != nil {
		return err
	}
	return wire.WriteFrame(w, frame)
}
