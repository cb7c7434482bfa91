package disk_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"godwit/blocks"
	"godwit/blocks/disk"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
)

// What was synced is there when the store is opened again, blocks and other keys.
func TestStoreKeeps(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	store, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := blocks.New(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("godwit "), 100_000)
	root, err := b.ImportBytes(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(ctx, ds.NewKey("/node/state"), []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := b.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	size := b.Size()
	if err := store.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}

	store, err = disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.(io.Closer).Close()
	if b, err = blocks.New(ctx, store); err != nil || b.Size() != size {
		t.Fatalf("opened again: %d bytes, %v; want %d", b.Size(), err, size)
	}
	f, _, err := b.Open(ctx, root, blocks.AtMost(1<<40))
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

// Whichever database holds a key, the store reads, lists and deletes it.
func TestStoreOfTwo(t *testing.T) {
	s, err := disk.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	st, ctx := s.(*disk.Store), t.Context()
	log, bulk := st.Databases()
	defer st.Close()
	small, large, other := ds.NewKey("/blocks/data/S"), ds.NewKey("/blocks/data/L"), ds.NewKey("/state/x")
	old := ds.NewKey("/blocks/data/O")
	write := func(k ds.Key, size int) {
		t.Helper()
		b, err := st.Batch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Put(ctx, k, make([]byte, size)), b.Commit(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	write(small, 10)
	write(large, disk.BulkBytes)
	write(other, disk.BulkBytes)
	if err := log.Put(ctx, large, make([]byte, disk.BulkBytes)); err != nil { // as after a crash
		t.Fatal(err)
	}
	if err := bulk.Put(ctx, old, make([]byte, disk.BulkBytes)); err != nil { // as versions of before did
		t.Fatal(err)
	}
	for k, placed := range map[ds.Key]bool{small: false, large: true, other: false, old: false} {
		if have, err := st.Placed(k); have != placed || err != nil {
			t.Errorf("%s in a segment: %v, %v", k, have, err)
		}
		if have, err := st.Has(ctx, k); !have || err != nil {
			t.Errorf("%s: %v, %v", k, have, err)
		}
	}
	list := func(prefix string) string {
		res, err := st.Query(ctx, query.Query{Prefix: prefix, KeysOnly: true, Orders: []query.Order{query.OrderByKey{}}})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := res.Rest()
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, e := range entries {
			keys = append(keys, e.Key)
		}
		return strings.Join(keys, " ")
	}
	if got, want := list("/blocks"), "/blocks/data/L /blocks/data/O /blocks/data/S"; got != want {
		t.Errorf("blocks: %s, want %s", got, want)
	}
	if got, want := list("/"), "/blocks/data/L /blocks/data/O /blocks/data/S /state/x"; got != want {
		t.Errorf("all: %s, want %s", got, want)
	}
	if err := st.Sync(ctx, ds.NewKey("/state")); err != nil || !st.Dirty() {
		t.Errorf("syncing the state flushed blocks: %v", err)
	}
	if err := st.Sync(ctx, ds.NewKey("/blocks")); err != nil || st.Dirty() {
		t.Errorf("syncing blocks did not flush them: %v", err)
	}
	for _, k := range []ds.Key{small, large, other, old} {
		if err := st.Delete(ctx, k); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Get(ctx, k); err != ds.ErrNotFound {
			t.Errorf("%s deleted: %v", k, err)
		}
	}
}
