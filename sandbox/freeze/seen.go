package freeze

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"
)

// seenPage is a page when it was looked at last. sum tells cheaply whether it changed. It is keyed by a secret of this
// process, so that no guest can make a page that collides; by chance one changed page in 2^64 would be missed.
type seenPage struct {
	sum   uint64
	hash  Hash
	zero  bool
	known bool
	owed  bool // it was hashed and not stored: the next checkpoint stores it
}

func (r *Recorder) init(pages int) {
	if r.seen == nil {
		r.seed = maphash.MakeSeed()
		r.zero = maphash.Bytes(r.seed, zeroPage[:])
	}
	for len(r.seen) < pages {
		r.seen = append(r.seen, seenPage{})
	}
}

// same reports whether page n is as it was, or is zero and now known as that. look is false if it is known to have
// been written, so that a comparison is hardly worth it.
func (r *Recorder) same(n int, b []byte, look bool) bool {
	p := &r.seen[n]
	if p.known && look {
		return p.sum == maphash.Bytes(r.seed, b)
	}
	if isZero(b) {
		*p = seenPage{sum: r.zero, zero: true, known: true}
		return true
	}
	return false
}

// look notes what page n is now.
func (r *Recorder) look(n int, b []byte) *seenPage {
	p := &r.seen[n]
	if isZero(b) {
		*p = seenPage{sum: r.zero, zero: true, known: true}
		return p
	}
	was := *p
	*p = seenPage{sum: maphash.Bytes(r.seed, b), hash: sha256.Sum256(b), known: true}
	p.owed = was.owed || !was.known || was.zero || was.hash != p.hash
	return p
}

// settle notes what a page is and stores it, unless that is stored.
func (r *Recorder) settle(n int, b []byte, store func(Hash, []byte) error) error {
	p := r.look(n, b)
	if !p.owed {
		return nil
	}
	if err := store(p.hash, b); err != nil {
		return err // it is still owed, and offered again
	}
	p.owed = false
	return nil
}

// stored notes that a page is stored, if it is still that when it comes to this.
func (r *Recorder) stored(n int, h Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := &r.seen[n]; p.known && !p.zero && p.hash == h {
		p.owed = false
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
	if isZero(page) {
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

var (
	zeroPage [pageSize]byte
	zeroHash = sha256.Sum256(zeroPage[:])
)

func isZero(page []byte) bool { return page[0] == 0 && bytes.Equal(page, zeroPage[:]) }
