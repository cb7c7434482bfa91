package blocks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ipfs/go-datastore/query"
)

// An unneeded block is one that no root reaches.
type unneeded struct {
	digest digest
	bytes  int64
	used   time.Time
}

// Evict removes blocks that Collect would remove, those first that were used longest ago,
// until so many bytes are gone, or all of them.
func (b *Store) Evict(ctx context.Context, roots Roots, olderThan time.Duration, bytes int64) (Collected, error) {
	before := b.now().Add(-olderThan - useGrain)
	marks, err := b.markAll(ctx, roots)
	if err != nil {
		return Collected{}, err
	}
	old, err := b.unneeded(ctx, marks, before)
	if err != nil {
		return Collected{}, fmt.Errorf("blocks: making room: %w", err)
	}
	slices.SortFunc(old, func(a, b unneeded) int { return a.used.Compare(b.used) })
	var gone Collected
	for len(old) > 0 && gone.Bytes < bytes {
		var step []digest
		for sum := gone.Bytes; len(old) > 0 && len(step) < collectStep && sum < bytes; old = old[1:] {
			step, sum = append(step, old[0].digest), sum+old[0].bytes
		}
		if err := b.remove(ctx, step, before, &gone); err != nil {
			return gone, fmt.Errorf("blocks: making room: %w", err)
		}
	}
	if err := b.compact(ctx, gone); err != nil {
		return gone, fmt.Errorf("blocks: making room: %w", err)
	}
	return gone, nil
}

// unneeded lists the blocks that are not marked and were not used since a time.
func (b *Store) unneeded(ctx context.Context, m marks, before time.Time) (old []unneeded, err error) {
	results, err := b.store.Query(ctx, query.Query{Prefix: sizePrefix})
	if err != nil {
		return nil, err
	}
	defer results.Close()
	for r := range results.Next() {
		if r.Error != nil {
			return nil, r.Error
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, ok := digestIn(r.Key, sizePrefix)
		if _, marked := m[d]; !ok || marked || !readStored(r.Value).at.Before(before) {
			continue
		}
		s, have, err := b.stored(ctx, d)
		if err != nil {
			return nil, err
		}
		if have && s.at.Before(before) {
			old = append(old, unneeded{d, s.bytes, s.at})
		}
	}
	return old, nil
}
