package blocks

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"godwit/p2p/wire"
	"godwit/task"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
)

func newBlocks(t *testing.T) *Store {
	t.Helper()
	b, err := New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTreeRoundTrip(t *testing.T) {
	b := newBlocks(t)
	var links []Link
	for i := range 300 {
		data := fmt.Appendf(nil, "page %d", i)
		c, err := b.ImportBytes(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, Link{Name: fmt.Sprintf("%04d", i), CID: c, Size: int64(len(data))})
	}
	root, err := b.PutTree(t.Context(), links)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Tree(t.Context(), root)
	if err != nil || !slices.Equal(got, links) {
		t.Fatalf("got %d links, %v, want those stored", len(got), err)
	}
	if all, err := b.HasAll(t.Context(), root); err != nil || !all {
		t.Errorf("HasAll says %v, %v; want all of the tree", all, err)
	}
	slices.Reverse(links)
	if again, err := b.PutTree(t.Context(), links); err != nil || again != root {
		t.Errorf("the same links in another order are %s, %v; want %s", again, err, root)
	}
}

func TestTreeRefuses(t *testing.T) {
	b := newBlocks(t)
	c := task.RawCID([]byte("x"))
	for name, links := range map[string][]Link{
		"no name":   {{CID: c}},
		"two alike": {{Name: "a", CID: c}, {Name: "a", CID: c}},
		"no CID":    {{Name: "a", CID: "nonsense"}},
		"size":      {{Name: "a", CID: c, Size: -1}},
	} {
		if root, err := b.PutTree(t.Context(), links); err == nil {
			t.Errorf("%s: stored as %s", name, root)
		}
	}
	many := make([]Link, 40_000)
	for i := range many {
		many[i] = Link{Name: fmt.Sprintf("%064d", i), CID: c}
	}
	if _, err := b.PutTree(t.Context(), many); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a tree beyond a block: got %v, want %v", err, wire.ErrTooLarge)
	}
	raw, err := b.ImportBytes(t.Context(), []byte("not a tree"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Tree(t.Context(), raw); err == nil {
		t.Error("a raw block was read as a tree")
	}
}
