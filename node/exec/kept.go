package exec

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/sandbox"
	"godwit/task"
)

const (
	// keptMost bounds the states that a node keeps at boundaries, in bytes of blocks. Beyond it
	// every second goes of the run that has most.
	keptMost = 1 << 30
	// keptFor is how long they are kept after the run, unless they are released before.
	keptFor = task.KeptFor
	// keptPage is what a page counts at least: its block takes that much beside its bytes. keptLink
	// is about what its name takes in the tree of each state that has it.
	keptPage = 512
	keptLink = 112
)

// A keeping is the states at boundaries that are kept here, for whoever may run intervals of a
// task again. It is safe for any goroutine.
type keeping struct {
	mu    sync.Mutex
	most  int64
	bytes int64
	runs  []*keptRun // the oldest first
	disk  keptDisk
	// newest is the last state of each run that goes on, also where it is not kept for others: the
	// sandbox sends no page again that it has, and the task's next checkpoint may need it.
	newest map[*keptRun]task.CID
}

// A keptRun is what is kept of one run of a task.
type keptRun struct {
	task      task.TaskID
	of        overlay.ID
	submitter task.PeerID
	spacing   uint64 // of what is kept
	states    []keptState
	pages     map[[32]byte]*keptBlock
	bytes     int64
	told      []telling // what was signed of it, the earliest first
	until     time.Time // the zero time while the task runs
	unseen    bool      // since the node began: what of it is there is not known
}

// A telling is boundaries that this node signed as those that its run had come to.
type telling struct {
	root []byte // of of
	of   []task.Boundary
}

// maxTold bounds those of one run: the first, and the last. Of a state that was told of before nobody is likely to go
// on.
const maxTold = 8

// tell notes boundaries that are signed of a run that is kept, and reports whether that is news.
func (k *keeping) tell(r *keptRun, of []task.Boundary) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	root := task.TrailRoot(of)
	if len(of) == 0 || !slices.Contains(k.runs, r) ||
		slices.ContainsFunc(r.told, func(t telling) bool { return bytes.Equal(t.root, root) }) {
		return false
	}
	if r.told = append(r.told, telling{root, slices.Clone(of)}); len(r.told) > maxTold {
		r.told = slices.Delete(r.told, 1, 2) // the first is the name of its pair
	}
	return true
}

type keptState struct {
	task.Boundary
	cid   task.CID // "" of one that went
	pages [][32]byte
	own   int64 // bytes of its manifest
}

// alone is how many bytes a state takes beside its pages: its manifest, and the tree.
func (s *keptState) alone() int64 { return s.own + keptLink*int64(len(s.pages)) }

// A keptBlock is a page of how many states, and how many bytes its block has.
type keptBlock struct{ states, bytes int64 }

// begin returns a run of which states will be kept.
func (k *keeping) begin(r keptRun) *keptRun {
	r.pages = map[[32]byte]*keptBlock{}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.runs = append(k.runs, &r)
	if k.newest == nil {
		k.newest = map[*keptRun]task.CID{}
	}
	k.newest[&r] = ""
	return &r
}

// add keeps a state, and reports whether any is kept of the run still.
func (k *keeping) add(r *keptRun, s keptState, size func(h [32]byte) int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.newest[r] = s.cid
	if !slices.Contains(k.runs, r) {
		return false
	}
	before := r.bytes
	if n := len(r.states); n > 0 && s.Fuel <= r.states[n-1].Fuel { // the task begins anew
		r.states, r.pages, r.bytes = nil, map[[32]byte]*keptBlock{}, 0
	}
	r.spacing = task.SpacingAt(r.spacing, s.Fuel)
	r.states = append(r.states, s)
	r.bytes += s.alone()
	r.hold(s.pages, size)
	r.thin()
	k.bytes += r.bytes - before
	for k.bytes > k.most && len(k.runs) > 0 {
		k.shrink()
	}
	return slices.Contains(k.runs, r)
}

// shrink frees some of what the run has that has most.
func (k *keeping) shrink() {
	r := slices.MaxFunc(k.runs, func(a, b *keptRun) int {
		switch {
		case a.bytes < b.bytes:
			return -1
		case a.bytes > b.bytes:
			return 1
		}
		return 0
	})
	kept := 0
	for i := range r.states {
		if r.states[i].cid != "" {
			kept++
		}
	}
	if kept <= 1 {
		k.drop(r)
		return
	}
	before := r.bytes
	r.spacing *= 2
	r.thin()
	k.bytes -= before - r.bytes
}

func (k *keeping) drop(r *keptRun) {
	if i := slices.Index(k.runs, r); i >= 0 {
		k.runs = slices.Delete(k.runs, i, i+1)
		k.bytes -= r.bytes
		k.disk.gone(r)
	}
}

func (r *keptRun) hold(pages [][32]byte, size func(h [32]byte) int64) {
	for _, h := range pages {
		b := r.pages[h]
		if b == nil {
			b = &keptBlock{bytes: max(size(h), keptPage)}
			r.pages[h] = b
			r.bytes += b.bytes
		}
		b.states++
	}
}

// thin lets go of the states that do not lie at the run's spacing.
func (r *keptRun) thin() {
	last := uint64(0)
	for i := range r.states {
		s := &r.states[i]
		if keep := task.Crosses(last, s.Fuel, r.spacing); !keep && s.cid != "" {
			for _, h := range s.pages {
				if b := r.pages[h]; b != nil {
					if b.states--; b.states == 0 {
						r.bytes -= b.bytes
						delete(r.pages, h)
					}
				}
			}
			r.bytes -= s.alone()
			s.cid, s.pages = "", nil
		}
		last = s.Fuel
	}
}

// end notes that the run is over with a trail that its worker signs; empty for none: then what is kept is for who goes
// on from a state of it that was signed before.
func (k *keeping) end(r *keptRun, of []task.Boundary, now time.Time) {
	k.tell(r, of)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.newest, r)
	if len(r.told) == 0 {
		k.drop(r)
		return
	}
	if r.until = now.Add(keptFor); len(of) == 0 {
		return
	}
	states := make([]keptState, len(of))
	for i, b := range of {
		states[i].Boundary = b
		for _, s := range r.states {
			if s.Boundary == b {
				states[i] = s
			}
		}
	}
	r.states = states
}

// find returns what is kept of a run, by boundaries that were told of it, and these; nil for nothing.
func (k *keeping) find(id task.TaskID, root []byte, now time.Time) (*keptRun, []task.Boundary) {
	k.expire(now)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.runs {
		if r.unseen || r.task != id {
			continue
		}
		for _, t := range r.told {
			if bytes.Equal(t.root, root) {
				return r, t.of
			}
		}
	}
	return nil, nil
}

// expire forgets what is too old.
func (k *keeping) expire(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range slices.Clone(k.runs) {
		if !r.until.IsZero() && now.After(r.until) {
			k.drop(r)
		}
	}
}

// roots lists the states.
func (k *keeping) roots() []task.CID {
	out := k.rootsOf(func(*keptRun) bool { return true })
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.newest {
		if c != "" {
			out = append(out, c)
		}
	}
	return out
}

// rootsOf lists the states that are kept for others of some runs.
func (k *keeping) rootsOf(which func(*keptRun) bool) (out []task.CID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.runs {
		if !which(r) {
			continue
		}
		for i := range r.states {
			if c := r.states[i].cid; c != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// Kept returns the states that are kept of a task's run, for the member of an overlay that
// submitted it, by the root of the trail that was signed here. With done they are released. Its
// error is ErrLost where there are none, and ErrRefused for anybody else. It is safe for any goroutine.
func (x *Executor) Kept(of overlay.ID, by task.PeerID, id task.TaskID, root []byte, done bool) (
	*task.KeptStates, error) {
	k := &x.kept
	defer x.forgetKept()
	r, told := k.find(id, root, x.Host.Now())
	switch {
	case !done && lies("refusing"), r != nil && (r.of != of || r.submitter != by):
		return nil, ErrRefused
	case r == nil:
		return nil, ErrLost
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	out := r.named(told)
	if done {
		k.drop(r)
	}
	return out, nil
}

// keepsOf prepares to keep the states at the boundaries of an attempt's run; nil where nobody may
// want them.
func (c *core) keepsOf(ctx context.Context, a *attempt, s *saving) *keptRun {
	if s == nil || a.job == nil || a.job.spec.Verify == nil || a.audit != nil {
		return nil
	}
	b, err := c.Content.Blocks().Get(ctx, task.CID(a.name.Task.Job))
	if err != nil {
		return nil // nobody could ask for them
	}
	rec, err := task.DecodeRecord(b)
	if err != nil {
		return nil
	}
	return c.kept.begin(keptRun{task: a.name.Task, of: a.of.Overlay(), submitter: rec.Submitter(),
		spacing: a.job.spec.Spacing()})
}

// keepStates has the states at the boundaries of an attempt's run kept, and returns what is to be
// called with what came of it, before that is signed.
func (c *core) keepStates(a *attempt, s *saving) func(*sandbox.Report, *task.Result) {
	if a.audit != nil {
		return a.audit.saw
	}
	r := c.keepsOf(a.context, a, s)
	if s != nil {
		s.keeps = r
	}
	if r == nil {
		return func(*sandbox.Report, *task.Result) {}
	}
	s.OnState = func(at task.Boundary, manifest []byte) bool { return c.keepAt(a.context, a, s, r, at, manifest) }
	return func(rep *sandbox.Report, res *task.Result) {
		var of []task.Boundary
		if res.Trail != nil {
			of = rep.Trail
		}
		c.kept.end(r, of, c.Host.Now())
		c.saveKept(r)
	}
}

// keepAt keeps the state at a boundary. It reports whether later ones are wanted.
func (c *core) keepAt(ctx context.Context, a *attempt, s *saving, r *keptRun, at task.Boundary, manifest []byte) bool {
	if err := c.Content.MakeRoom(ctx, int64(len(manifest)), false); err != nil {
		return c.keepNoMore(a, r, err) // what is kept for audits is no reason to run full
	}
	root, err := s.pages.tree(manifest)
	if err != nil {
		c.Content.Failed(err)
		return c.keepNoMore(a, r, err)
	}
	pages, err := s.pages.of(manifest)
	if err != nil {
		return c.keepNoMore(a, r, err)
	}
	slices.SortFunc(pages, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	return c.kept.add(r, keptState{Boundary: at, cid: root, pages: slices.Compact(pages), own: int64(len(manifest))},
		s.pages.sizeOf)
}

func (c *core) keepNoMore(a *attempt, r *keptRun, err error) bool {
	c.Log.Info("states for audits are not kept", "task", a.name.Task.String(), "err", err)
	c.kept.mu.Lock()
	defer c.kept.mu.Unlock()
	c.kept.drop(r)
	return false
}

// sizeOf is how many bytes the block of a page has.
func (s *pageStore) sizeOf(h [32]byte) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[h].Size
}
