package p2p

import (
	"bytes"
	"io"
	"testing"

	ds "github.com/ipfs/go-datastore"
)

// What was synced is there when the store is opened again, blocks and other keys.
func TestStoreKeeps(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	store, err := OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := NewBlocks(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("godwit "), 100_000)
	root, err := blocks.ImportBytes(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(ctx, ds.NewKey("/node/state"), []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := blocks.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	size := blocks.Size()
	if err := store.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}

	store, err = OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.(io.Closer).Close()
	if blocks, err = NewBlocks(ctx, store); err != nil || blocks.Size() != size {
		t.Fatalf("opened again: %d bytes, %v; want %d", blocks.Size(), err, size)
	}
	f, _, err := blocks.Open(ctx, root)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if v, err := store.Get(ctx, ds.NewKey("/node/state")); string(v) != "kept" || err != nil {
		t.Errorf("other key: %q, %v", v, err)
	}
}
