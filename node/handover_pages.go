package node

import (
	"fmt"

	"godwit/migrate/handover"
)

// pageBytes is what a page of a guest's memory has (package sandbox).
const pageBytes = 64 << 10

// maxFresh bounds the bytes of blocks that came with a hand-over and wait to be
// put among the node's own: what a fast network brings while a slow disk writes
// for a second.
const maxFresh = 32 << 20

// size returns about how many bytes the state of a manifest has.
func (s *pageStore) size(manifest []byte) int64 {
	pages, err := s.of(manifest)
	if err != nil {
		return 0
	}
	return int64(len(pages))*pageBytes + int64(len(manifest))
}

// hold takes blocks in at once; they are put among the node's blocks off the way
// of the guest that waits for them. It returns how many bytes wait for that.
func (s *pageStore) hold(blocks []handover.Block) (waiting int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fresh == nil {
		s.fresh = map[[32]byte][]byte{}
	}
	for _, b := range blocks {
		if _, have := s.links[b.Hash]; !have {
			s.fresh[b.Hash] = b.Data
		}
	}
	for _, b := range s.fresh {
		waiting += int64(len(b))
	}
	return waiting
}

// held lists the pages that wait.
func (s *pageStore) held() [][32]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([][32]byte, 0, len(s.fresh))
	for h := range s.fresh {
		out = append(out, h)
	}
	return out
}

// settle puts those of the pages that wait among the node's blocks.
func (s *pageStore) settle(pages [][32]byte) error {
	for _, h := range pages {
		s.mu.Lock()
		b, waits := s.fresh[h]
		s.mu.Unlock()
		if !waits {
			continue
		}
		if err := s.Put(h, b); err != nil {
			return fmt.Errorf("storing a page that came with a task: %w", err)
		}
	}
	return nil
}

// missing counts the pages of a manifest that are not here.
func (s *pageStore) missing(manifest []byte) (int, error) {
	pages, err := s.of(manifest)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, h := range pages {
		if !s.Has(h) {
			n++
		}
	}
	return n, nil
}
