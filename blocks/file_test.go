package blocks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"godwit/task"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"pgregory.net/rapid"
)

func memoryBlocks(tb testing.TB) *Store {
	tb.Helper()
	b, err := New(context.Background(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// twin computes the CID of a file from the specifications of dag-pb and UnixFS
// alone: leaves of 256 KiB, nodes of 174 links, all leaves at the same depth.
// It is as simple as possible, to be checked against what we use.
func twin(data []byte) task.CID {
	type node struct {
		codec         byte
		sum           [32]byte
		content, size uint64 // of the file below; of all blocks below and this one
	}
	var level []node
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), 256<<10)
		level = append(level, node{0x55, sha256.Sum256(data[:n]), uint64(n), uint64(n)})
		data = data[n:]
	}
	field := func(b []byte, number byte, v []byte) []byte {
		return append(binary.AppendUvarint(append(b, number<<3|2), uint64(len(v))), v...)
	}
	number := func(b []byte, number byte, v uint64) []byte {
		return binary.AppendUvarint(append(b, number<<3), v)
	}
	for len(level) > 1 {
		var above []node
		for len(level) > 0 {
			n := min(len(level), 174)
			up := node{codec: 0x70}
			var block, sizes []byte
			for _, child := range level[:n] {
				hash := append([]byte{1, child.codec, 0x12, 32}, child.sum[:]...)
				link := number(field(field(nil, 1, hash), 2, nil), 3, child.size)
				block = field(block, 2, link)
				sizes = number(sizes, 4, child.content)
				up.content += child.content
				up.size += child.size
			}
			file := append(number(number(nil, 1, 2), 3, up.content), sizes...)
			block = field(block, 1, file)
			up.sum, up.size = sha256.Sum256(block), up.size+uint64(len(block))
			above, level = append(above, up), level[n:]
		}
		level = above
	}
	return textOf(cidFrom(uint64(level[0].codec), level[0].sum))
}

// The first two are what `ipfs add --cid-version=1` prints. The others are
// computed by twin.
func TestImportCIDs(t *testing.T) {
	random := make([]byte, 175*chunkBytes+1)
	rand.NewChaCha8([32]byte{7}).Read(random)
	tests := []struct {
		name string
		data []byte
		want task.CID
	}{
		{"hello", []byte("hello world\n"), "bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4"},
		{"empty", nil, "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"},
		{"one chunk", random[:chunkBytes], twin(random[:chunkBytes])},
		{"one byte more", random[:chunkBytes+1], twin(random[:chunkBytes+1])},
		{"one full node", random[:174*chunkBytes], twin(random[:174*chunkBytes])},
		{"two levels", random, twin(random)},
		{"the same chunk again", make([]byte, 5*chunkBytes), twin(make([]byte, 5*chunkBytes))},
	}
	for _, tt := range tests {
		b := memoryBlocks(t)
		got, size, err := b.Import(t.Context(), bytes.NewReader(tt.data))
		if got != tt.want || size != int64(len(tt.data)) || err != nil {
			t.Errorf("%s: Import is %s, %d, %v; want %s", tt.name, got, size, err, tt.want)
		}
		if got, err := b.ImportBytes(t.Context(), tt.data); got != tt.want || err != nil {
			t.Errorf("%s: ImportBytes is %s, %v", tt.name, got, err)
		}
		if got, err := CIDOfBytes(tt.data); got != tt.want || err != nil {
			t.Errorf("%s: CIDOfBytes is %s, %v", tt.name, got, err)
		}
		f, size, err := b.Open(t.Context(), got, AtMost(1<<40))
		if err != nil || size != int64(len(tt.data)) {
			t.Fatalf("%s: opening: size %d, %v", tt.name, size, err)
		}
		if back, err := io.ReadAll(f); err != nil || !bytes.Equal(back, tt.data) {
			t.Errorf("%s: read %d bytes, %v", tt.name, len(back), err)
		}
	}
}

func TestOpenSeeks(t *testing.T) {
	b := memoryBlocks(t)
	data := make([]byte, 3*chunkBytes+100)
	rand.NewChaCha8([32]byte{8}).Read(data)
	root, err := b.ImportBytes(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		f, _, err := b.Open(context.Background(), root, AtMost(1<<40))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		at := rapid.IntRange(0, len(data)).Draw(t, "at")
		got := make([]byte, rapid.IntRange(0, min(len(data)-at, 600<<10)).Draw(t, "n"))
		if _, err := f.Seek(int64(at), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(f, got); err != nil || !bytes.Equal(got, data[at:at+len(got)]) {
			t.Fatalf("reading %d at %d: %v", len(got), at, err)
		}
	})
}

func TestBlocks(t *testing.T) {
	b := memoryBlocks(t)
	ctx := t.Context()
	data := make([]byte, 3*chunkBytes)
	rand.NewChaCha8([32]byte{9}).Read(data)
	root, err := b.ImportBytes(ctx, data)
	if err != nil {
		t.Fatal(err)
	}
	size := b.Size()
	if _, err := b.ImportBytes(ctx, data); err != nil || b.Size() != size {
		t.Errorf("the same file again: %v, %d bytes, want %d", err, b.Size(), size)
	}
	record, err := b.PutRecord(ctx, []byte{0xa0})
	if want := task.CID("bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua"); record != want || err != nil {
		t.Errorf("record of an empty map is %s, %v; want %s", record, err, want)
	}
	if got, err := b.Get(ctx, record); err != nil || !bytes.Equal(got, []byte{0xa0}) {
		t.Errorf("Get: %x, %v", got, err)
	}
	again, err := New(ctx, b.store)
	if err != nil || again.Size() != size+1 {
		t.Errorf("opened again: %d bytes, %v; want %d", again.Size(), err, size+1)
	}

	leaf := textOf(cidOf(0x55, data[:chunkBytes]))
	if err := b.Delete(ctx, leaf); err != nil {
		t.Fatal(err)
	}
	if all, err := b.HasAll(ctx, root); all || err != nil {
		t.Errorf("HasAll without a leaf: %v, %v", all, err)
	}
	if _, err := b.Get(ctx, leaf); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of a deleted block: %v", err)
	}
	if err := b.DeleteDAG(ctx, root); err != nil || b.Size() != 1 {
		t.Errorf("after DeleteDAG: %d bytes, %v; want 1", b.Size(), err)
	}
	b.Keep(&Allowance{Left: chunkBytes - 1})
	if _, err := b.ImportBytes(ctx, data); !errors.Is(err, ErrQuota) {
		t.Errorf("import over the quota: %v", err)
	}
}

func TestParseCID(t *testing.T) {
	good := "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"
	for text, want := range map[string]error{
		good:           nil,
		"":             ErrBadCID,
		"hello":        ErrBadCID,
		"B" + good[1:]: ErrBadCID, // not the canonical text
		good + "a":     ErrBadCID,
		"bafyaaa":      ErrBadCID, // identity hash
		"bafkqaaa":     ErrBadCID,
		"QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn": ErrBadCID, // version 0
	} {
		if _, err := parseCID(task.CID(text)); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("parseCID(%q): %v, want %v", text, err, want)
		}
	}
}

// Hostile nodes neither panic nor link to what we would not fetch.
func FuzzLinks(f *testing.F) {
	b := memoryBlocks(f)
	root, err := b.ImportBytes(context.Background(), make([]byte, 2*chunkBytes))
	if err != nil {
		f.Fatal(err)
	}
	data, err := b.Get(context.Background(), root)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := cidOf(0x70, data)
		links, err := linksOf(c, data)
		for _, l := range links {
			if err != nil || !acceptable(l) {
				t.Fatalf("link %s, %v", l, err)
			}
		}
		b := memoryBlocks(t)
		if err := b.put(context.Background(), []block{{c, data}}); err != nil {
			t.Fatal(err)
		}
		f, _, err := b.Open(context.Background(), textOf(c), AtMost(1<<40))
		if err != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, f, 1<<20)
		f.Close()
	})
}
