package freeze

import (
	"fmt"
	"hash/maphash"
)

// Ahead does what it can of the next checkpoint while the guest runs: it hashes and stores pages that may have changed
// since the checkpoint before, or since the last call, so that less is left for Take, for which the guest stands still.
//
// It is right because what it has read of a page is used only where nothing has written to the page since: Unchanged
// is asked first and read only copies after that, so that whatever is written from then on is told by the next call of
// Unchanged, that of Take if no other. Where nothing tells, Take compares the page itself with the sum of the
// copy. So a
// copy may be torn, its two halves from different times: then the page has been written to, and is taken again.
//
// memory is the guest's, for Unchanged alone; read copies page n as it is now. more is asked before each page
// whether to go
// on, and told how many may have changed that are left; those are left for Take if it does not want more. Ahead
// gives how
// many pages it took that were other than before. Between two pages the guest may come to a boundary: see Hash.
func (r *Recorder) Ahead(memory []byte, read func(n int, page []byte), store func(h Hash, page []byte) error,
	more func(left int) bool) (taken int, err error) {
	pages := len(memory) / pageSize
	told, left := r.beginAhead(memory, pages)
	page := make([]byte, pageSize)
	for n := range pages {
		if n < told && r.done(n) {
			continue
		}
		if !more(left) {
			break
		}
		left--
		took, err := r.takeAhead(n, page, read, store)
		if err != nil {
			return taken, fmt.Errorf("record checkpoint: %w", err)
		}
		if took {
			taken++
		}
	}
	return taken, nil
}

// beginAhead asks what was written. It gives of how many pages that was told, and how many are to be looked at.
func (r *Recorder) beginAhead(memory []byte, pages int) (told, left int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.init(pages)
	var same []bool
	if r.Unchanged != nil {
		same = r.Unchanged(memory)
	}
	left = pages
	for n := range same {
		p := &r.seen[n]
		p.known = p.known && same[n] // nobody tells again that the page was written
		if p.known && !p.owed {
			left--
		}
	}
	return len(same), left
}

// done reports whether a page is known, and stored.
func (r *Recorder) done(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[n].known && !r.seen[n].owed
}

// takeAhead settles page n, unless it is what it was: that is false. All of it is done before or after a boundary,
// since that asks what was written, and nobody is told again.
func (r *Recorder) takeAhead(n int, page []byte, read func(n int, page []byte),
	store func(Hash, []byte) error) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	read(n, page)
	if p := &r.seen[n]; p.known && !p.owed && p.sum == maphash.Bytes(r.seed, page) {
		return false, nil
	}
	return true, r.settle(n, page, store)
}
