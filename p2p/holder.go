package p2p

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// What one holder is asked for ahead of what it has sent. It has to cover the
// bandwidth times the round trip; more would only be lost with a holder that
// fails.
const (
	windowBytes = 4 << 20
	minWindow   = 4
	maxWindow   = 64
	firstWindow = 16 // before any block's size is known
)

// A holder is a peer that is asked for blocks, over one stream. Its fields
// belong to its goroutine, but for done and err, which fetch.mu guards.
type holder struct {
	f       *fetch
	peer    peer.ID
	pending []*want // asked and not answered, in order
	done    bool
	err     error
}

// run asks until the fetch has everything, the holder fails, or all is over.
func (h *holder) run() {
	err := h.exchange()
	h.f.leave(h, err)
}

func (h *holder) exchange() error {
	s, stop, err := h.f.blocks.host.openStream(h.f.ctx, h.peer, ProtocolBlocks)
	if err != nil {
		return err
	}
	defer stop()
	defer s.Reset()
	defer context.AfterFunc(h.f.blocks.host.life, func() { s.Reset() })()
	r, w := bufio.NewReaderSize(s, 4<<10), bufio.NewWriterSize(s, 4<<10)
	count := asked(s)
	defer count.release()
	for {
		again, finished, err := h.ask(s, w)
		if err != nil || finished {
			return err
		}
		if len(h.pending) > 0 {
			err = h.receive(s, r, count)
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
func (h *holder) ask(s network.Stream, w *bufio.Writer) (again <-chan struct{}, finished bool, err error) {
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
func (h *holder) receive(s network.Stream, r *bufio.Reader, count *intake) error {
	_ = s.SetReadDeadline(time.Now().Add(stallTime))
	defer count.release()
	data, have, err := readBlock(r, count)
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
	return h.f.blocks.host.rates.received(h.f.ctx, len(data))
}
