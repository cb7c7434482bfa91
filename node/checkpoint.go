package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"godwit/p2p"
	"godwit/sandbox"
	"godwit/scheduler"
	"godwit/task"
)

// autoCheckpoint is how often a task's state is saved where the job leaves it
// to the system. It bounds what a crash costs, at a few milliseconds' pause
// and the changed pages' transfer each time.
const autoCheckpoint = 30 * time.Second

// maxManifest bounds the manifest of a checkpoint, in bytes.
const maxManifest = 64 << 20

// manifestName is the link of a checkpoint's tree to its manifest; the others
// are named by the hashes of the pages that they lead to.
const manifestName = "manifest"

// A saving is where a task goes on from and how its state is saved meanwhile.
type saving struct {
	from  []byte        // manifest of the state to go on from; nil: begin
	every time.Duration // 0: never
	pages *pageStore
	stop  <-chan struct{} // closed when it is to stop with its state; then taken is called once more
	taken func(manifest []byte, fuel uint64, cpu time.Duration)
}

// newSaving prepares for an attempt, and brings its checkpoint here. A
// checkpoint that cannot be had costs the work it stands for, not the task.
func (n *Node) newSaving(ctx context.Context, w waitingStart, p *preparedJob, stop <-chan struct{}) *saving {
	e := w.start
	if !n.saves(p) {
		return nil
	}
	s := &saving{stop: stop, every: autoCheckpoint, pages: &pageStore{ctx: ctx, blocks: n.blocks, of: n.runner.(saver).Pages, links: map[[32]byte]p2p.Link{}}}
	if p.job.Checkpoint.Every > 0 {
		s.every = p.job.Checkpoint.Every
	}
	var before time.Duration
	if e.From != nil {
		manifest, err := n.bringCheckpoint(ctx, e, s.pages)
		if err != nil {
			n.log.Warn("a checkpoint could not be had: the task begins anew", "task", e.Task.String(), "err", err)
		} else {
			s.from, before = manifest, e.From.CPU
		}
	}
	s.taken = func(manifest []byte, fuel uint64, cpu time.Duration) {
		root, err := s.pages.tree(manifest)
		if err != nil {
			n.log.Warn("a checkpoint could not be stored", "task", e.Task.String(), "err", err)
			return
		}
		n.post(post{of: w.of, to: w.from, event: scheduler.Checkpointed{
			Task: e.Task, Attempt: e.Attempt, Checkpoint: scheduler.Checkpoint{CID: root, Fuel: fuel, CPU: before + cpu},
		}})
	}
	return s
}

// bringCheckpoint fetches a checkpoint's tree and returns its manifest.
func (n *Node) bringCheckpoint(ctx context.Context, e scheduler.Start, pages *pageStore) ([]byte, error) {
	if err := n.fetchAll(ctx, []task.CID{e.From.CID}, e.Holders); err != nil {
		return nil, err
	}
	links, err := n.blocks.Tree(ctx, e.From.CID)
	if err != nil {
		return nil, err
	}
	var manifest []byte
	for _, l := range links {
		if l.Name == manifestName {
			if manifest, err = n.readAll(ctx, l.CID, maxManifest); err != nil {
				return nil, fmt.Errorf("reading the checkpoint's manifest: %w", err)
			}
			continue
		}
		var h [32]byte
		if raw, err := hex.DecodeString(l.Name); err != nil || copy(h[:], raw) != len(h) || len(raw) != len(h) {
			return nil, fmt.Errorf("checkpoint %s has a page named %q", e.From.CID, l.Name)
		}
		pages.links[h] = l
	}
	if manifest == nil {
		return nil, fmt.Errorf("checkpoint %s has no manifest", e.From.CID)
	}
	return manifest, nil
}

func (n *Node) readAll(ctx context.Context, c task.CID, most int64) ([]byte, error) {
	f, size, err := n.blocks.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > most {
		return nil, fmt.Errorf("%d bytes, at most %d", size, most)
	}
	return io.ReadAll(f)
}

// A pageStore keeps the pages of one task's checkpoints among the node's
// blocks, where equal pages of all tasks are one block.
type pageStore struct {
	ctx    context.Context // of the attempt: the sandbox's calls have none
	blocks *p2p.Blocks
	of     func(state []byte) ([][sha256.Size]byte, error) // the pages of a state

	mu    sync.Mutex
	links map[[32]byte]p2p.Link // by the hash of the page; the block is compressed
}

var _ sandbox.Store = (*pageStore)(nil)

// Has says whether the page is stored.
func (s *pageStore) Has(h [32]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.links[h]
	return ok
}

// Put stores a page's block.
func (s *pageStore) Put(h [32]byte, block []byte) error {
	c, err := s.blocks.ImportBytes(s.ctx, block)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[h] = p2p.Link{Name: hex.EncodeToString(h[:]), CID: c, Size: int64(len(block))}
	return nil
}

// Get returns a page's block.
func (s *pageStore) Get(h [32]byte) ([]byte, error) {
	s.mu.Lock()
	l, ok := s.links[h]
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%w: page %x", p2p.ErrNotFound, h)
	}
	return s.blocks.Get(s.ctx, l.CID)
}

// tree stores a checkpoint as one tree of its manifest and its pages, so that
// others fetch it by one CID and only what they lack of it.
func (s *pageStore) tree(manifest []byte) (task.CID, error) {
	pages, err := s.of(manifest)
	if err != nil {
		return "", err
	}
	c, err := s.blocks.ImportBytes(s.ctx, manifest)
	if err != nil {
		return "", err
	}
	links := []p2p.Link{{Name: manifestName, CID: c, Size: int64(len(manifest))}}
	s.mu.Lock()
	defer s.mu.Unlock()
	named := map[[32]byte]bool{}
	for _, h := range pages {
		l, ok := s.links[h]
		if !ok {
			return "", fmt.Errorf("%w: page %x of the checkpoint", p2p.ErrNotFound, h)
		}
		if !named[h] { // equal pages are one block
			named[h] = true
			links = append(links, l)
		}
	}
	return s.blocks.PutTree(s.ctx, links)
}
