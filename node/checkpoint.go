package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"godwit/blocks"
	"godwit/migrate/handover"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// maxManifest bounds the manifest of a checkpoint, in bytes.
const maxManifest = 64 << 20

// manifestName is the link of a checkpoint's tree to its manifest; the others
// are named by the hashes of the pages that they lead to.
const manifestName = "manifest"

// A saving is where a task goes on from and how its state is saved meanwhile.
type saving struct {
	from   []byte        // manifest of the state to go on from; nil: begin
	before time.Duration // CPU time that from stands for
	every  time.Duration // as the job says; 0: when save says
	pages  *pageStore
	costs  *saveCosts      // of its job
	left   *workLeft       // told of each state; nil: nobody asks
	made   int             // checkpoints
	stop   <-chan struct{} // closed when it is to stop with its state; then taken is called once more
	save   <-chan struct{} // each value asks for a checkpoint while the task goes on; nil: none does
	share  <-chan float64  // as sandbox.Task.Share; nil: nothing is bounded
	taken  func(manifest []byte, fuel uint64, cpu time.Duration)
	stays  func(why string) // called when it could not stop with its state
	giver  *givers          // who hears of its states in place of taken, while it is on its way; nil: nobody
	coming *arrival         // in place of from: the state comes from another member; nil for none
}

// checkpoint tells of a state that the task goes on from.
func (s *saving) checkpoint(manifest []byte, fuel uint64, cpu time.Duration) {
	s.left.did(cpu)
	if g := s.giver.now(); g != nil {
		g.checkpoint(snapshot{manifest, fuel, s.before + cpu, s.pages})
		return
	}
	s.taken(manifest, fuel, cpu)
}

// frozen tells of the state that the task has stopped with. Where it goes on
// elsewhere nothing is kept here.
func (s *saving) frozen(manifest []byte, fuel uint64, cpu time.Duration) {
	if g := s.giver.now(); g != nil && g.final(snapshot{manifest, fuel, s.before + cpu, s.pages}) {
		return
	}
	s.taken(manifest, fuel, cpu)
}

// newPages returns a store without pages. The runner is a saver.
func (n *Node) newPages(ctx context.Context) *pageStore {
	return &pageStore{ctx: ctx, blocks: n.blocks, of: n.runner.(saver).Pages, links: map[[32]byte]blocks.Link{}}
}

// newSaving prepares for an attempt, and brings its checkpoint here. A
// checkpoint that cannot be had costs the work it stands for, not the task.
func (n *Node) newSaving(ctx context.Context, w waitingStart, p *preparedJob, stop <-chan struct{}, place *givers) *saving {
	e := w.start
	if place == nil {
		return nil
	}
	s := &saving{stop: stop, save: place.save, share: place.share, giver: place, every: p.job.Checkpoint.Every, pages: n.newPages(ctx), costs: &p.saves, left: newWorkLeft(e.Left)}
	s.pages.giver = place
	if e.From != nil {
		manifest, err := n.bringPatiently(ctx, e, s)
		if err != nil {
			n.log.Warn("a checkpoint could not be had: the task begins anew", "task", e.Task.String(), "err", err)
			s.left.anew(e.From.CPU)
		} else {
			s.from, s.before = manifest, e.From.CPU
		}
	}
	n.keepStates(w, s)
	s.left.did(0) // the checkpoint took its time to come
	n.saveOnTime(ctx, w.of, e.Task, p, place, s.left)
	return s
}

// notSaved tells that a checkpoint could not be made, or, with freeze, that the task
// could not be stopped with its state, and never can be here. It goes on.
func (s *saving) notSaved(why string, freeze bool) {
	switch g := s.giver.now(); {
	case g == nil:
	case freeze:
		g.tell(handover.NotFrozen{Reason: why})
	default:
		g.tell(handover.NotSaved{Reason: why})
	}
	if freeze {
		s.stays(why)
	}
}

// keepStates has an attempt's checkpoints kept among the blocks and told to its
// worker.
func (n *Node) keepStates(w waitingStart, s *saving) {
	e := w.start
	s.stays = func(why string) {
		n.post(post{call: func() { n.cannotFreeze(message.AttemptName{Task: e.Task, Attempt: e.Attempt}, why) }})
	}
	s.taken = func(manifest []byte, fuel uint64, cpu time.Duration) {
		if s.made++; s.made > 1 {
			s.costs.storedNew(s.pages.stored.Swap(0))
		} else {
			s.pages.stored.Store(0)
		}
		s.giver.note(s.pages.size(manifest))
		root, err := s.pages.tree(manifest)
		if err != nil {
			n.log.Warn("a checkpoint could not be stored", "task", e.Task.String(), "err", err)
			return
		}
		n.post(post{of: w.of, to: w.from, event: message.Checkpointed{
			Task: e.Task, Attempt: e.Attempt, Checkpoint: message.Checkpoint{CID: root, Fuel: fuel, CPU: s.before + cpu},
		}})
	}
}

const (
	// bringLeast and bringMost bound how long a checkpoint is sought that nobody has
	// at the moment, who may be starting anew: in between for as long as the work
	// takes that it stands for, which is then lost. bringAgain is how often.
	bringLeast, bringMost = 5 * time.Second, time.Minute
	bringAgain            = time.Second
	// sureHolders is how many of those that a leader names, first of all, it knows
	// to be there: itself, the job's submitter, the first that follows it.
	sureHolders = 3
)

// sure returns the holders that should be there; it shares their memory.
func sure(holders []task.PeerID) []task.PeerID { return holders[:min(len(holders), sureHolders)] }

// bringPatiently fetches the checkpoint that an attempt goes on from: first from
// those who should have it, then from all who may, again and again while nobody has
// it. One of the latter may be gone, and to find that out takes its time.
func (n *Node) bringPatiently(ctx context.Context, e message.Start, s *saving) ([]byte, error) {
	all := e.Holders
	e.Holders = sure(all)
	for until := time.Now().Add(min(max(bringLeast, e.From.CPU), bringMost)); ; {
		manifest, err := n.bringCheckpoint(ctx, e, s.pages)
		if len(e.Holders) < len(all) && errors.Is(err, blocks.ErrNotFound) {
			e.Holders = all
			continue
		}
		if err == nil || !errors.Is(err, blocks.ErrNotFound) || !time.Now().Add(bringAgain).Before(until) {
			return manifest, err
		}
		again := time.NewTimer(bringAgain)
		select {
		case <-again.C:
		case <-s.stop:
			again.Stop()
			return nil, err
		case <-ctx.Done():
			again.Stop()
			return nil, err
		}
	}
}

// bringCheckpoint fetches a checkpoint's tree and returns its manifest.
func (n *Node) bringCheckpoint(ctx context.Context, e message.Start, pages *pageStore) ([]byte, error) {
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
	blocks *blocks.Store
	of     func(state []byte) ([][sha256.Size]byte, error) // the pages of a state
	stored atomic.Int64                                    // bytes put since it was last asked

	mu    sync.Mutex
	links map[[32]byte]blocks.Link // by the hash of the page; the block is compressed
	// fresh are blocks that came from another member and are not among the node's
	// yet: see hold.
	fresh map[[32]byte][]byte
	giver *givers // whose hand-over is given each block as it comes; nil for nobody
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
	if g := s.giver.now(); g != nil {
		g.ahead(h, block)
	}
	c, err := s.blocks.ImportBytes(s.ctx, block)
	if err != nil {
		return err
	}
	s.stored.Add(int64(len(block)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[h] = blocks.Link{Name: hex.EncodeToString(h[:]), CID: c, Size: int64(len(block))}
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
	return s.blocks.Get(s.ctx, l.CID)
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
	c, err := s.blocks.ImportBytes(s.ctx, manifest)
	if err != nil {
		return "", err
	}
	links := []blocks.Link{{Name: manifestName, CID: c, Size: int64(len(manifest))}}
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
	return s.blocks.PutTree(s.ctx, links)
}
