package blocks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"godwit/task"

	"github.com/ipfs/go-cid"
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

// stealTime is how old a question must be before a holder with nothing to
// do asks it too. Below it most duplicates would arrive twice.
const stealTime = 250 * time.Millisecond

// A fetch is one call of Fetch. Its holders, a goroutine each, take wants from
// it and send blocks to its writer.
type fetch struct {
	caller  context.Context // of Fetch
	ctx     context.Context // ends when there is nothing more to do
	cancel  context.CancelFunc
	blocks  *Store
	arrived chan block  // checked, to be stored; closed when all holders have left
	spares  chan []byte // memory of blocks that were stored

	mu      sync.Mutex
	measure *measure          // of what was met in the DAG
	part    *part             // that it is of; nil for all
	wants   map[cid.Cid]*want // not arrived, or their children not yet added
	queue   []*want           // those of wants that no holder is asked for, oldest first
	blocksN int64             // blocks that arrived, and their bytes, for the window
	blocksB int64
	holders []*holder
	working int           // holders that have not given up
	err     error         // the first that ends the whole fetch
	changed chan struct{} // closed and replaced when there is something new to do
}

// A want is a block that is missing.
type want struct {
	cid   cid.Cid
	asked []*holder // those that were asked and have not answered
	since time.Time // when the first of them was
	lacks []*holder // those that do not have it
	here  bool      // it has arrived
}

// describe says why blocks are missing; f.mu is held.
func (f *fetch) describe() error {
	reason := fmt.Errorf("%w: %d blocks missing", ErrNotFound, len(f.wants))
	if err := f.caller.Err(); err != nil {
		reason = fmt.Errorf("%w: %d blocks missing", err, len(f.wants))
	}
	var said []string
	for _, h := range f.holders {
		text := "has not all of it"
		if h.err != nil {
			text = h.err.Error()
		}
		said = append(said, string(h.peer)+": "+text)
	}
	if len(said) == 0 {
		said = []string{"no holder could be asked"}
	}
	return fmt.Errorf("%w; %s", reason, strings.Join(said, "; "))
}

// lacking reports whether some block is known to be nowhere.
func (f *fetch) lacking() bool {
	for _, w := range f.wants {
		if !w.here && !f.obtainable(w) {
			return true
		}
	}
	return false
}

// obtainable reports whether a holder is left that may have the block.
func (f *fetch) obtainable(w *want) bool {
	for _, h := range f.holders {
		if !h.done && !slices.Contains(w.lacks, h) {
			return true
		}
	}
	return false
}

// expand adds blocks of the DAG to what is wanted; those that are here are
// counted, and their children added in turn.
func (f *fetch) expand(cids []cid.Cid) error {
	for len(cids) > 0 {
		c := cids[len(cids)-1]
		cids = cids[:len(cids)-1]
		size, have, err := f.blocks.use(f.ctx, digestOf(c))
		if err != nil {
			return err
		}
		if !have {
			f.mu.Lock()
			w := &want{cid: c}
			f.wants[c] = w
			f.queue = append(f.queue, w)
			f.announce()
			f.mu.Unlock()
			continue
		}
		s, err := f.blocks.shape(f.ctx, c, size)
		if err != nil {
			return err
		}
		fresh, err := f.meet(c, int(size), s)
		if err != nil {
			return err
		}
		cids = append(cids, fresh...)
	}
	return nil
}

// meet takes a block into the measure and returns the children met for the first time,
// the first of them last: expand takes them from the end.
func (f *fetch) meet(c cid.Cid, bytes int, s shape) ([]cid.Cid, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh, err := f.measure.meet(c, bytes, s)
	fresh = f.part.narrow(c, s, fresh)
	slices.Reverse(fresh)
	return fresh, err
}

// announce wakes the holders that wait; f.mu is held.
func (f *fetch) announce() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// fail ends the whole fetch.
func (f *fetch) fail(err error) {
	f.mu.Lock()
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
	f.cancel()
}

// take gives a holder up to n wants that no one is asked for, or, when there are
// none, one that another holder has been asked for too long ago. Without either
// it returns a channel that tells when to look again; finished is true when
// nothing is left to fetch.
func (f *fetch) take(h *holder, n int, now time.Time) (ws []*want, again <-chan struct{}, finished bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wants) == 0 {
		return nil, nil, true
	}
	rest := f.queue[:0]
	for _, w := range f.queue {
		if len(ws) < n && !slices.Contains(w.lacks, h) {
			w.asked, w.since = append(w.asked, h), now
			ws = append(ws, w)
		} else {
			rest = append(rest, w)
		}
	}
	clear(f.queue[len(rest):])
	f.queue = rest
	if len(ws) == 0 && len(h.pending) == 0 {
		ws = f.steal(h, n, now)
	}
	return ws, f.changed, false
}

// steal returns up to n wants that another was asked for long ago, the oldest
// first; f.mu is held.
func (f *fetch) steal(h *holder, n int, now time.Time) []*want {
	var old []*want
	for _, w := range f.wants {
		if len(w.asked) == 1 && !w.here && now.Sub(w.since) >= stealTime && !slices.Contains(w.lacks, h) {
			old = append(old, w)
		}
	}
	slices.SortFunc(old, func(a, b *want) int { return a.since.Compare(b.since) })
	old = old[:min(n, len(old))]
	for _, w := range old {
		w.asked = append(w.asked, h)
	}
	return old
}

// window is how many blocks a holder may be asked for ahead: windowBytes, by the
// mean size of those that came.
func (f *fetch) window() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blocksN == 0 {
		return firstWindow
	}
	return int(min(max(windowBytes/max(f.blocksB/f.blocksN, 1), minWindow), maxWindow))
}

// got takes a block that a holder sent, checked. Another may have sent it
// before. The want stays until its children are wanted, so that no holder takes
// the fetch for finished between the two.
func (f *fetch) got(w *want, data []byte) error {
	f.mu.Lock()
	before := w.here
	w.here = true
	f.blocksN++
	f.blocksB += int64(len(data))
	f.mu.Unlock()
	if before {
		return nil
	}
	s, err := shapeOf(w.cid, data)
	if err != nil {
		return err
	}
	fresh, err := f.meet(w.cid, len(data), s)
	if err != nil {
		return err
	}
	f.arrived <- block{w.cid, data}
	if err := f.expand(fresh); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.wants, w.cid)
	if len(f.wants) == 0 {
		f.cancel() // those that still wait for a duplicate need not
	}
	return nil
}

// missed takes the answer that a holder does not have a block.
func (f *fetch) missed(h *holder, w *want) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.lacks = append(w.lacks, h)
	f.giveBack(h, w)
}

// giveBack puts a want in the queue again when nobody else is asked for it, and
// ends the fetch when nobody can be; f.mu is held.
func (f *fetch) giveBack(h *holder, w *want) {
	w.asked = slices.DeleteFunc(w.asked, func(a *holder) bool { return a == h })
	if w.here {
		return
	}
	if !f.obtainable(w) {
		f.cancel()
	}
	if len(w.asked) == 0 {
		f.queue = append(f.queue, w)
		f.announce()
	}
}

// leave takes a holder that has failed, or has nothing more to do, out.
func (f *fetch) leave(h *holder, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h.done, h.err = true, err
	f.working--
	for _, w := range h.pending {
		f.giveBack(h, w)
	}
	if f.working == 0 || f.lacking() {
		f.cancel()
	}
	f.announce()
}

// A holder is a peer that is asked for blocks, over one stream. Its fields
// belong to its goroutine, but for done and err, which fetch.mu guards.
type holder struct {
	f       *fetch
	peer    task.PeerID
	pending []*want     // asked and not answered, in order
	atRest  atomic.Bool // nothing is asked on its stream; any goroutine reads it
	done    bool
	err     error
}
