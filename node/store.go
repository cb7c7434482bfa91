package node

import (
	"context"
	"fmt"
	"strings"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"

	"godwit/scheduler"
)

// statePrefix is where the machines' pairs live in the node's datastore. The
// blocks have a prefix of their own.
const statePrefix = "/state"

// A store keeps the machines' durable pairs.
type store struct{ ds ds.Batching }

// commit makes a batch of changes durable, all or none.
func (s store) commit(ctx context.Context, changes []scheduler.Persist) error {
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

// load returns every pair whose key begins with prefix, which ends in "/".
func (s store) load(ctx context.Context, prefix string) (map[string][]byte, error) {
	res, err := s.ds.Query(ctx, query.Query{Prefix: statePrefix + "/" + prefix})
	if err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	defer res.Close()
	out := map[string][]byte{}
	for r := range res.Next() {
		if r.Error != nil {
			return nil, fmt.Errorf("reading state: %w", r.Error)
		}
		out[strings.TrimPrefix(r.Key, statePrefix+"/")] = r.Value
	}
	return out, nil
}

func stateKey(k string) ds.Key { return ds.RawKey(statePrefix + "/" + k) }

// keys returns the key of every pair whose key begins with prefix, which ends in
// "/".
func (s store) keys(ctx context.Context, prefix string) ([]string, error) {
	res, err := s.ds.Query(ctx, query.Query{Prefix: statePrefix + "/" + prefix, KeysOnly: true})
	if err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	defer res.Close()
	var out []string
	for r := range res.Next() {
		if r.Error != nil {
			return nil, fmt.Errorf("reading state: %w", r.Error)
		}
		out = append(out, strings.TrimPrefix(r.Key, statePrefix+"/"))
	}
	return out, nil
}
