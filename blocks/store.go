package blocks

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/ipfs/go-cid"
	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// Blocks stores content-addressed blocks, and fetches them from other nodes.
// All methods are safe for concurrent use.
type Store struct {
	store ds.Batching
	net   Network // for Fetch; nil before Connect

	size  atomic.Int64 // bytes stored
	quota Budget       // nil: no limit
	mu    sync.Mutex   // held while a batch is prepared and written
	now   func() time.Time
}

// A Network opens streams to the nodes that blocks are fetched from: a p2p.Host.
type Network interface {
	// AskBlocks opens a stream to a peer, on which its Serve answers, or takes one that was kept. end keeps one that is
	// settled, and breaks any other
	// off and must be called; it ends with ctx too.
	AskBlocks(ctx context.Context, to task.PeerID) (s *wire.Stream, end func(), err error)
	// Other returns a peer's ID as everybody writes it. It fails for a text that is
	// none, and for this node's own.
	Other(p task.PeerID) (task.PeerID, error)
}

// Connect gives Fetch a network. It may be called once, before the first Fetch that
// is to have one.
func (b *Store) Connect(n Network) { b.net = n }

// New opens the blocks of a datastore, and adds up their sizes: about a second for
// a million.
func New(ctx context.Context, store ds.Batching) (*Store, error) {
	b := &Store{store: store, now: time.Now}
	results, err := store.Query(ctx, query.Query{Prefix: sizePrefix})
	if err != nil {
		return nil, fmt.Errorf("blocks: reading the block store: %w", err)
	}
	defer results.Close()
	for r := range results.Next() {
		if r.Error != nil {
			return nil, fmt.Errorf("blocks: reading the block store: %w", r.Error)
		}
		n, _ := binary.Uvarint(r.Value)
		b.size.Add(int64(n))
	}
	return b, nil
}

// Size returns the bytes stored, without the store's own overhead.
func (b *Store) Size() int64 { return b.size.Load() }

// A Budget bounds what a Store keeps, maybe together with others. It may not call the
// Store.
type Budget interface {
	// Reserve counts bytes that are about to be stored, or says why they may not be.
	Reserve(bytes int64) error
	// Release takes back what was reserved and was not stored, or was removed.
	Release(bytes int64)
}

// Keep has the Store refuse blocks that a budget has no room for, with ErrQuota. It may be
// called once, before the Store is used; what is here already is reserved by the caller.
func (b *Store) Keep(within Budget) { b.quota = within }

// resized notes how many bytes more, or with less than 0 fewer, are stored.
func (b *Store) resized(bytes int64) {
	b.size.Add(bytes)
	if bytes < 0 && b.quota != nil {
		b.quota.Release(-bytes)
	}
}

// Sync makes all blocks stored so far survive the end of the machine.
func (b *Store) Sync(ctx context.Context) error {
	if err := b.store.Sync(ctx, ds.NewKey("/blocks")); err != nil {
		return fmt.Errorf("blocks: syncing blocks: %w", err)
	}
	return nil
}

// Get returns one block, or ErrNotFound.
func (b *Store) Get(ctx context.Context, c task.CID) ([]byte, error) {
	id, err := parseCID(c)
	if err != nil {
		return nil, err
	}
	return b.get(ctx, id)
}

func (b *Store) get(ctx context.Context, c cid.Cid) ([]byte, error) {
	data, err := b.store.Get(ctx, dataKey(digestOf(c)))
	if errors.Is(err, ds.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, c)
	}
	if err != nil {
		return nil, fmt.Errorf("blocks: reading block %s: %w", c, err)
	}
	return data, nil
}

// A viewer is a store that shows a value without a copy; view calls see with it,
// which may not keep it. Its error is ds.ErrNotFound when there is no such key.
type viewer interface {
	View(k ds.Key, see func([]byte) error) error
}

// view calls see with the bytes of a block, which are not see's to keep. It
// returns ErrNotFound without calling it, or what see returns.
func (b *Store) view(ctx context.Context, c cid.Cid, see func([]byte) error) error {
	store, ok := b.store.(viewer)
	if !ok {
		data, err := b.get(ctx, c)
		if err != nil {
			return err
		}
		return see(data)
	}
	err := store.View(dataKey(digestOf(c)), see)
	if errors.Is(err, ds.ErrNotFound) {
		return fmt.Errorf("%w: %s", ErrNotFound, c)
	}
	return err
}
