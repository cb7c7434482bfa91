package blocks

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/task"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"pgregory.net/rapid"
)

// A garden is a block store and what it must hold, by a model that knows every
// block's children and when it was last used.
type garden struct {
	blocks   *Store
	cids     []task.CID // all that were ever stored
	children map[task.CID][]task.CID
	used     map[task.CID]time.Time // of those that are here
}

// use has the model take a block, and what is below it and here, as used now. The
// store need not write down what it wrote down less than a grain ago.
func (g *garden) use(c task.CID) {
	if _, here := g.used[c]; !here {
		return
	}
	if now := g.blocks.now(); now.Sub(g.used[c]) >= useGrain {
		g.used[c] = now
	}
	for _, child := range g.children[c] {
		g.use(child)
	}
}

// put stores a leaf, or a tree of what is there; or again what was stored before.
func (g *garden) put(t *rapid.T) {
	ctx := context.Background()
	var c task.CID
	var err error
	switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); kind {
	case 0, 1:
		data := []byte(strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "leaf")))
		if kind == 0 {
			c, err = g.blocks.ImportBytes(ctx, data)
		} else {
			c, err = g.blocks.PutRecord(ctx, data) // the same bytes as a leaf of the other kind
		}
	default:
		if len(g.cids) == 0 {
			return
		}
		var links []Link
		var children []task.CID
		for i, child := range rapid.SliceOfN(rapid.SampledFrom(g.cids), 1, 4).Draw(t, "children") {
			links = append(links, Link{Name: strconv.Itoa(i), CID: child})
			children = append(children, child)
			g.use(g.name(child))
		}
		c, err = g.blocks.PutTree(ctx, links)
		g.children[g.name(c)] = g.names(children)
	}
	if err != nil {
		t.Fatal(err)
	}
	g.cids = append(g.cids, c)
	if at, here := g.used[g.name(c)]; !here || g.blocks.now().Sub(at) >= useGrain {
		g.used[g.name(c)] = g.blocks.now()
	}
}

// name is one CID for all CIDs of the same bytes.
func (g *garden) name(c task.CID) task.CID {
	id, err := parseCID(c)
	if err != nil {
		panic(err)
	}
	return textOf(cidFrom(0x55, digestOf(id)))
}

func (g *garden) names(cs []task.CID) (out []task.CID) {
	for _, c := range cs {
		out = append(out, g.name(c))
	}
	return out
}

// collect compares Collect with the model.
func (g *garden) collect(t *rapid.T) {
	var roots []task.CID
	if len(g.cids) > 0 {
		roots = rapid.SliceOfN(rapid.SampledFrom(g.cids), 0, 3).Draw(t, "roots")
	}
	olderThan := time.Duration(rapid.IntRange(0, 3).Draw(t, "hours")) * time.Hour
	reached := map[task.CID]bool{}
	var reach func(c task.CID)
	reach = func(c task.CID) {
		if _, here := g.used[c]; here && !reached[c] {
			reached[c] = true
			for _, child := range g.children[c] {
				reach(child)
			}
		}
	}
	for _, r := range roots {
		reach(g.name(r))
	}
	want := 0
	for c, at := range g.used {
		if !reached[c] && g.blocks.now().Sub(at) > olderThan+useGrain {
			delete(g.used, c)
			want++
		}
	}
	got, err := g.blocks.Collect(context.Background(), RootsOf(roots...), olderThan)
	if err != nil || got.Blocks != want {
		t.Fatalf("collected %d blocks, %v; want %d", got.Blocks, err, want)
	}
	g.check(t)
}

// check compares what is stored with the model.
func (g *garden) check(t *rapid.T) {
	var size int64
	seen := map[task.CID]bool{}
	for _, c := range g.cids {
		data, err := g.blocks.Get(context.Background(), c)
		if _, want := g.used[g.name(c)]; want != (err == nil) || err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatalf("block %s: %v, want it here: %v", c, err, want)
		}
		if !seen[g.name(c)] {
			size += int64(len(data))
		}
		seen[g.name(c)] = true
	}
	if g.blocks.Size() != size {
		t.Fatalf("Size is %d, want %d", g.blocks.Size(), size)
	}
}

// Collect keeps exactly what the roots reach and what is young, whatever was
// stored, used and collected before.
func TestCollectLikeModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks, err := New(context.Background(), dssync.MutexWrap(ds.NewMapDatastore()))
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		blocks.now = func() time.Time { return now }
		g := &garden{blocks: blocks, children: map[task.CID][]task.CID{}, used: map[task.CID]time.Time{}}
		t.Repeat(map[string]func(*rapid.T){
			"put": g.put,
			"ask": func(t *rapid.T) {
				if len(g.cids) == 0 {
					return
				}
				c := rapid.SampledFrom(g.cids).Draw(t, "asked")
				if err := g.blocks.useDAG(context.Background(), c); err != nil {
					t.Fatal(err)
				}
				g.use(g.name(c))
			},
			"wait":    func(t *rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "minutes")) * time.Minute) },
			"collect": g.collect,
		})
	})
}

// Files are imported again and again while Collect removes them: each is whole at
// the moment that its import returns, and an hour later.
func TestCollectBesideImports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocks, err := New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
		if err != nil {
			t.Fatal(err)
		}
		var files [][]byte
		rng := rand.NewChaCha8([32]byte{3})
		for range 8 {
			file := make([]byte, 3*chunkBytes)
			rng.Read(file)
			files = append(files, file)
		}
		removed := 0
		var wg sync.WaitGroup
		for range 50 {
			time.Sleep(2 * time.Hour)
			wg.Go(func() {
				got, err := blocks.Collect(t.Context(), RootsOf(), time.Hour)
				if err != nil {
					t.Error(err)
				}
				removed += got.Blocks
			})
			for _, file := range files {
				wg.Go(func() {
					root, _, err := blocks.Import(t.Context(), bytes.NewReader(file))
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Hour)
					if _, err := blocks.Collect(t.Context(), RootsOf(), time.Hour); err != nil {
						t.Error(err)
					}
					if all, err := blocks.HasAll(t.Context(), root); !all || err != nil {
						t.Errorf("an hour after its import a file is here: %v, %v", all, err)
					}
				})
			}
			wg.Wait()
			time.Sleep(2 * time.Hour)
		}
		if removed == 0 {
			t.Error("nothing was ever removed")
		}
	})
}

// Of a store on disk, what was collected is gone after opening it again, and so is
// its space; what a root reaches is there. Both databases.
func TestCollectGivesBackSpace(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	closer, blocks, err := openBlocks(dir)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.NewChaCha8([32]byte{4})
	var roots []task.CID
	store := func(size int) {
		t.Helper()
		data := make([]byte, size)
		rng.Read(data)
		root, err := blocks.ImportBytes(ctx, data)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
	}
	store(3 << 20)
	store(30 << 10)
	for range 8 {
		store(8 << 20)
	}
	for range 400 {
		store(30 << 10)
	}
	if err := blocks.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	before := diskUse(t, dir)
	if got, err := blocks.Collect(ctx, RootsOf(), 0); err != nil || got.Blocks != 0 {
		t.Errorf("young blocks were collected: %+v, %v", got, err)
	}
	all := blocks.Size()
	kept := roots[:2]
	got, err := blocks.Collect(ctx, RootsOf(kept...), -time.Hour) // as if an hour had passed
	if err != nil || got.Bytes != all-blocks.Size() || blocks.Size() > 4<<20 {
		t.Errorf("collected %+v of %d bytes, %d are left, %v", got, all, blocks.Size(), err)
	}
	size := blocks.Size()
	for _, root := range kept {
		if all, err := blocks.HasAll(ctx, root); !all || err != nil {
			t.Errorf("a root is here: %v, %v", all, err)
		}
	}
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	after := diskUse(t, dir)
	t.Logf("on disk %d MiB before, %d after; %d MiB of blocks, then %d", before>>20, after>>20, all>>20, size>>20)
	if limit := size + 16<<20; after > limit {
		t.Errorf("%d bytes on disk, want at most %d", after, limit)
	}
	closer, blocks, err = openBlocks(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	if blocks.Size() != size {
		t.Errorf("opened again: %d bytes, want %d", blocks.Size(), size)
	}
	checkBlocks(t, blocks)
}

func diskUse(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// Records of before there were times are old, whatever the clock says.
func TestCollectOldRecords(t *testing.T) {
	b := newBlocks(t)
	root, err := b.ImportBytes(t.Context(), []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := parseCID(root)
	if err := b.store.Put(t.Context(), sizeKey(digestOf(id)), []byte{3}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Collect(t.Context(), RootsOf(), 24*time.Hour); err != nil || got != (Collected{1, 3}) {
		t.Errorf("collected %+v, %v", got, err)
	}
}
