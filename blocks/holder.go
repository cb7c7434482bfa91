package blocks

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"time"

	"godwit/p2p/wire"

	"github.com/ipfs/go-cid"
)

// stallTime is how long a holder may take for its next block. One that
// takes longer is given up.
const stallTime = 10 * time.Second

// run asks until the fetch has everything, the holder fails, or all is over.
func (h *holder) run() {
	err := h.exchange()
	h.f.leave(h, err)
}

// mostTries is on how many streams a holder is asked until it is given up: one that was kept, as its network does with
// few, may have ended meanwhile.
const mostTries = 4

func (h *holder) exchange() error {
	for try := 1; ; try++ {
		stale, err := h.converse()
		if err == nil || !stale || try == mostTries || h.f.ctx.Err() != nil {
			return err
		}
	}
}

// converse asks on one stream. It reports whether that was one which was kept and answers no more. The end of the
// fetch breaks it off only while an answer is owed: else the stream is kept.
func (h *holder) converse() (stale bool, err error) {
	ctx, cancel := context.WithCancel(h.f.caller)
	defer cancel()
	h.atRest.Store(false)
	defer context.AfterFunc(h.f.ctx, func() {
		if !h.atRest.Load() {
			cancel()
		}
	})()
	s, end, err := h.f.blocks.net.AskBlocks(ctx, h.peer)
	if err != nil {
		return false, err
	}
	defer end()
	r, w := bufio.NewReaderSize(s, 4<<10), bufio.NewWriterSize(s, 4<<10)
	defer s.Count.Release()
	heard, err := h.questions(s, r, w)
	s.Settled = h.atRest.Load() && len(h.pending) == 0 && r.Buffered() == 0
	var slow net.Error // who is silent on one stream would be so on the next
	return err != nil && s.Kept && !heard && !(errors.As(err, &slow) && slow.Timeout()), err
}

// questions asks until there is nothing to ask any more, and reports whether anything was answered. Without an error,
// or where atRest is set, all was.
func (h *holder) questions(s *wire.Stream, r *bufio.Reader, w *bufio.Writer) (heard bool, err error) {
	if len(h.pending) > 0 { // on the stream before
		if err := h.send(s, w, h.pending); err != nil {
			return false, err
		}
	}
	for {
		h.atRest.Store(false) // before the look at ctx: whoever ends it looks after that
		if err := h.f.ctx.Err(); err != nil {
			h.atRest.Store(len(h.pending) == 0)
			return heard, err
		}
		again, finished, err := h.ask(s, w)
		if err != nil {
			return heard, err
		}
		h.atRest.Store(len(h.pending) == 0)
		switch {
		case finished:
			return heard, nil
		case len(h.pending) == 0:
			err = h.wait(again)
		default:
			err = h.receive(s, r)
			heard = heard || err == nil || h.atRest.Load()
		}
		if err != nil {
			return heard, err
		}
	}
}

// ask fills the window once it is half empty, so that questions travel in
// groups.
func (h *holder) ask(s *wire.Stream, w *bufio.Writer) (again <-chan struct{}, finished bool, err error) {
	window := h.f.window()
	if len(h.pending) > window/2 {
		return nil, false, nil
	}
	ws, again, finished := h.f.take(h, window-len(h.pending), time.Now())
	if len(ws) == 0 {
		return again, finished, nil
	}
	h.pending = append(h.pending, ws...)
	return again, false, h.send(s, w, ws)
}

// send writes what is wanted.
func (h *holder) send(s *wire.Stream, w *bufio.Writer, ws []*want) error {
	cids := make([]cid.Cid, len(ws))
	for i, w := range ws {
		cids[i] = w.cid
	}
	_ = s.SetWriteDeadline(time.Now().Add(stallTime))
	return writeWants(w, cids)
}

// wait sleeps until there may be something to ask or to steal.
func (h *holder) wait(again <-chan struct{}) error {
	steal := time.NewTimer(stealTime)
	defer steal.Stop()
	select {
	case <-again:
	case <-steal.C:
	case <-h.f.ctx.Done():
		return h.f.ctx.Err()
	}
	return nil
}

// receive takes the answer to the oldest question.
func (h *holder) receive(s *wire.Stream, r *bufio.Reader) error {
	_ = s.SetReadDeadline(time.Now().Add(stallTime))
	defer s.Count.Release()
	data, have, err := readBlock(r, h.f.spare(), s.Count)
	if err != nil {
		return fmt.Errorf("after %d questions unanswered: %w", len(h.pending), err)
	}
	w := h.pending[0]
	if !have {
		h.answered()
		h.f.missed(h, w)
		return nil
	}
	if sha256.Sum256(data) != digestOf(w.cid) {
		return fmt.Errorf("sent other bytes than those of %s", w.cid)
	}
	h.answered()
	if err := h.f.got(w, data); err != nil {
		h.f.fail(err)
		return err
	}
	return s.Pace.Received(h.f.ctx, len(data))
}

// answered takes the oldest question off. It is called before what the answer comes to, which may end the fetch.
func (h *holder) answered() {
	h.pending = h.pending[1:]
	h.atRest.Store(len(h.pending) == 0)
}
