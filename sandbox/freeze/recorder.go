package freeze

import (
	"bytes"
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

	mu      sync.Mutex    // Ahead and the storing of Finish go on beside a guest that comes to a boundary
	hashing chan struct{} // closed when the pages that were taken last have their hashes; nil before the first

	seed maphash.Seed
	zero uint64 // sum of a page of zeros
	seen []seenPage
}

// Taken are the pages of a memory that may have changed since the checkpoint before.
type Taken struct {
	pages   int // of the whole memory
	changed []takenPage
	hashed  chan struct{} // closed when they are
}

type takenPage struct {
	number  int
	content []byte
	hash    Hash // once it is known
	owed    bool // it is to be stored
}

// Bytes is how much memory the pages take up.
func (t *Taken) Bytes() int { return len(t.changed) * pageSize }

// Take is the part of making a checkpoint for which the guest must stand still: it copies the pages that may have
// changed. room gives the 64 KiB for a copy and may be called by several goroutines; for pages for which it gives nil
// all is done at once, as Finish does. If room itself is nil nothing is copied, and the guest must not run before
// Finish. After each Take there must be a Finish, and no Ahead before its end.
func (r *Recorder) Take(memory []byte, room func() []byte, store func(h Hash, page []byte) error) (*Taken, error) {
	changed, err := r.find(memory, func(n int, b []byte) (content []byte, err error) {
		if room == nil {
			return b, nil
		}
		if content = room(); content == nil {
			return nil, r.settle(n, b, store)
		}
		copy(content, b)
		return content, nil
	}, true)
	if err != nil {
		clear(r.seen) // what was not looked at may have changed
		return nil, fmt.Errorf("record checkpoint: %w", err)
	}
	r.hashing = make(chan struct{})
	return &Taken{pages: len(memory) / pageSize, changed: changed, hashed: r.hashing}, nil
}

// find looks which pages may have changed since each was looked at last, and with owed also finds those that are not
// stored. take gives what there is of one for later, nil for nothing.
func (r *Recorder) find(memory []byte, take func(n int, b []byte) ([]byte, error), owed bool) ([]takenPage, error) {
	pages := len(memory) / pageSize
	r.init(pages)
	var same []bool
	if r.Unchanged != nil {
		same = r.Unchanged(memory)
	}
	var mu sync.Mutex
	var all []takenPage
	err := share(pages, lookShare, func(from, to int) error {
		var changed []takenPage
		for n := from; n < to; n++ {
			b := memory[n*pageSize : (n+1)*pageSize]
			as := n < len(same) && same[n] && r.seen[n].known || r.same(n, b, same == nil)
			if as && !(owed && r.seen[n].owed) {
				continue
			}
			content, err := take(n, b)
			if err != nil {
				return err
			}
			if content != nil {
				changed = append(changed, takenPage{number: n, content: content})
			}
		}
		mu.Lock()
		all = append(all, changed...)
		mu.Unlock()
		return nil
	})
	return all, err
}

// Finish gives the manifest of a checkpoint whose pages were taken, and calls store, in any order and from several
// goroutines, with each page that is not stored yet. page is only valid during the call; Compress makes a block of it.
func (r *Recorder) Finish(t *Taken, s *State, system []byte, keepNaNs bool,
	store func(h Hash, page []byte) error) (*Manifest, error) {
	r.name(t.changed)
	m := r.manifest(t.pages, s, system, keepNaNs)
	close(t.hashed)
	err := share(len(t.changed), storeShare, func(from, to int) error {
		for _, page := range t.changed[from:to] {
			if !page.owed {
				continue
			}
			if err := store(page.hash, page.content); err != nil {
				return err // it is still owed, and offered again
			}
			r.stored(page.number, page.hash)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("record checkpoint: %w", err)
	}
	return m, nil
}

// name hashes pages, and notes what they are.
func (r *Recorder) name(pages []takenPage) {
	_ = share(len(pages), storeShare, func(from, to int) error {
		for k := from; k < to; k++ {
			p := r.look(pages[k].number, pages[k].content)
			pages[k].hash, pages[k].owed = p.hash, p.owed
		}
		return nil
	})
}

// manifest describes a memory of so many pages, all of which are known.
func (r *Recorder) manifest(pages int, s *State, system []byte, keepNaNs bool) *Manifest {
	m := &Manifest{Format: CheckpointVersion, Pass: PassVersion, Module: r.Module, NaNs: keepNaNs, State: *s,
		System: system}
	for n, p := range r.seen[:pages] {
		if !p.zero {
			m.Pages = append(m.Pages, Page{Number: uint32(n), Hash: p.hash})
		}
	}
	return m
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
