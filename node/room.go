package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	ds "github.com/ipfs/go-datastore"

	"godwit/blocks"
	"godwit/blocks/disk"
	"godwit/node/budget"
	"godwit/owner/sensor"
	"godwit/task"
)

const (
	// workShare is how much of the budget new work may fill; the rest is for what the
	// node has promised: results, states of tasks, its own books.
	workShare = 0.9
	// modulesShare is how much of it compiled modules may take though nothing else needs
	// the space.
	modulesShare = 4
	// refusedFor is how long the owner is told that something had no room.
	refusedFor = 10 * time.Minute
)

// A room keeps what the node stores within what its owner lends. It is safe for any
// goroutine.
type room struct {
	budget budget.Disk
	data   sensor.DataDir // all of which counts; "" for a node in memory
	turn   chan struct{}  // has one, but while room is made
	evict  func(ctx context.Context, bytes int64) error

	mu      sync.Mutex
	refused string    // why something had no room the last time
	at      time.Time // when
}

// newRoom returns one whose evict is still to be set.
func newRoom(cfg *Config, stored *blocks.Store) *room {
	r := &room{data: sensor.DataDir{Dir: cfg.DataDir}, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	r.budget.Yield(&budget.Dir{Path: cfg.cacheDir(), Stay: "key"})
	_ = r.budget.Reserve(budget.Blocks, stored.Size()) // there is no bound yet
	stored.Keep(lentSpace{r, budget.Blocks})
	r.measure()
	return r
}

// A lentSpace is one use of the room.
type lentSpace struct {
	room *room
	use  budget.Use
}

// Reserve counts bytes that are about to be written.
func (s lentSpace) Reserve(bytes int64) error {
	err := s.room.budget.Reserve(s.use, bytes)
	if err != nil {
		s.room.refuse(err)
	}
	return err
}

// Release takes back what was reserved.
func (s lentSpace) Release(bytes int64) { s.room.budget.Release(s.use, bytes) }

// make returns when there is room for so many bytes more, or says why there is none.
// Compiled modules go first, then content that nothing needs.
func (r *room) make(ctx context.Context, bytes int64, owed bool) error {
	share := workShare
	if owed {
		share = 1
	}
	if r.budget.Lacking(bytes, share) == 0 {
		return nil
	}
	select {
	case <-r.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { r.turn <- struct{}{} }()
	r.measure()
	lacking := r.budget.Lacking(bytes, share)
	if lacking > r.budget.Used(budget.Modules)+r.budget.Used(budget.Blocks) { // nothing goes for what can never fit
		return r.refuse(r.budget.Full(bytes, share))
	}
	if lacking > 0 {
		r.budget.ShrinkModules(lacking)
		lacking = r.budget.Lacking(bytes, share)
	}
	if lacking > 0 {
		if err := r.evict(ctx, lacking); err != nil {
			return err
		}
		r.measure()
		lacking = r.budget.Lacking(bytes, share)
	}
	if lacking > 0 {
		return r.refuse(r.budget.Full(bytes, share))
	}
	return nil
}

// measure counts what is there, and has compiled modules take no more than their part.
func (r *room) measure() {
	all, err := r.data.Size()
	if err != nil {
		return // what was counted holds
	}
	r.budget.Measured(all)
	if over := r.budget.Used(budget.Modules) - r.budget.Most()/modulesShare; over > 0 && r.budget.Most() > 0 {
		r.budget.ShrinkModules(over)
	}
}

// near reports whether new work would soon find no room.
func (r *room) near() bool { return r.budget.Lacking(0, crampedShare*workShare) > 0 }

// refuse notes why something had no room, for the owner.
func (r *room) refuse(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused, r.at = err.Error(), time.Now()
	return err
}

// notice is what the owner is told; "" for nothing.
func (r *room) notice() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == "" || time.Since(r.at) > refusedFor {
		return ""
	}
	return r.refused
}

// open opens the blocks of a datastore, and the room that they share with all else. What
// is to go when that is short of space is still to be said.
func (c *content) open(ctx context.Context, cfg *Config, data ds.Batching) (err error) {
	if c.blocks, err = blocks.New(ctx, data); err != nil {
		return fmt.Errorf("opening the blocks: %w", err)
	}
	c.room = newRoom(cfg, c.blocks)
	return nil
}

// MakeRoom makes room for so many bytes more, or says why there is none.
func (c *content) MakeRoom(ctx context.Context, bytes int64, owed bool) error {
	return c.room.make(ctx, bytes, owed)
}

// evict removes content that nothing needs, what was used longest ago first.
func (co collector) evict(ctx context.Context, bytes int64) error {
	gone, err := co.content.blocks.Evict(ctx, co.roots(ctx), crampedAge, bytes)
	if gone.Blocks > 0 {
		co.log.Info("blocks removed to make room", "blocks", gone.Blocks, "size", task.FormatSize(gone.Bytes))
	}
	return err
}

// isFull tells a disk, or a budget, without room from a disk that fails.
func isFull(err error) bool { return errors.Is(err, disk.ErrFull) || errors.Is(err, budget.ErrFull) }
