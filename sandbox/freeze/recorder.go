package freeze

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime"
	"sync"
)

// Recorder makes checkpoints of one guest, one after another. It remembers what the memory's pages were, so that a
// later checkpoint hashes, compresses and stores only those that changed. The zero value knows of none.
type Recorder struct {
	Module Hash // of the original module
	// Unchanged, if set, says which pages of 64 KiB were certainly not written since it was called last, by number;
	// pages beyond the slice may have been. It is called once for each checkpoint, with the guest stopped, and by Ahead,
	// with the guest running: of a page written meanwhile it tells then or the next time. Where it is nil, or answers nil,
	// the pages are looked at.
	Unchanged func(memory []byte) []bool

	seed maphash.Seed
	zero uint64 // sum of a page of zeros
	seen []seenPage
}

// seenPage is a page at the last checkpoint. sum tells cheaply whether it changed. It is keyed by a secret of this
// process, so that no guest can make a page that collides; by chance one changed page in 2^64 would be missed.
type seenPage struct {
	sum   uint64
	hash  Hash
	zero  bool
	known bool
}

// Taken are the pages of a memory that may have changed since the checkpoint before.
type Taken struct {
	pages   int // of the whole memory
	changed []takenPage
}

type takenPage struct {
	number  int
	content []byte
}

// Bytes is how much memory the pages take up.
func (t *Taken) Bytes() int { return len(t.changed) * pageSize }

func (r *Recorder) init(pages int) {
	if r.seen == nil {
		r.seed = maphash.MakeSeed()
		r.zero = maphash.Bytes(r.seed, zeroPage[:])
	}
	for len(r.seen) < pages {
		r.seen = append(r.seen, seenPage{})
	}
}

// Take is the part of making a checkpoint for which the guest must stand still: it copies the pages that may have
// changed. room gives the 64 KiB for a copy and may be called by several goroutines; for pages for which it gives nil
// all is done at once, as Finish does. If room itself is nil nothing is copied, and the guest must not run before
// Finish.
func (r *Recorder) Take(memory []byte, room func() []byte, store func(h Hash, page []byte) error) (*Taken, error) {
	pages := len(memory) / pageSize
	r.init(pages)
	var same []bool
	if r.Unchanged != nil {
		same = r.Unchanged(memory)
	}
	var mu sync.Mutex
	t := &Taken{pages: pages}
	err := share(pages, lookShare, func(from, to int) error {
		var changed []takenPage
		for n := from; n < to; n++ {
			b := memory[n*pageSize : (n+1)*pageSize]
			if n < len(same) && same[n] && r.seen[n].known || r.same(n, b, same == nil) {
				continue
			}
			page := takenPage{n, b}
			if room != nil {
				if page.content = room(); page.content == nil {
					if err := r.settle(takenPage{n, b}, store); err != nil {
						return err
					}
					continue
				}
				copy(page.content, b)
			}
			changed = append(changed, page)
		}
		mu.Lock()
		t.changed = append(t.changed, changed...)
		mu.Unlock()
		return nil
	})
	if err != nil {
		clear(r.seen) // what was not looked at may have changed
		return nil, fmt.Errorf("record checkpoint: %w", err)
	}
	return t, nil
}

// same reports whether page n is as it was, or is zero and now known as that. look is false if it is known to have
// been written, so that a comparison is hardly worth it.
func (r *Recorder) same(n int, b []byte, look bool) bool {
	p := &r.seen[n]
	if p.known && look {
		return p.sum == maphash.Bytes(r.seed, b)
	}
	if b[0] == 0 && bytes.Equal(b, zeroPage[:]) {
		*p = seenPage{sum: r.zero, zero: true, known: true}
		return true
	}
	return false
}

// Finish gives the manifest of a checkpoint whose pages were taken, and calls store, in any order and from several
// goroutines, with each page that the last checkpoint did not have. page is only valid during the call; Compress makes
// a block of it.
func (r *Recorder) Finish(t *Taken, s *State, system []byte, keepNaNs bool,
	store func(h Hash, page []byte) error) (*Manifest, error) {
	err := share(len(t.changed), storeShare, func(from, to int) error {
		for _, page := range t.changed[from:to] {
			if err := r.settle(page, store); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for _, page := range t.changed { // offer them again
			r.seen[page.number].known = false
		}
		return nil, fmt.Errorf("record checkpoint: %w", err)
	}
	m := &Manifest{Format: CheckpointVersion, Pass: PassVersion, Module: r.Module, NaNs: keepNaNs, State: *s,
		System: system}
	for n, p := range r.seen[:t.pages] {
		if !p.zero {
			m.Pages = append(m.Pages, Page{Number: uint32(n), Hash: p.hash})
		}
	}
	return m, nil
}

// Record takes and finishes a checkpoint of a guest that stands still until it returns.
func (r *Recorder) Record(s *State, memory, system []byte, keepNaNs bool,
	store func(h Hash, page []byte) error) (*Manifest, error) {
	t, err := r.Take(memory, nil, store)
	if err != nil {
		return nil, err
	}
	return r.Finish(t, s, system, keepNaNs, store)
}

// Load is Manifest.Load for a guest that this recorder goes on with: its next checkpoint is one after the manifest.
func (r *Recorder) Load(m *Manifest, block func(Hash) ([]byte, error)) func(put func(uint64, []byte) error) error {
	return func(put func(uint64, []byte) error) error {
		r.init(int(m.State.Pages))
		for n := range r.seen {
			r.seen[n] = seenPage{sum: r.zero, zero: true, known: true}
		}
		next := 0 // of the pages, which Load puts in order
		return m.Load(block)(func(at uint64, page []byte) error {
			if sum := maphash.Bytes(r.seed, page); !bytes.Equal(page, zeroPage[:]) {
				r.seen[m.Pages[next].Number] = seenPage{sum: sum, hash: m.Pages[next].Hash, known: true}
			}
			next++
			return put(at, page)
		})
	}
}

// expectZeros notes that a memory of so many pages is all zeros.
func (r *Recorder) expectZeros(pages int) {
	had := len(r.seen)
	r.init(pages)
	for n := had; n < len(r.seen); n++ {
		r.seen[n] = seenPage{sum: r.zero, zero: true, known: true}
	}
}

// place notes what page n is now; its content was checked against the hash.
func (r *Recorder) place(n uint32, h Hash, page []byte) {
	if page[0] == 0 && bytes.Equal(page, zeroPage[:]) {
		r.seen[n] = seenPage{sum: r.zero, zero: true, known: true}
		return
	}
	r.seen[n] = seenPage{sum: maphash.Bytes(r.seed, page), hash: h, known: true}
}

// has reports whether page n is known to have this content.
func (r *Recorder) has(n uint32, h Hash) bool {
	p := &r.seen[n]
	return p.known && (!p.zero && p.hash == h || p.zero && h == zeroHash)
}

// share splits n things among as many goroutines as there are cores, if each gets some.
func share(n, least int, do func(from, to int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n/least+1)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { errs[w] = do(n*w/workers, n*(w+1)/workers) })
	}
	errs[0] = do(0, n/workers)
	wg.Wait()
	return errors.Join(errs...)
}

// How many pages are worth a goroutine.
const (
	lookShare  = 64 // to look at or copy them takes microseconds each
	storeShare = 4  // to hash and compress, or decompress, one takes some 0.1 ms
)

var (
	zeroPage [pageSize]byte
	zeroHash = sha256.Sum256(zeroPage[:])
)

// settle notes what a page is and stores it, unless it is what it was.
func (r *Recorder) settle(page takenPage, store func(Hash, []byte) error) error {
	p, b := &r.seen[page.number], page.content
	was := *p
	*p = seenPage{sum: maphash.Bytes(r.seed, b), known: true}
	if b[0] == 0 && bytes.Equal(b, zeroPage[:]) {
		p.zero = true
		return nil
	}
	if p.hash = sha256.Sum256(b); was.known && !was.zero && was.hash == p.hash {
		return nil
	}
	if err := store(p.hash, b); err != nil {
		p.known = false // offer it again
		return err
	}
	return nil
}
