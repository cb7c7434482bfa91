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
// many pages it took that were other than before.
func (r *Recorder) Ahead(memory []byte, read func(n int, page []byte), store func(h Hash, page []byte) error,
	more func(left int) bool) (taken int, err error) {
	pages := len(memory) / pageSize
	r.init(pages)
	var same []bool
	if r.Unchanged != nil {
		same = r.Unchanged(memory)
	}
	left := pages
	for n := range same {
		p := &r.seen[n]
		p.known = p.known && same[n] // nobody tells again that the page was written
		if p.known {
			left--
		}
	}
	page := make([]byte, pageSize)
	for n := range pages {
		p := &r.seen[n]
		if p.known && n < len(same) {
			continue
		}
		if !more(left) {
			break
		}
		left--
		read(n, page)
		if p.known && p.sum == maphash.Bytes(r.seed, page) {
			continue
		}
		if err := r.settle(takenPage{n, page}, store); err != nil {
			return taken, fmt.Errorf("record checkpoint: %w", err)
		}
		taken++
	}
	return taken, nil
}
