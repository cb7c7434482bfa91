package p2p

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"godwit/task"

	"github.com/ipfs/go-cid"
	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	mh "github.com/multiformats/go-multihash"
)

// Errors of the block store.
var (
	// ErrNotFound is returned when a block is not stored here, or by no holder.
	ErrNotFound = errors.New("p2p: block not found")
	// ErrBadCID is returned for a CID that is not version 1 with SHA-256 and one
	// of the codecs raw, dag-pb and dag-cbor.
	ErrBadCID = errors.New("p2p: not a CID of ours (version 1, sha2-256, raw, dag-pb or dag-cbor)")
	// ErrQuota is returned when storing would pass the quota.
	ErrQuota = errors.New("p2p: block store is full")
	// ErrDiskFull is returned by whatever writes to the store while the disk has no
	// room. What failed may still be written later, but no later write is overtaken.
	// The store goes on by itself once there is room; see CheckStore.
	ErrDiskFull = errors.New("p2p: disk is full")
	// ErrCorrupt is returned by OpenStore, and by whatever reads, when what is on
	// disk is not what was written. See MoveAside.
	ErrCorrupt = errors.New("p2p: store is corrupt")
	// ErrBroken is returned by whatever writes to the store after the disk failed
	// it. Only opening it again, in a new process, helps.
	ErrBroken = errors.New("p2p: store cannot go on")
)

// putBytes is how many bytes of blocks are written in one batch. Each batch of
// such a size becomes files of its own in the store, and fewer, larger files cost
// less: of 64 MiB, batches of 4 MiB took a sixth more processor time. It is also
// what a transfer holds in memory, twice.
const putBytes = 16 << 20

// Keys. A block's size has a key of its own, so that asking whether a block is
// here, or adding sizes up, does not read the blocks.
const (
	blocksPrefix = "/blocks/"
	dataPrefix   = blocksPrefix + "data/"
	sizePrefix   = blocksPrefix + "size/"
)

var digestText = base32.StdEncoding.WithPadding(base32.NoPadding)

// Blocks stores content-addressed blocks, and fetches them from other nodes.
// All methods are safe for concurrent use.
type Blocks struct {
	store ds.Batching
	host  *Host // for Fetch

	size  atomic.Int64 // bytes stored
	quota atomic.Int64 // 0: no limit
	mu    sync.Mutex   // held while a batch is prepared and written
	now   func() time.Time
}

// A digest is the SHA-256 of a block. Blocks are stored by it: the same bytes
// under two codecs are one block.
type digest [sha256.Size]byte

// A block is bytes and their CID, which match.
type block struct {
	cid  cid.Cid
	data []byte
}

// NewBlocks opens the blocks of a store, and adds up their sizes: about a
// second for a million. A Host has its own; see Host.Blocks.
func NewBlocks(ctx context.Context, store ds.Batching) (*Blocks, error) {
	b := &Blocks{store: store, now: time.Now}
	results, err := store.Query(ctx, query.Query{Prefix: sizePrefix})
	if err != nil {
		return nil, fmt.Errorf("p2p: reading the block store: %w", err)
	}
	defer results.Close()
	for r := range results.Next() {
		if r.Error != nil {
			return nil, fmt.Errorf("p2p: reading the block store: %w", r.Error)
		}
		n, _ := binary.Uvarint(r.Value)
		b.size.Add(int64(n))
	}
	return b, nil
}

// Size returns the bytes stored, without the store's own overhead.
func (b *Blocks) Size() int64 { return b.size.Load() }

// SetQuota refuses blocks that would bring Size above so many bytes; 0 is no
// limit. Nothing is removed.
func (b *Blocks) SetQuota(bytes int64) { b.quota.Store(bytes) }

// Sync makes all blocks stored so far survive the end of the machine.
func (b *Blocks) Sync(ctx context.Context) error {
	if err := b.store.Sync(ctx, ds.NewKey("/blocks")); err != nil {
		return fmt.Errorf("p2p: syncing blocks: %w", err)
	}
	return nil
}

// Get returns one block, or ErrNotFound.
func (b *Blocks) Get(ctx context.Context, c task.CID) ([]byte, error) {
	id, err := parseCID(c)
	if err != nil {
		return nil, err
	}
	return b.get(ctx, id)
}

func (b *Blocks) get(ctx context.Context, c cid.Cid) ([]byte, error) {
	data, err := b.store.Get(ctx, dataKey(digestOf(c)))
	if errors.Is(err, ds.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, c)
	}
	if err != nil {
		return nil, fmt.Errorf("p2p: reading block %s: %w", c, err)
	}
	return data, nil
}

// A viewer is a store that shows a value without a copy; view calls see with it,
// which may not keep it. Its error is ds.ErrNotFound when there is no such key.
type viewer interface {
	view(k ds.Key, see func([]byte) error) error
}

// view calls see with the bytes of a block, which are not see's to keep. It
// returns ErrNotFound without calling it, or what see returns.
func (b *Blocks) view(ctx context.Context, c cid.Cid, see func([]byte) error) error {
	store, ok := b.store.(viewer)
	if !ok {
		data, err := b.get(ctx, c)
		if err != nil {
			return err
		}
		return see(data)
	}
	err := store.view(dataKey(digestOf(c)), see)
	if errors.Is(err, ds.ErrNotFound) {
		return fmt.Errorf("%w: %s", ErrNotFound, c)
	}
	return err
}

// PutRecord stores a block of dag-cbor, such as a job's record, and returns its
// CID. Links inside are not followed, here or by Fetch.
func (b *Blocks) PutRecord(ctx context.Context, data []byte) (task.CID, error) {
	if len(data) > MaxBlock {
		return "", fmt.Errorf("%w: record of %d bytes, at most %d", ErrTooLarge, len(data), MaxBlock)
	}
	c := cidOf(cid.DagCBOR, data)
	return textOf(c), b.put(ctx, []block{{c, data}})
}

// put writes blocks in one batch; those that are here already are only noted as
// used.
func (b *Blocks) put(ctx context.Context, blocks []block) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	batch, err := b.store.Batch(ctx)
	if err != nil {
		return fmt.Errorf("p2p: storing blocks: %w", err)
	}
	now := b.now()
	var added, count int64
	for _, bl := range blocks {
		d := digestOf(bl.cid)
		if s, have, err := b.stored(ctx, d); err != nil {
			return err
		} else if have {
			if now.Sub(s.at) < useGrain {
				continue
			}
			if err := b.noteUse(ctx, d, now); err != nil {
				return err
			}
			continue
		}
		added, count = added+int64(len(bl.data)), count+1
		err := errors.Join(
			batch.Put(ctx, dataKey(d), bl.data),
			batch.Put(ctx, sizeKey(d), stored{bytes: int64(len(bl.data)), at: now}.encode()))
		if err != nil {
			return fmt.Errorf("p2p: storing block %s: %w", bl.cid, err)
		}
	}
	if count == 0 {
		return nil
	}
	if quota := b.quota.Load(); quota > 0 && b.size.Load()+added > quota {
		return fmt.Errorf("%w: %d bytes stored, %d more, %d allowed", ErrQuota, b.size.Load(), added, quota)
	}
	if err := batch.Commit(ctx); err != nil {
		return fmt.Errorf("p2p: storing blocks: %w", err)
	}
	b.size.Add(added)
	return nil
}

// Delete removes one block; one that is not here is no error.
func (b *Blocks) Delete(ctx context.Context, c task.CID) error {
	id, err := parseCID(c)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := digestOf(id)
	n, have, err := b.has(ctx, d)
	if err != nil || !have {
		return err
	}
	batch, err := b.store.Batch(ctx)
	if err == nil {
		err = deleteBlock(ctx, batch, d)
	}
	if err == nil {
		err = batch.Commit(ctx)
	}
	if err != nil {
		return fmt.Errorf("p2p: deleting block %s: %w", c, err)
	}
	b.size.Add(-n)
	return nil
}

// deleteBlock has a batch delete a block and what is kept about it.
func deleteBlock(ctx context.Context, batch ds.Batch, d digest) error {
	return errors.Join(batch.Delete(ctx, sizeKey(d)), batch.Delete(ctx, dataKey(d)), batch.Delete(ctx, useKey(d)))
}

func parseCID(c task.CID) (cid.Cid, error) {
	id, err := cid.Decode(string(c))
	if err != nil || !acceptable(id) || id.String() != string(c) {
		return cid.Undef, fmt.Errorf("%w: %q", ErrBadCID, c)
	}
	return id, nil
}

// acceptable reports whether a CID is of the kinds that we make and fetch.
func acceptable(c cid.Cid) bool {
	p := c.Prefix()
	return p.Version == 1 && p.MhType == mh.SHA2_256 && p.MhLength == sha256.Size &&
		(p.Codec == cid.Raw || p.Codec == cid.DagProtobuf || p.Codec == cid.DagCBOR)
}

// digestOf returns the digest in an acceptable CID: its last bytes.
func digestOf(c cid.Cid) digest {
	h := c.Hash()
	return digest(h[len(h)-sha256.Size:])
}

// cidOf hashes. The standard library's SHA-256 uses the processor's
// instructions where it has them.
func cidOf(codec uint64, data []byte) cid.Cid {
	sum := sha256.Sum256(data)
	return cidFrom(codec, sum)
}

func cidFrom(codec uint64, d digest) cid.Cid {
	hash := append([]byte{mh.SHA2_256, sha256.Size}, d[:]...)
	return cid.NewCidV1(codec, hash)
}

func textOf(c cid.Cid) task.CID { return task.CID(c.String()) }

func dataKey(d digest) ds.Key { return ds.RawKey(dataPrefix + digestText.EncodeToString(d[:])) }
func sizeKey(d digest) ds.Key { return ds.RawKey(sizePrefix + digestText.EncodeToString(d[:])) }
