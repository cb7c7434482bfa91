package blocks_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"

	"godwit/blocks"
	"godwit/internal/testnet"
)

// Some bytes of a file are fetched with few blocks beside, wherever they are, and can be read.
func TestFetchPart(t *testing.T) {
	const size, page = 60 << 20, 256<<10 - 16 // a file of three levels
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		reader, holder := net.Nodes[0], net.Nodes[1]
		reader.Connect(holder)
		data := content(size)
		root := importInto(t, data, holder)
		for _, from := range []int64{0, 100 * page, size - page, 7 * page} {
			before := reader.Blocks().Size()
			ctx := context.Background()
			err := reader.Blocks().FetchPart(ctx, root, testnet.IDs(holder), blocks.Exactly(size), from, from+page)
			if err != nil {
				t.Fatal(err)
			}
			if got := reader.Blocks().Size() - before; got > 2*(256<<10)+64<<10 {
				t.Errorf("%d bytes were fetched for %d", got, page)
			}
			f, _, err := reader.Blocks().Open(ctx, root, blocks.Exactly(size))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Seek(from, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, page)
			if _, err := io.ReadFull(f, got); err != nil || !bytes.Equal(got, data[from:from+page]) {
				t.Errorf("from %d on: %v", from, err)
			}
			f.Close()
		}
		if all, err := reader.Blocks().HasAll(context.Background(), root); all || err != nil {
			t.Errorf("all of it is here: %v", err)
		}
	})
}

// A file that is not as large as was said is not fetched in part either.
func TestFetchPartOfAnotherSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		net.Nodes[0].Connect(net.Nodes[1])
		root := importInto(t, content(1<<20), net.Nodes[1])
		err := net.Nodes[0].Blocks().FetchPart(context.Background(), root, testnet.IDs(net.Nodes[1]),
			blocks.Exactly(1<<19), 0, 9)
		if !blocks.Wrong(err) {
			t.Errorf("a file of twice the size: %v", err)
		}
	})
}
