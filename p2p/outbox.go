package p2p

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// What may wait for one peer. A peer that takes 30 s to read less than this is
// of no use as a worker.
const (
	maxQueuedFrames = 4096
	maxQueuedBytes  = 16 << 20
	writeBuffer     = 64 << 10

	// othersQueuedBytes is maxQueuedBytes of a peer that the node does not work with: two
	// frames of outputs for a submitter. All of those together have othersTogether, beyond which each may
	// still have leastQueued: some that read slowly do not keep the rest from being told anything.
	othersQueuedBytes = 2 * MaxFrame
	othersTogether    = 48 << 20
	leastQueued       = 128 << 10

	// readWithin is how long a frame that was written may be on its way to the handler of a peer that keeps
	// up. A connection that ends earlier may have taken the frame with it. It is less than trimGrace, so
	// that who connects for one frame alone is not told of as lost when the connection is one too many.
	readWithin = 5 * time.Second
)

// An outbox holds the frames for one peer and writes them, in order, to one
// stream. It lives from the first Send until it fails or the peer is gone; what
// it then holds is dropped, and the handler told.
type outbox struct {
	peer peer.ID
	end  context.CancelFunc

	mu     sync.Mutex
	queue  [][]byte
	bytes  int // of those that wait, and of those that are being written
	others int // of bytes, those that count as others'
	closed bool
	wrote  time.Time                 // when the last frame was; the zero time before that
	memory network.ResourceScopeSpan // of the peer; has bytes reserved
	wake   chan struct{}             // holds one token when the queue is not empty
	move   chan struct{}             // holds one token when there may be a better connection
}

// outboxes are those of all peers.
type outboxes struct {
	*endpoint
	lost      func(peer.ID) // told that frames to a peer were dropped
	introduce func(ctx context.Context, p peer.ID)

	others atomic.Int64 // bytes that wait for peers that the node does not work with

	mu    sync.Mutex
	peers map[peer.ID]*outbox
}

func newOutboxes(ep *endpoint, lost func(peer.ID), introduce func(context.Context, peer.ID)) *outboxes {
	return &outboxes{endpoint: ep, lost: lost, introduce: introduce, peers: map[peer.ID]*outbox{}}
}

// Send queues a frame for a peer and returns at once; a peer that is not
// connected is dialled. The frame is Send's to keep.
//
// It returns wire.ErrTooLarge, ErrOutboxFull, ErrBadPeer or ErrClosed. When a frame
// that was taken cannot be delivered, Handler.Disconnected tells.
func (ob *outboxes) Send(to task.PeerID, frame []byte) error {
	if len(frame) > MaxFrame {
		return fmt.Errorf("%w: frame of %d bytes, at most %d", wire.ErrTooLarge, len(frame), MaxFrame)
	}
	if frame == nil {
		frame = []byte{}
	}
	return ob.send(to, frame)
}

// send queues a frame, or a greeting, which is nil.
func (ob *outboxes) send(to task.PeerID, frame []byte) error {
	p, err := ob.otherPeer(to)
	if err != nil {
		return err
	}
	for {
		o := ob.outboxOf(p)
		if o == nil {
			return ErrClosed
		}
		if taken, err := ob.add(o, frame, ob.costs.Class(to)); taken || err != nil {
			return err
		}
	}
}

// Greet has a peer hear the adverts of this node before any frame that is sent to it from now on. One
// that is not connected is dialled.
func (ob *outboxes) Greet(to task.PeerID) error { return ob.send(to, nil) }

// outboxOf returns the peer's outbox, or nil when the host has closed.
func (ob *outboxes) outboxOf(p peer.ID) *outbox {
	ob.mu.Lock()
	defer ob.mu.Unlock()
	if ob.stopped() {
		return nil
	}
	o := ob.peers[p]
	if o == nil {
		ctx, cancel := context.WithCancel(ob.life)
		o = &outbox{peer: p, end: cancel, wake: make(chan struct{}, 1), move: make(chan struct{}, 1)}
		if err := ob.net.Network().ResourceManager().ViewPeer(p, func(of network.PeerScope) (err error) {
			o.memory, err = of.BeginSpan()
			return err
		}); err != nil {
			cancel()
			return nil // which it does for one that has closed
		}
		if !ob.spawn(func(context.Context) { ob.runOutbox(ctx, o) }) {
			cancel()
			o.memory.Done()
			return nil
		}
		ob.peers[p] = o
	}
	return o
}

// dropOutbox ends the outbox of a peer, if there is one.
func (ob *outboxes) dropOutbox(p peer.ID) {
	ob.mu.Lock()
	o := ob.peers[p]
	ob.mu.Unlock()
	if o != nil {
		o.end()
	}
}

// add takes a frame. It reports false when the outbox has closed.
func (ob *outboxes) add(o *outbox, frame []byte, to cost.Class) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false, nil
	}
	if err := ob.reserve(o, len(frame), to); err != nil {
		return false, err
	}
	o.queue = append(o.queue, frame)
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return true, nil
}

// reserve counts n bytes more that wait for a peer, with what all of its streams hold; o.mu is
// held.
func (ob *outboxes) reserve(o *outbox, n int, to cost.Class) error {
	most, priority := maxQueuedBytes, network.ReservationPriorityHigh
	works := to >= cost.Worker
	if !works {
		most, priority = othersQueuedBytes, network.ReservationPriorityLow
	}
	full := len(o.queue) >= maxQueuedFrames || o.bytes+n > most ||
		!works && o.bytes+n > leastQueued && ob.others.Load()+int64(n) > othersTogether
	if full || n > 0 && o.memory.ReserveMemory(n, priority) != nil {
		return fmt.Errorf("%w: %d frames, %d bytes wait for %s", ErrOutboxFull, len(o.queue), o.bytes, o.peer)
	}
	o.bytes += n
	if !works {
		o.others += n
		ob.others.Add(int64(n))
	}
	return nil
}

// release gives back what reserve counted; o.mu is held.
func (ob *outboxes) release(o *outbox, n int) {
	o.memory.ReleaseMemory(n)
	o.bytes -= n
	others := o.others - min(o.others, o.bytes) // those left count as others' before the rest
	o.others -= others
	ob.others.Add(int64(-others))
}

// take empties the queue. What was in it is released when it has been written.
func (o *outbox) take() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := o.queue
	o.queue = nil
	return q
}

// written releases a frame.
func (ob *outboxes) written(o *outbox, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wrote = time.Now()
	ob.release(o, n)
}

// runOutbox writes until something fails. Then it also closes the peer's
// connections: both sides see that frames were lost, and start afresh. Where the connection
// ended with nothing left to write, only what was written just before may be lost.
func (ob *outboxes) runOutbox(ctx context.Context, o *outbox) {
	err := ob.writeFrames(ctx, o)
	o.mu.Lock()
	written := errors.Is(err, context.Canceled) && o.bytes == 0 // all, when the peer was gone
	read := written && time.Since(o.wrote) > readWithin
	o.closed, o.queue = true, nil
	ob.release(o, o.bytes)
	o.memory.Done()
	o.mu.Unlock()
	o.end()

	ob.mu.Lock()
	delete(ob.peers, o.peer)
	ob.mu.Unlock()
	if read || ob.stopped() {
		return
	}
	if !written {
		ob.set.Log.Debug("outbox dropped", "to", o.peer, "error", err)
		_ = ob.net.Network().ClosePeer(o.peer)
	}
	ob.lost(o.peer)
}

// moveOutbox has the frames to a peer go over another connection than a circuit, if
// there is one.
func (ob *outboxes) moveOutbox(p peer.ID) {
	ob.mu.Lock()
	o := ob.peers[p]
	ob.mu.Unlock()
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
func (ob *outboxes) writeFrames(ctx context.Context, o *outbox) error {
	for {
		if err := ob.writeStream(ctx, o); err != nil {
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
func (ob *outboxes) writeStream(ctx context.Context, o *outbox) error {
	s, stop, err := ob.openStream(ctx, o.peer, ProtocolFrame)
	if err != nil {
		return err
	}
	defer stop()
	defer s.Reset()
	w := bufio.NewWriterSize(s, writeBuffer)
	for {
		for _, frame := range o.take() {
			if frame == nil { // whoever reads on is to know first who this is
				ob.introduce(ctx, o.peer)
				continue
			}
			if err := writeOne(s, w, frame); err != nil {
				return err
			}
			ob.written(o, len(frame))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		select {
		case <-o.wake:
		case <-o.move:
			if isRelayed(s.Conn()) && ob.direct(o.peer) {
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
