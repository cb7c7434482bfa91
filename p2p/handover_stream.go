package p2p

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"godwit/migrate/handover"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

// handOverChunk is what is written or read at a time: between two of them the
// owner's rate is kept and the deadline moves on.
const handOverChunk = 64 << 10

// A HandOverStream carries one hand-over. One goroutine may send while another
// receives; Moved, Hang and Close may be called from any.
type HandOverStream struct {
	peer    task.PeerID
	stream  network.Stream
	pace    wire.Pace
	ctx     context.Context // ends with the stream
	cancel  context.CancelFunc
	sending chan struct{} // holds a token while Send or Hang writes
	reader  *bufio.Reader
	count   *wire.Intake // of the frame that was received last; the reader's
	inside  bool         // a frame has begun; the reader's
	first   bool         // nothing has come from who opened the stream; the reader's
	out, in atomic.Int64
	once    sync.Once
	leave   func()
}

// Peer returns who is at the other end.
func (s *HandOverStream) Peer() task.PeerID { return s.peer }

// Send writes a frame and returns when the network has taken it: whoever sends
// pages waits here for the owner's rate and for the other side, up to 30 s without
// any progress. Nothing is held back for a later frame. After an error the stream
// is of no use.
func (s *HandOverStream) Send(f handover.Frame) error {
	kind, body, err := handover.Encode(f)
	if err != nil {
		return err
	}
	s.sending <- struct{}{}
	defer func() { <-s.sending }()
	if err := s.write(kind, body); err != nil {
		return s.wrap("handing over to", err)
	}
	return nil
}

// write sends a frame; the token of sending is held.
func (s *HandOverStream) write(kind handover.Kind, body []byte) error {
	head := binary.AppendUvarint([]byte{byte(kind)}, uint64(len(body)))
	// With the head in the same write a small frame is one packet.
	first := append(head, body[:min(len(body), handOverChunk-binary.MaxVarintLen64)]...)
	body = body[len(first)-len(head):]
	for chunk := first; len(chunk) > 0; {
		if s.ctx.Err() != nil {
			return ErrClosed
		}
		_ = s.stream.SetWriteDeadline(time.Now().Add(messageTimeout))
		n, err := s.stream.Write(chunk)
		s.out.Add(int64(n))
		if err != nil {
			return err
		}
		if err := s.pace.Up.WaitN(s.ctx, n); err != nil {
			return err
		}
		chunk = body[:min(len(body), handOverChunk)]
		body = body[len(chunk):]
	}
	return nil
}

// Receive waits for the next frame, however long it takes to begin; at the
// accepting side the first has 30 s. Once begun it may not stand still for 30 s. The
// frame is the caller's. It returns io.EOF when the other side has closed between
// two frames, and an error that wraps handover.ErrFrame for what is no frame.
func (s *HandOverStream) Receive() (handover.Frame, error) {
	f, err := s.receive()
	s.inside = false
	if err == nil || err == io.EOF && s.ctx.Err() == nil {
		return f, err
	}
	return nil, s.wrap("taking over from", err)
}

func (s *HandOverStream) receive() (handover.Frame, error) {
	b, err := s.reader.ReadByte()
	if err != nil {
		return nil, err
	}
	s.inside, s.first = true, false
	s.count.Release() // the caller is done with the frame before
	kind := handover.Kind(b)
	if kind.Limit() == 0 {
		return nil, fmt.Errorf("%w: of kind %d, which is not known", handover.ErrFrame, b)
	}
	body, err := wire.ReadFrame(s.reader, kind.Limit(), s.count)
	if err != nil {
		return nil, wire.NoEOF(err)
	}
	return handover.Decode(kind, body)
}

func (s *HandOverStream) wrap(doing string, err error) error {
	if s.ctx.Err() != nil {
		err = ErrClosed
	}
	return fmt.Errorf("p2p: %s %s: %w", doing, s.peer, err)
}

// A pacedReader reads from the stream at the owner's rate.
type pacedReader struct{ s *HandOverStream }

// Read implements io.Reader. What it returns is allowed by the rate already, so
// that the other side is held back by the window.
func (r pacedReader) Read(b []byte) (int, error) {
	s := r.s
	var deadline time.Time // silence between frames is normal
	if s.inside || s.first {
		deadline = time.Now().Add(messageTimeout)
	}
	if err := s.stream.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := s.stream.Read(b[:min(len(b), handOverChunk)])
	s.in.Add(int64(n))
	if wait := s.pace.Down.WaitN(s.ctx, n); wait != nil && err == nil {
		err = wait
	}
	return n, err
}

// Moved returns the bytes that have left and come on the stream so far; it grows
// while a frame is on its way, too.
func (s *HandOverStream) Moved() (out, in int64) { return s.out.Load(), s.in.Load() }

// Hang ends the stream with a last Failed, once the frame being sent is out; when
// that takes longer than handover.HangTime the stream is broken instead. An empty
// reason says nothing. It waits.
func (s *HandOverStream) Hang(reason string) {
	broken := time.AfterFunc(handover.HangTime, func() {
		s.cancel()
		s.stream.Reset()
	})
	defer broken.Stop()
	s.sending <- struct{}{}
	defer func() { <-s.sending }()
	if reason != "" {
		if kind, body, err := handover.Encode(handover.Failed{Reason: reason}); err == nil {
			_ = s.write(kind, body)
		}
	}
	_ = s.Close()
}

// Close ends the stream: a Receive that waits returns, and a Send under way is
// cut off. What Send has finished is still delivered.
func (s *HandOverStream) Close() error {
	var err error
	s.once.Do(func() {
		s.cancel()
		err = s.stream.Close()
		s.leave()
	})
	return err
}
