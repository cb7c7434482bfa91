package blocks

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"godwit/p2p/wire"
	"godwit/task"

	"github.com/ipfs/boxo/ipld/merkledag"
	"github.com/ipfs/boxo/ipld/unixfs"
	"github.com/ipfs/go-cid"
	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	ipld "github.com/ipfs/go-ipld-format"
	mh "github.com/multiformats/go-multihash"
)

func inMemory(t *testing.T) *Store {
	t.Helper()
	b, err := New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// putNode stores a file's node with these children, each said to make so many bytes.
func putNode(t *testing.T, b *Store, sizes []uint64, children ...cid.Cid) cid.Cid {
	t.Helper()
	fs := unixfs.NewFSNode(unixfs.TFile)
	for _, s := range sizes {
		fs.AddBlockSize(s)
	}
	data, err := fs.GetBytes()
	if err != nil {
		t.Fatal(err)
	}
	node := merkledag.NodeWithData(data)
	node.SetCidBuilder(cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.SHA2_256})
	for _, c := range children {
		if err := node.AddRawLink("", &ipld.Link{Cid: c}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.put(t.Context(), []block{{node.Cid(), node.RawData()}}); err != nil {
		t.Fatal(err)
	}
	return node.Cid()
}

// bomb stores a few blocks, each but the first linked to 174 times, which make about
// 240 TB, and returns the root. With said its root says so many bytes.
func bomb(t *testing.T, b *Store, said uint64) task.CID {
	t.Helper()
	leaf := block{cidOf(cid.Raw, make([]byte, chunkBytes)), make([]byte, chunkBytes)}
	if err := b.put(t.Context(), []block{leaf}); err != nil {
		t.Fatal(err)
	}
	child, size := leaf.cid, uint64(chunkBytes)
	for range 3 {
		child = putNode(t, b, slices.Repeat([]uint64{size}, linksPerNode), slices.Repeat([]cid.Cid{child}, linksPerNode)...)
		size *= linksPerNode
	}
	sizes := slices.Repeat([]uint64{size}, linksPerNode)
	if said > 0 {
		sizes = slices.Repeat([]uint64{said / linksPerNode}, linksPerNode)
	}
	return textOf(putNode(t, b, sizes, slices.Repeat([]cid.Cid{child}, linksPerNode)...))
}

// A few blocks can make a file of any size. Whoever bounds it is not deceived.
func TestBlockBomb(t *testing.T) {
	for _, said := range []uint64{0, linksPerNode, 1 << 20} {
		b := inMemory(t)
		root := bomb(t, b, said)
		if b.Size() > 300<<10 {
			t.Fatalf("%d bytes are stored", b.Size())
		}
		want := wire.ErrTooLarge
		if said > 0 {
			want = ErrSize
		}
		for _, bound := range []Bound{AtMost(4 << 30), AtMost(1 << 20)} {
			if err := b.Fetch(t.Context(), root, nil, bound); !errors.Is(err, want) {
				t.Errorf("a root that says %d: fetched, %v", said, err)
			}
			if f, _, err := b.Open(t.Context(), root, bound); !errors.Is(err, want) {
				t.Errorf("a root that says %d: opened, %v, %v", said, f, err)
			}
		}
	}
}

// Nodes that contradict themselves or one another are refused, whoever reads them.
func TestSizesThatLie(t *testing.T) {
	b := inMemory(t)
	leafOf := func(n int) cid.Cid {
		bl := block{cidOf(cid.Raw, bytes.Repeat([]byte{byte(n)}, n)), bytes.Repeat([]byte{byte(n)}, n)}
		if err := b.put(t.Context(), []block{bl}); err != nil {
			t.Fatal(err)
		}
		return bl.cid
	}
	ten, five := leafOf(10), leafOf(5)
	tree, err := b.PutTree(t.Context(), []Link{{Name: "a", CID: textOf(ten), Size: 10}})
	if err != nil {
		t.Fatal(err)
	}
	chain := putNode(t, b, []uint64{10}, ten)
	for range 100 {
		chain = putNode(t, b, []uint64{10}, chain)
	}
	treeIn, err := parseCID(tree)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		root cid.Cid
		want error
	}{
		{"honest", putNode(t, b, []uint64{10, 5, 10}, ten, five, ten), nil},
		{"a leaf is larger", putNode(t, b, []uint64{5}, ten), ErrSize},
		{"a leaf is smaller", putNode(t, b, []uint64{10}, five), ErrSize},
		{"one child, two sizes", putNode(t, b, []uint64{10, 5}, ten, ten), ErrSize},
		{"more links than sizes", putNode(t, b, []uint64{10}, ten, five), ErrSize},
		{"more sizes than links", putNode(t, b, []uint64{10, 5}, ten), ErrSize},
		{"beyond 64 bits", putNode(t, b, []uint64{math.MaxInt64, math.MaxInt64, 12}, ten, ten, ten), wire.ErrTooLarge},
		{"a chain of nodes", chain, wire.ErrTooLarge},
		{"a tree in a file", putNode(t, b, []uint64{10}, treeIn), ErrSize},
	}
	for _, tt := range tests {
		root := textOf(tt.root)
		if err := b.Fetch(t.Context(), root, nil, AtMost(math.MaxInt64)); !errors.Is(err, tt.want) {
			t.Errorf("%s: fetched, %v", tt.name, err)
		}
		f, size, err := b.Open(t.Context(), root, AtMost(math.MaxInt64))
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: opened, %v", tt.name, err)
		}
		if err == nil {
			if got, err := io.ReadAll(f); err != nil || int64(len(got)) != size {
				t.Errorf("%s: %d bytes of %d, %v", tt.name, len(got), size, err)
			}
		}
	}
	if _, _, err := b.Open(t.Context(), tree, AtMost(100)); !errors.Is(err, ErrSize) {
		t.Errorf("a tree was opened as a file: %v", err)
	}
}

// The sizes in a tree are what its content must have.
func TestTreeThatLies(t *testing.T) {
	b := inMemory(t)
	c, err := b.ImportBytes(t.Context(), make([]byte, 1000))
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]error{1000: nil, 10: ErrSize, 4000: ErrSize, 1 << 40: wire.ErrTooLarge} {
		root, err := b.PutTree(t.Context(), []Link{{Name: "page", CID: c, Size: size}})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Fetch(t.Context(), root, nil, AtMost(1<<20)); !errors.Is(err, want) {
			t.Errorf("a page of 1000 bytes said to have %d: %v", size, err)
		}
	}
}

// A file has the size that was said of it, or is refused.
func TestOpenBound(t *testing.T) {
	b := inMemory(t)
	data := make([]byte, 3*chunkBytes+7)
	root, err := b.ImportBytes(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(len(data))
	tests := []struct {
		bound Bound
		want  error
	}{
		{AtMost(n), nil}, {AtMost(n - 1), wire.ErrTooLarge}, {Exactly(n), nil}, {Exactly(n - 1), wire.ErrTooLarge},
		{Exactly(n + 1), ErrSize}, {Bound{}, wire.ErrTooLarge},
	}
	for _, tt := range tests {
		if _, _, err := b.Open(t.Context(), root, tt.bound); !errors.Is(err, tt.want) {
			t.Errorf("%d bytes opened with %+v: %v", n, tt.bound, err)
		}
	}
}
