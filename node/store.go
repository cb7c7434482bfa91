package node

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"

	"godwit/scheduler/message"
)

// statePrefix is where the machines' pairs live in the node's datastore. The
// blocks have a prefix of their own.
const statePrefix = "/state"

// A store keeps the machines' durable pairs.
type store struct{ ds ds.Batching }

// commit makes a batch of changes durable, all or none.
func (s store) commit(ctx context.Context, changes []message.Persist) error {
	if len(changes) == 0 {
		return nil
	}
	if err := s.write(ctx, changes); err != nil {
		return fmt.Errorf("saving state: %w", err)
	}
	return nil
}

func (s store) write(ctx context.Context, changes []message.Persist) error {
	b, err := s.ds.Batch(ctx)
	if err != nil {
		return fmt.Errorf("opening a batch: %w", err)
	}
	for _, p := range changes {
		key := stateKey(p.Key)
		if p.Value == nil {
			err = b.Delete(ctx, key)
		} else {
			err = b.Put(ctx, key, p.Value)
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", p.Key, err)
		}
	}
	if err := b.Commit(ctx); err != nil {
		return fmt.Errorf("committing %d changes: %w", len(changes), err)
	}
	if err := s.ds.Sync(ctx, ds.NewKey(statePrefix)); err != nil {
		return fmt.Errorf("syncing: %w", err)
	}
	return nil
}

// load returns every pair whose key begins with prefix, which ends in "/". Where
// space is not empty the keys are of that space, and returned without it.
func (s store) load(ctx context.Context, space, prefix string) (map[string][]byte, error) {
	var err error
	out := maps.Collect(s.scan(ctx, space, prefix, &err))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// scan gives the same pairs one after the other. When reading fails it ends early
// and says why in failed.
func (s store) scan(ctx context.Context, space, prefix string, failed *error) iter.Seq2[string, []byte] {
	root := statePrefix + "/" + space
	return func(yield func(string, []byte) bool) {
		res, err := s.ds.Query(ctx, query.Query{Prefix: root + prefix})
		if err != nil {
			*failed = fmt.Errorf("reading state: %w", err)
			return
		}
		defer res.Close()
		for r := range res.Next() {
			if r.Error != nil {
				*failed = fmt.Errorf("reading state: %w", r.Error)
				return
			}
			if !yield(strings.TrimPrefix(r.Key, root), r.Value) {
				return
			}
		}
	}
}

// get returns one value; an error wraps ds.ErrNotFound when there is none.
func (s store) get(ctx context.Context, key string) ([]byte, error) {
	b, err := s.ds.Get(ctx, stateKey(key))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return b, nil
}

func stateKey(k string) ds.Key { return ds.RawKey(statePrefix + "/" + k) }

// keys returns the key of every pair whose key begins with prefix, which ends in
// "/": of few.
func (s store) keys(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	err := s.eachKey(ctx, prefix, func(key string) { out = append(out, key) })
	return out, err
}

// eachKey calls f with the key of every pair whose key begins with prefix, which
// ends in "/". None is held longer: there may be a million.
func (s store) eachKey(ctx context.Context, prefix string, f func(key string)) error {
	res, err := s.ds.Query(ctx, query.Query{Prefix: statePrefix + "/" + prefix, KeysOnly: true})
	if err != nil {
		return fmt.Errorf("reading state: %w", err)
	}
	defer res.Close()
	for r := range res.Next() {
		if r.Error != nil {
			return fmt.Errorf("reading state: %w", r.Error)
		}
		f(strings.TrimPrefix(r.Key, statePrefix+"/"))
	}
	return nil
}

// spaces returns the prefixes of all overlays of which something is kept.
func (s store) spaces(ctx context.Context) ([]string, error) {
	var out []string // as keys are in order, those of an overlay come together
	err := s.eachKey(ctx, overlayPrefix, func(key string) {
		if len(out) > 0 && strings.HasPrefix(key, out[len(out)-1]) {
			return
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(key, overlayPrefix), "/")
		out = append(out, overlayPrefix+id+"/")
	})
	slices.Sort(out)
	return slices.Compact(out), err
}
