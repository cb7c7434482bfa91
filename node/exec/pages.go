package exec

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"godwit/blocks"
	"godwit/blocks/seal"
	"godwit/migrate/handover"
	"godwit/sandbox"
	"godwit/task"
)

// manifestName is the link of a checkpoint's tree to its manifest; the others
// are named by the hashes of the pages that they lead to, of a sealed job by what only its
// key makes of the hashes.
const manifestName = "manifest"

// pageBytes is what a page of a guest's memory has (package sandbox).
const pageBytes = 64 << 10

// maxFresh bounds the bytes of blocks that came with a hand-over and wait to be
// put among the node's own: what a fast network brings while a slow disk writes
// for a second.
const maxFresh = 32 << 20

// A pageStore keeps the pages of one task's checkpoints among the node's
// blocks, where equal pages of all tasks are one block; of a sealed job, those of its tasks.
type pageStore struct {
	ctx    context.Context // of the attempt: the sandbox's calls have none
	blocks *blocks.Store
	sealer *seal.Sealer                                    // of the blocks; nil: they are not sealed
	of     func(state []byte) ([][sha256.Size]byte, error) // the pages of a state
	stored atomic.Int64                                    // bytes put since it was last asked
	failed atomic.Bool                                     // a page that is stored could not be read

	mu    sync.Mutex
	links map[[32]byte]blocks.Link // by the hash of the page; the block is compressed
	// fresh are blocks that came from another member and are not among the node's
	// yet: see hold.
	fresh map[[32]byte][]byte
	ahead func(h [32]byte, block []byte) // is given each block as it comes; nil for nobody
}

// newPages returns a store without pages, whose blocks come and go while ctx lasts.
// Those that are kept are sealed by sealer.
func (c *core) newPages(ctx context.Context, sealer *seal.Sealer) *pageStore {
	return &pageStore{ctx: ctx, blocks: c.Content.Blocks(), sealer: sealer, of: c.Runner.Pages,
		links: map[[32]byte]blocks.Link{}}
}

var _ sandbox.Store = (*pageStore)(nil)

// Has says whether the page is stored.
func (s *pageStore) Has(h [32]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.links[h]
	if !ok {
		_, ok = s.fresh[h]
	}
	return ok
}

// Put stores a page's block. Where the task is on its way it goes there first, so
// that the network works beside the disk and the sandbox; neither waits for it.
func (s *pageStore) Put(h [32]byte, block []byte) error {
	if s.ahead != nil {
		s.ahead(h, block)
	}
	kept := s.sealer.Seal(block)
	c, err := s.blocks.ImportBytes(s.ctx, kept)
	if err != nil {
		return err
	}
	s.stored.Add(int64(len(kept)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[h] = blocks.Link{Name: s.sealer.Name(h), CID: c, Size: int64(len(kept)), Used: time.Now()}
	delete(s.fresh, h)
	return nil
}

// Get returns a page's block.
func (s *pageStore) Get(h [32]byte) ([]byte, error) {
	s.mu.Lock()
	l, ok := s.links[h]
	block, fresh := s.fresh[h]
	s.mu.Unlock()
	switch {
	case fresh:
		return block, nil
	case !ok:
		return nil, fmt.Errorf("%w: page %x", blocks.ErrNotFound, h)
	}
	kept, err := s.blocks.Get(s.ctx, l.CID)
	if err != nil {
		s.failed.Store(true)
		return nil, err
	}
	if block, err = s.sealer.Open(kept); err != nil {
		return kept, nil // which is no page: the sandbox says so of it as of any other bytes
	}
	return block, nil
}

// find takes in the pages of a state whose tree has those links, by their names.
func (s *pageStore) find(manifest []byte, links map[string]blocks.Link) {
	pages, err := s.of(manifest)
	if err != nil {
		return // missing says why
	}
	for _, h := range pages {
		if l, ok := links[s.sealer.Name(h)]; ok {
			s.links[h] = l
		}
	}
}

// tree stores a checkpoint as one tree of its manifest and its pages, so that
// others fetch it by one CID and only what they lack of it.
func (s *pageStore) tree(manifest []byte) (task.CID, error) {
	pages, err := s.of(manifest)
	if err == nil {
		err = s.settle(pages)
	}
	if err != nil {
		return "", err
	}
	kept := s.sealer.SealFile(manifest)
	c, err := s.blocks.ImportBytes(s.ctx, kept)
	if err != nil {
		return "", err
	}
	now := time.Now()
	links := []blocks.Link{{Name: manifestName, CID: c, Size: int64(len(kept)), Used: now}}
	s.mu.Lock()
	defer s.mu.Unlock()
	named := map[[32]byte]bool{}
	for _, h := range pages {
		l, ok := s.links[h]
		if !ok {
			return "", fmt.Errorf("%w: page %x of the checkpoint", blocks.ErrNotFound, h)
		}
		if !named[h] { // equal pages are one block
			named[h] = true
			links = append(links, l)
		}
	}
	root, err := s.blocks.PutTree(s.ctx, links)
	if err == nil {
		s.used(pages, now)
	}
	return root, err
}

// used notes that the use of pages was noted, where that was to be; s.mu is held.
func (s *pageStore) used(pages [][32]byte, now time.Time) {
	for _, h := range pages {
		if l := s.links[h]; now.Sub(l.Used) >= blocks.UsedFor {
			l.Used = now
			s.links[h] = l
		}
	}
}

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
