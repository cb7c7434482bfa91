package p2p

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

const (
	// DefaultRequestTime is a request's deadline when its context has none.
	DefaultRequestTime = 30 * time.Second
	// MaxRequestTime bounds how long a peer may keep the handler busy.
	MaxRequestTime = 5 * time.Minute
)

// Status bytes of an answer.
const (
	answerOK  = 0
	answerErr = 1
)

// A RemoteError is what the other side's handler returned.
type RemoteError struct {
	Peer   task.PeerID
	Method string
	Text   string // at most 1 KiB, printable
}

func (e *RemoteError) Error() string {
	return fmt.Sprintf("p2p: %s refused %s: %s", e.Peer, e.Method, e.Text)
}

// A question is a request as it travels.
type question struct {
	method string
	time   time.Duration // what the asker still waits
	body   []byte
}

// requests asks peers, and answers them.
type requests struct {
	*endpoint
	adverts *adverts
}

// Request asks a peer and waits for its answer, until ctx ends or, when ctx has
// no deadline, for DefaultRequestTime. A peer that is not connected is dialled.
// What the other side's handler refused is a *RemoteError.
func (rs *requests) Request(ctx context.Context, to task.PeerID, method string, body []byte) ([]byte, error) {
	if len(body) > MaxRequest || method == "" || len(method) > MaxMethod {
		return nil, fmt.Errorf("%w: request %q of %d bytes, at most %d", wire.ErrTooLarge, method, len(body), MaxRequest)
	}
	p, err := rs.otherPeer(to)
	if err != nil {
		return nil, err
	}
	if rs.life.Err() != nil {
		return nil, ErrClosed
	}
	limit := MaxRequestTime
	if _, ok := ctx.Deadline(); !ok {
		limit = DefaultRequestTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	deadline, _ := ctx.Deadline()
	defer context.AfterFunc(rs.life, cancel)()
	s, stop, err := rs.openStream(ctx, p, rs.protocolsOf(method, body)...)
	if err != nil {
		return nil, err
	}
	defer stop()
	defer s.Reset()
	_ = s.SetDeadline(deadline.Add(time.Second)) // ctx comes first and says why
	answer, err := ask(s, question{method: method, time: time.Until(deadline), body: body}, to)
	if remote := (*RemoteError)(nil); err != nil && !errors.As(err, &remote) {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("p2p: asking %s for %s: %w", to, method, err)
	}
	return answer, err
}

func ask(s network.Stream, q question, to task.PeerID) ([]byte, error) {
	w := bufio.NewWriterSize(s, writeBuffer)
	if err := writeQuestion(w, q); err != nil {
		return nil, err
	}
	// The stream stays open: its end tells the other side that we gave up.
	return readAnswer(bufio.NewReader(s), q.method, to, asked(s))
}

// readAnswer reads what writeAnswer writes; a refusal is a *RemoteError.
func readAnswer(r *bufio.Reader, method string, from task.PeerID, count *wire.Intake) ([]byte, error) {
	status, err := r.ReadByte()
	if err != nil {
		return nil, wire.NoEOF(err)
	}
	if status == answerOK {
		b, err := wire.ReadFrame(r, MaxRequest, count)
		return b, wire.NoEOF(err)
	}
	text, err := wire.ReadFrame(r, maxErrText, count)
	if err != nil {
		return nil, wire.NoEOF(err)
	}
	return nil, &RemoteError{Peer: from, Method: method, Text: task.Printable(string(text), maxErrText)}
}

func writeQuestion(w *bufio.Writer, q question) error {
	if err := wire.WriteFrame(w, []byte(q.method)); err != nil {
		return err
	}
	ms := uint64(max(q.time.Milliseconds(), 1))
	if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), ms)); err != nil {
		return err
	}
	if err := wire.WriteFrame(w, q.body); err != nil {
		return err
	}
	return w.Flush()
}

func readQuestion(r *bufio.Reader, most int, count *wire.Intake) (question, error) {
	method, err := wire.ReadFrame(r, MaxMethod, count)
	if err != nil {
		return question{}, err
	}
	ms, err := binary.ReadUvarint(r)
	if err != nil {
		return question{}, wire.NoEOF(err)
	}
	body, err := wire.ReadFrame(r, most, count)
	if err != nil {
		return question{}, wire.NoEOF(err)
	}
	limit := min(ms, uint64(MaxRequestTime/time.Millisecond))
	return question{method: string(method), time: time.Duration(limit) * time.Millisecond, body: body}, nil
}

// answer serves one request stream. A request that does not end in time, or does not
// fit into what its peer may have us hold, is cut off.
func (rs *requests) answer(ctx context.Context, s network.Stream) {
	_ = s.SetDeadline(time.Now().Add(messageTimeout))
	if !rs.admit(ctx, s) {
		return
	}
	r := bufio.NewReader(s)
	count := rs.adverts.paid(ctx, s)
	defer count.Release()
	q, err := readQuestion(r, MaxRequest, count)
	if err != nil {
		rs.adverts.overspent(s.Conn().RemotePeer(), err)
		s.Reset()
		return
	}
	rs.reply(ctx, s, r, q, count)
}

// reply answers a question that was read.
func (rs *requests) reply(ctx context.Context, s network.Stream, r *bufio.Reader, q question, count *wire.Intake) {
	until := time.Now().Add(q.time)
	_ = s.SetDeadline(until.Add(messageTimeout))
	body, err := rs.consult(ctx, s, r, q)
	count.Release()
	if full := rs.holdAnswer(ctx, s, len(body), until, count); full != nil {
		body, err = nil, full
	}
	_ = s.SetWriteDeadline(time.Now().Add(messageTimeout))
	if err := writeAnswer(s, body, err); err != nil {
		s.Reset()
		return
	}
	s.Close()
}

// holdAnswer makes room for an answer of so many bytes, which its asker pays for: it is refused where that
// takes longer than the asker waits. Where nothing is counted it costs nothing.
func (rs *requests) holdAnswer(ctx context.Context, s network.Stream, size int, until time.Time,
	count *wire.Intake) error {
	if count == nil {
		return nil
	}
	from := task.PeerID(s.Conn().RemotePeer().String())
	if err := rs.costs.Afford(ctx, from, cost.Answers, size, time.Until(until)); err != nil {
		return err
	}
	return count.Hold(size)
}

// consult calls the handler, with a context that ends when the asker gives up,
// which it does by ending the stream before the answer.
func (rs *requests) consult(ctx context.Context, s network.Stream, r *bufio.Reader, q question) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, q.time)
	defer cancel()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = r.ReadByte()
		cancel()
	}()
	body, err := rs.set.Handler.Request(ctx, task.PeerID(s.Conn().RemotePeer().String()), q.method, q.body)
	s.CloseRead()
	<-gone
	if len(body) > MaxRequest {
		return nil, fmt.Errorf("%w: answer of %d bytes, at most %d", wire.ErrTooLarge, len(body), MaxRequest)
	}
	return body, err
}

func writeAnswer(to io.Writer, body []byte, refusal error) error {
	w := bufio.NewWriterSize(to, writeBuffer)
	status := byte(answerOK)
	if refusal != nil {
		status, body = answerErr, []byte(task.Printable(refusal.Error(), maxErrText))
	}
	if err := w.WriteByte(status); err != nil {
		return err
	}
	if err := wire.WriteFrame(w, body); err != nil {
		return err
	}
	return w.Flush()
}
