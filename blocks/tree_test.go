package blocks

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

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

// The use of what a tree names is noted, but for what was used just before.
func TestTreeNotesUse(t *testing.T) {
	b := newBlocks(t)
	now := time.Unix(1e9, 0)
	b.now = func() time.Time { return now }
	c, err := b.ImportBytes(t.Context(), []byte("page"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := parseCID(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ago   time.Duration // that it was used; 0: not known
		noted bool
	}{{time.Second, false}, {UsedFor - time.Second, false}, {UsedFor, true}, {0, true}} {
		before := now
		now = now.Add(time.Hour)
		l := Link{Name: "page", CID: c, Used: now.Add(-tt.ago)}
		if tt.ago == 0 {
			l.Used = time.Time{}
		}
		if _, err := b.PutTree(t.Context(), []Link{l}); err != nil {
			t.Fatal(err)
		}
		s, _, err := b.stored(t.Context(), digestOf(id))
		if err != nil || s.at.Equal(now) != tt.noted {
			t.Errorf("used %v ago its use is noted at %v, %v", tt.ago, s.at, err)
		}
		if !tt.noted {
			now = before
		}
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
