package blocks

import (
	"bufio"
	"crypto/sha256"
	"fmt"
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

func (h *holder) exchange() error {
	s, end, err := h.f.blocks.net.AskBlocks(h.f.ctx, h.peer)
	if err != nil {
		return err
	}
	defer end()
	r, w := bufio.NewReaderSize(s, 4<<10), bufio.NewWriterSize(s, 4<<10)
	defer s.Count.Release()
	for {
		again, finished, err := h.ask(s, w)
		if err != nil || finished {
			return err
		}
		if len(h.pending) > 0 {
			err = h.receive(s, r)
		} else {
			err = h.wait(again)
		}
		if err != nil {
			return err
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
	cids := make([]cid.Cid, len(ws))
	for i, w := range ws {
		cids[i] = w.cid
	}
	_ = s.SetWriteDeadline(time.Now().Add(stallTime))
	return again, false, writeWants(w, cids)
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
		h.pending = h.pending[1:]
		h.f.missed(h, w)
		return nil
	}
	if sha256.Sum256(data) != digestOf(w.cid) {
		return fmt.Errorf("sent other bytes than those of %s", w.cid)
	}
	h.pending = h.pending[1:]
	if err := h.f.got(w, data); err != nil {
		h.f.fail(err)
		return err
	}
	return s.Pace.Received(h.f.ctx, len(data))
}
