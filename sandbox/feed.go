package sandbox

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"godwit/sandbox/freeze"
)

// errNoState says that the last stage of a task's state did not come.
var errNoState = errors.New("sandbox: the last stage of the state did not come")

// A feed passes the stages of a task's state on to the child: of each what that
// lacks.
type feed struct {
	v      *conversation
	placed map[uint32][sha256.Size]byte // pages that the child has
	files  map[[sha256.Size]byte]bool   // blocks of files that it has

	batch placeReq // to be sent
	parts [][]byte
	bytes int

	mu     sync.Mutex
	err    error     // why there will be no last stage
	last   time.Time // when it came
	fuel   uint64    // used in it
	passed int       // manifests but the last
	heard  int       // of them, those that the child has taken in
	stands bool      // the child was heard to wait
}

func newFeed(v *conversation) *feed {
	return &feed{v: v, placed: map[uint32][sha256.Size]byte{}, files: map[[sha256.Size]byte]bool{}}
}

// run passes stages on until the last. If that does not come, or cannot be
// passed on, it ends the child.
func (f *feed) run(done <-chan struct{}) {
	for last := false; !last; {
		var s Stage
		open := true
		select {
		case s, open = <-f.v.t.Stages:
		case <-done:
			return
		}
		err := errNoState
		if last = s.Last; open {
			err = f.pass(s)
		}
		if err != nil {
			f.mu.Lock()
			f.err = err
			f.mu.Unlock()
			_ = f.v.c.cmd.Process.Kill()
			return
		}
	}
}

// failure is why the state did not come; nil if the feed, which may be nil, is
// not to blame.
func (f *feed) failure() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// sinceLast is the time since the last stage came.
func (f *feed) sinceLast() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.last)
}

// fuelAtLast is the fuel used in the last stage.
func (f *feed) fuelAtLast() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fuel
}

// hear deals with what the child says about stages.
func (f *feed) hear(e event, t *Task) error {
	f.mu.Lock()
	n, first := f.heard, !f.stands
	f.stands = true
	if e.Staged {
		f.heard++
	}
	passed := f.passed
	f.mu.Unlock()
	switch {
	case e.Standby && first && t.OnStandby != nil:
		t.OnStandby()
	case e.Staged && n >= passed:
		return errors.New("the sandbox process took in a stage that did not come")
	case e.Staged && t.OnStage != nil:
		t.OnStage(n)
	}
	return nil
}

// pass passes a stage on. A child that is gone is noticed elsewhere.
func (f *feed) pass(s Stage) error {
	switch {
	case (len(s.Ahead) > 0) == (len(s.Manifest) > 0):
		return fmt.Errorf("%w: a stage has either a manifest or pages ahead of one", ErrCheckpoint)
	case s.Last && len(s.Manifest) == 0:
		return fmt.Errorf("%w: the last stage has no manifest", ErrCheckpoint)
	case len(s.Ahead) > 0:
		return f.ahead(s.Ahead)
	}
	came := time.Now()
	man, err := freeze.DecodeManifest(s.Manifest)
	if err != nil {
		return err
	}
	if s.Last {
		f.mu.Lock()
		f.last, f.fuel = came, man.State.Fuel
		f.mu.Unlock()
	}
	if err := f.lacking(man); err != nil {
		return err
	}
	f.mu.Lock()
	if !s.Last {
		f.passed++
	}
	f.mu.Unlock()
	_ = f.v.tell(request{Stage: &stageReq{Last: s.Last}}, s.Manifest)
	return nil
}

// ahead sends pages that no manifest has named yet.
func (f *feed) ahead(blocks []Block) error {
	for i := range blocks {
		b := &blocks[i]
		if len(b.Data) > maxBatchBytes {
			return fmt.Errorf("%w: page %d has %d bytes compressed", ErrCheckpoint, b.Page, len(b.Data))
		}
		f.page(b.Page, b.Hash, b.Data)
	}
	f.flush()
	return nil
}

// lacking sends the blocks of a manifest that the child lacks.
func (f *feed) lacking(man *freeze.Manifest) error {
	hashes, err := blocksOf(man)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	if most := f.v.most(); len(hashes) > most {
		return fmt.Errorf("%w: %d blocks, the task's limits allow %d", ErrCheckpoint, len(hashes), most)
	}
	named := make(map[uint32][sha256.Size]byte, len(man.Pages))
	for _, p := range man.Pages {
		named[p.Number] = p.Hash
		if f.placed[p.Number] == p.Hash {
			continue
		}
		b, err := f.block(p.Hash)
		if err != nil {
			return err
		}
		f.page(p.Number, p.Hash, b)
	}
	f.flush() // those of pages come first in a batch
	f.placed = named
	files := map[[sha256.Size]byte]bool{}
	for _, h := range hashes[:len(hashes)-len(man.Pages)] {
		if !files[h] && !f.files[h] {
			b, err := f.block(h)
			if err != nil {
				return err
			}
			f.add(h, b)
		}
		files[h] = true
	}
	f.flush()
	f.files = files
	return nil
}

func (f *feed) block(h [sha256.Size]byte) ([]byte, error) {
	b, err := f.v.t.Pages.Get(h)
	if err != nil {
		return nil, fmt.Errorf("%w: block %x: %w", ErrCheckpoint, h[:8], err)
	}
	return b, nil
}

// page adds a page to the batch.
func (f *feed) page(n uint32, h [sha256.Size]byte, block []byte) {
	f.placed[n] = h
	f.batch.Pages = append(f.batch.Pages, n)
	f.add(h, block)
}

// add adds a block, and sends the batch when it is large enough.
func (f *feed) add(h [sha256.Size]byte, block []byte) {
	f.batch.Sizes = append(f.batch.Sizes, len(block))
	f.parts = append(f.parts, h[:], block)
	if f.bytes += len(block); f.bytes >= maxBatchBytes/2 || len(f.batch.Sizes) >= maxBatch {
		f.flush()
	}
}

func (f *feed) flush() {
	if len(f.batch.Sizes) > 0 {
		_ = f.v.tell(request{Place: &f.batch}, f.parts...)
		f.batch, f.parts, f.bytes = placeReq{}, nil, 0
	}
}
