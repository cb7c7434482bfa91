package blocks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"godwit/blocks/disk"

	ds "github.com/ipfs/go-datastore"
)

// useGrain is how exactly the last use of a block is kept. Content that is asked
// for again and again is then written down once in that time.
const useGrain = 10 * time.Minute

// stored returns the size of a block and when it was last used, and whether it is
// here.
func (b *Store) stored(ctx context.Context, d digest) (stored, bool, error) {
	v, err := b.store.Get(ctx, sizeKey(d))
	if errors.Is(err, ds.ErrNotFound) {
		return stored{}, false, nil
	}
	if err != nil {
		return stored{}, false, fmt.Errorf("blocks: looking for a block: %w", err)
	}
	s := readStored(v)
	v, err = b.store.Get(ctx, useKey(d))
	if err != nil && !errors.Is(err, ds.ErrNotFound) {
		return stored{}, false, fmt.Errorf("blocks: looking for a block: %w", err)
	}
	if at := readTime(v); err == nil && at.After(s.at) {
		s.at = at
	}
	return s, true, nil
}

// use is has for somebody who goes on to rely on the block: it is young from now,
// so that Collect leaves it.
func (b *Store) use(ctx context.Context, d digest) (size int64, have bool, err error) {
	now := b.now()
	s, have, err := b.stored(ctx, d)
	if err != nil || !have || now.Sub(s.at) < useGrain {
		return s.bytes, have, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	n, have, err := b.has(ctx, d) // it may have been collected meanwhile
	if err != nil || !have {
		return 0, have, err
	}
	return n, true, b.noteUse(ctx, d, now)
}

// noteUse writes down that a block is used; b.mu is held. On a full disk it does
// not: nothing is collected there that would need to be held back, and content
// that is here must stay readable.
func (b *Store) noteUse(ctx context.Context, d digest, now time.Time) error {
	err := b.store.Put(ctx, useKey(d), encodeTime(now))
	if err != nil && !errors.Is(err, disk.ErrFull) {
		return fmt.Errorf("blocks: noting the use of a block: %w", err)
	}
	return nil
}

// has returns the size of a block and whether it is here.
func (b *Store) has(ctx context.Context, d digest) (int64, bool, error) {
	v, err := b.store.Get(ctx, sizeKey(d))
	if errors.Is(err, ds.ErrNotFound) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("blocks: looking for a block: %w", err)
	}
	return readStored(v).bytes, true, nil
}
