package exec

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// What is kept of a run whose result was signed is on the disk, so that it is there still when its
// node begins anew: the states as blocks, and of each run a pair that names them. After a start they
// are looked through, and what is not whole counts for lost.

// Pairs are what outlives the node beside blocks. All may be called from any goroutine.
type Pairs interface {
	// Save makes a value durable under a key, and before it all blocks that were stored; nil
	// deletes the pair.
	Save(ctx context.Context, key string, value []byte) error
	// Load returns all pairs.
	Load(ctx context.Context) (map[string][]byte, error)
}

// ErrLost is returned, and wrapped by Host.States, where states are not kept any more, if they ever
// were: a node that begins anew with an empty disk cannot tell.
var ErrLost = errors.New("node: the states are not here any more")

// A keptDisk is what of a keeping outlives the node.
type keptDisk struct {
	pairs  Pairs
	writes sync.Mutex    // held while a pair is written
	looked chan struct{} // closed when what was there at the start is looked through
	stale  []string      // keys of pairs to be deleted; under the keeping's mu
}

// A keptRecord is the durable form of a keptRun.
type keptRecord struct {
	Job       task.JobID  `cbor:"1,keyasint"`
	Index     uint64      `cbor:"2,keyasint"`
	Of        overlay.ID  `cbor:"3,keyasint"`
	Submitter task.PeerID `cbor:"4,keyasint"`
	Spacing   uint64      `cbor:"5,keyasint"`
	Until     int64       `cbor:"6,keyasint"` // Unix seconds
	Kept      []byte      `cbor:"7,keyasint"` // a task.KeptStates
	// Told are the boundaries that were signed of the run, each a task.KeptStates without CIDs; empty where they
	// are those of Kept.
	Told [][]byte `cbor:"8,keyasint,omitempty"`
}

// keyOfKept is the key of a run's pair.
func keyOfKept(id task.TaskID, root []byte) string {
	const enough = 8 // bytes of a hash, among the runs of one task here
	return fmt.Sprintf("%s/%d/%x", id.Job, id.Index, root[:min(len(root), enough)])
}

// gone notes that a run is not kept any more; k.mu is held.
func (d *keptDisk) gone(r *keptRun) {
	if len(r.told) > 0 {
		d.stale = append(d.stale, keyOfKept(r.task, r.told[0].root))
	}
}

// named are the states of a run at boundaries, as others are told of them; k.mu is held.
func (r *keptRun) named(at []task.Boundary) *task.KeptStates {
	out := &task.KeptStates{}
	for _, b := range at {
		one := task.KeptState{Fuel: b.Fuel, Hash: b.State[:]}
		for i := range r.states {
			if r.states[i].Boundary == b {
				one.CID = r.states[i].cid
			}
		}
		out.States = append(out.States, one)
	}
	return out
}

// boundaries are those whose states a run has, or had; k.mu is held.
func (r *keptRun) boundaries() []task.Boundary {
	out := make([]task.Boundary, len(r.states))
	for i := range r.states {
		out[i] = r.states[i].Boundary
	}
	return out
}

// record returns the pair of a run of which something was signed; a nil value is of one that is not kept.
func (k *keeping) record(r *keptRun, now time.Time) (key string, value []byte, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(r.told) == 0 || !slices.Contains(k.runs, r) {
		return "", nil, nil
	}
	kept, err := task.Encode(r.named(r.boundaries()))
	if err != nil {
		return "", nil, err
	}
	until := r.until
	if until.IsZero() {
		until = now.Add(keptFor)
	}
	rec := keptRecord{Job: r.task.Job, Index: r.task.Index, Of: r.of, Submitter: r.submitter, Spacing: r.spacing,
		Until: until.Unix(), Kept: kept}
	if len(r.told) == 1 && slices.Equal(r.told[0].of, r.boundaries()) {
		value, err = task.Encode(&rec)
		return keyOfKept(r.task, r.told[0].root), value, err
	}
	for _, t := range r.told {
		b, err := task.Encode((&keptRun{}).named(t.of))
		if err != nil {
			return "", nil, err
		}
		rec.Told = append(rec.Told, b)
	}
	value, err = task.Encode(&rec)
	return keyOfKept(r.task, r.told[0].root), value, err
}

// decodeKept reads a pair, which a broken disk may have changed.
func decodeKept(key string, value []byte) (*keptRun, error) {
	var rec keptRecord
	if err := task.Decode(value, &rec); err != nil {
		return nil, err
	}
	kept, err := task.DecodeKept(rec.Kept)
	if err != nil {
		return nil, err
	}
	of := kept.Boundaries()
	r := &keptRun{task: task.TaskID{Job: rec.Job, Index: rec.Index}, of: rec.Of, submitter: rec.Submitter,
		spacing: rec.Spacing, until: time.Unix(rec.Until, 0), unseen: true}
	if len(rec.Told) == 0 {
		r.told = []telling{{task.TrailRoot(of), of}}
	}
	for _, b := range rec.Told {
		told, err := task.DecodeKept(b)
		if err != nil {
			return nil, err
		}
		if len(told.States) == 0 {
			return nil, errors.New("it was told of nothing")
		}
		r.told = append(r.told, telling{task.TrailRoot(told.Boundaries()), told.Boundaries()})
	}
	if len(of) == 0 || rec.Spacing == 0 || len(r.told) > maxTold || keyOfKept(r.task, r.told[0].root) != key {
		return nil, errors.New("it is of no run")
	}
	for i := range of {
		r.states = append(r.states, keptState{Boundary: of[i], cid: kept.States[i].CID})
	}
	return r, nil
}

// saveKept makes a run durable of which something was signed. What is signed does not wait for that: where the
// machine fails in between, the states are lost.
func (c *core) saveKept(r *keptRun) {
	k := &c.kept
	key, value, err := k.record(r, c.Host.Now())
	if value == nil {
		c.keptFailed(err)
		return
	}
	c.spawn(func() {
		k.disk.writes.Lock()
		defer k.disk.writes.Unlock()
		if k.keeps(r) {
			c.keptFailed(k.disk.pairs.Save(context.WithoutCancel(c.ctx), key, value))
		}
	})
	c.forgetKept()
}

// keptFailed says why something is not kept over a restart; nil says nothing.
func (c *core) keptFailed(err error) {
	if err != nil {
		c.Content.Failed(err)
		c.Log.Info("states for audits are lost when this node ends", "err", err)
	}
}

// keeps reports whether something of a run is kept.
func (k *keeping) keeps(r *keptRun) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.runs, r)
}

// forgetKept deletes the pairs of runs that are not kept any more. One that stays, because the node
// ends, is looked at after the next start.
func (c *core) forgetKept() {
	k := &c.kept
	k.mu.Lock()
	stale := k.disk.stale
	k.disk.stale = nil
	k.mu.Unlock()
	if len(stale) == 0 {
		return
	}
	c.spawn(func() {
		k.disk.writes.Lock()
		defer k.disk.writes.Unlock()
		for _, key := range stale {
			if err := k.disk.pairs.Save(context.WithoutCancel(c.ctx), key, nil); err != nil {
				c.Log.Debug("a pair of states that are gone stays", "err", err)
			}
		}
	})
}

// A recall looks through what was kept before the node began.
type recall struct{ *core }

// begin takes it in, and has it looked through. Until then nobody is told of it, and none of its
// blocks goes.
func (c recall) begin() {
	k := &c.kept
	k.disk.looked = make(chan struct{})
	pairs, err := k.disk.pairs.Load(c.ctx)
	if err != nil {
		c.Log.Warn("states that were kept for audits are lost", "err", err)
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		r, err := decodeKept(key, pairs[key])
		if err != nil {
			c.Log.Warn("states that were kept for audits are lost", "key", key, "err", err)
			k.disk.stale = append(k.disk.stale, key)
			continue
		}
		k.runs = append(k.runs, r)
	}
	slices.SortStableFunc(k.runs, func(a, b *keptRun) int { return a.until.Compare(b.until) })
	unseen := slices.Clone(k.runs)
	c.spawn(func() {
		defer close(k.disk.looked)
		k.expire(c.Host.Now())
		for _, r := range unseen {
			if c.ctx.Err() == nil && k.keeps(r) {
				c.lookThrough(r)
			}
		}
		c.forgetKept()
	})
}

// lookThrough finds out which states of a run are whole still, and what they take.
func (c recall) lookThrough(r *keptRun) {
	states, sizes, have := slices.Clone(r.states), map[[32]byte]int64{}, map[task.CID]bool{}
	whole := 0
	for i := range states {
		s := &states[i]
		if s.cid != "" && c.lookAt(s, sizes, have) {
			whole++
			continue
		}
		s.cid, s.pages, s.own = "", nil, 0
	}
	if c.ctx.Err() != nil { // the next start finds it as it is
		return
	}
	c.kept.seen(r, states, whole, func(h [32]byte) int64 { return sizes[h] })
}

// lookAt takes in what a state has, and reports whether all of it is here.
func (c recall) lookAt(s *keptState, sizes map[[32]byte]int64, have map[task.CID]bool) bool {
	links, err := c.Content.Blocks().Tree(c.ctx, s.cid)
	if err != nil {
		return false
	}
	for _, l := range links {
		here, known := have[l.CID]
		if !known {
			here, err = c.Content.Blocks().HasAll(c.ctx, l.CID)
			here = here && err == nil
			have[l.CID] = here
		}
		if !here {
			return false
		}
		if l.Name == manifestName {
			s.own = l.Size
			continue
		}
		h := sha256.Sum256([]byte(l.Name)) // of a sealed job the page's own hash is not known
		sizes[h] = l.Size
		s.pages = append(s.pages, h)
	}
	return true
}

// seen notes what was found of a run that was kept before the node began.
func (k *keeping) seen(r *keptRun, states []keptState, whole int, size func(h [32]byte) int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.runs, r) {
		return
	}
	r.unseen, r.states, r.pages, r.bytes = false, states, map[[32]byte]*keptBlock{}, 0
	for i := range states {
		if s := &states[i]; s.cid != "" {
			r.bytes += s.alone()
			r.hold(s.pages, size)
		}
	}
	k.bytes += r.bytes
	if whole == 0 {
		k.drop(r)
	}
	for k.bytes > k.most && len(k.runs) > 0 {
		k.shrink()
	}
}

// KeptReady returns when what was kept before the node began is looked through, or ctx ends.
func (x *Executor) KeptReady(ctx context.Context) error {
	select {
	case <-x.kept.disk.looked:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// KeptRoots lists the states that are kept for members of an overlay. It is safe for any goroutine.
func (x *Executor) KeptRoots(of overlay.ID) []task.CID {
	return x.kept.rootsOf(func(r *keptRun) bool { return r.of == of })
}
