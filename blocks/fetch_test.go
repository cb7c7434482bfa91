package blocks_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/network"
)

// content is n bytes that do not compress or repeat.
func content(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func importInto(t *testing.T, data []byte, nodes ...*testnet.Node) task.CID {
	t.Helper()
	var root task.CID
	for _, n := range nodes {
		var err error
		if root, _, err = n.Blocks().Import(context.Background(), bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func wantContent(t *testing.T, n *testnet.Node, root task.CID, want []byte) {
	t.Helper()
	if all, err := n.Blocks().HasAll(context.Background(), root); !all || err != nil {
		t.Fatalf("HasAll: %v, %v", all, err)
	}
	f, size, err := n.Blocks().Open(context.Background(), root, blocks.AtMost(1<<40))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) || size != int64(len(want)) {
		t.Errorf("read %d bytes, size %d, %v; want %d", len(got), size, err, len(want))
	}
}

// One holder lies, one dies half way, one has everything: the content arrives.
func TestFetchWithBadHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 3, testnet.Options{Alone: true})
		reader, good, dying := net.Nodes[0], net.Nodes[1], net.Nodes[2]
		data := content(8 << 20)
		root := importInto(t, data, good, dying)
		liar := net.Stranger(10)
		liar.SetStreamHandler(p2p.ProtocolBlocks, func(s network.Stream) {
			for io.Reader(s) != nil {
				if _, err := s.Write(append([]byte{0, 5}, "wrong"...)); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		lies := task.PeerID(liar.ID().String())
		reader.AddAddrs(lies, []string{liar.Addrs()[0].String()}, time.Hour)
		for _, n := range []*testnet.Node{good, dying} {
			reader.Connect(n)
		}
		time.AfterFunc(300*time.Millisecond, dying.Stop)
		holders := append(testnet.IDs(dying, good), lies)
		if err := reader.Blocks().Fetch(t.Context(), root, holders, blocks.AtMost(1<<40)); err != nil {
			t.Fatal(err)
		}
		wantContent(t, reader, root, data)
	})
}

// A holder that takes a question and never answers is worked around long before
// it is given up.
func TestFetchStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		reader, good := net.Nodes[0], net.Nodes[1]
		data := content(1 << 20)
		root := importInto(t, data, good)
		mute := net.Stranger(10)
		mute.SetStreamHandler(p2p.ProtocolBlocks, func(network.Stream) {})
		name := task.PeerID(mute.ID().String())
		reader.AddAddrs(name, []string{mute.Addrs()[0].String()}, time.Hour)
		reader.Connect(good)
		start := time.Now()
		holders := append([]task.PeerID{name}, good.ID())
		if err := reader.Blocks().Fetch(t.Context(), root, holders, blocks.AtMost(1<<40)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("took %v", took)
		}
		wantContent(t, reader, root, data)
	})
}

// A fetch that fails keeps what it got, and the next asks only for the rest.
func TestFetchResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		reader, holder := net.Nodes[0], net.Nodes[1]
		data := content(4 << 20)
		root := importInto(t, data, holder)
		reader.Connect(holder)
		short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		err := reader.Blocks().Fetch(short, root, testnet.IDs(holder), blocks.AtMost(1<<40))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a fetch of 4 MiB in 0.3 s at 12 MB/s: %v", err)
		}
		had := reader.Blocks().Size()
		if had == 0 || had >= int64(len(data)) {
			t.Fatalf("%d bytes were kept", had)
		}
		before := reader.Stats().BytesIn
		if err := reader.Blocks().Fetch(t.Context(), root, testnet.IDs(holder), blocks.AtMost(1<<40)); err != nil {
			t.Fatal(err)
		}
		got := reader.Stats().BytesIn - before
		if rest := int64(len(data)) - had; got > rest+rest/10+100<<10 {
			t.Errorf("%d bytes came, %d were missing", got, rest)
		}
		wantContent(t, reader, root, data)
	})
}

func TestFetchRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 3, testnet.Options{Alone: true})
		reader, holder, empty := net.Nodes[0], net.Nodes[1], net.Nodes[2]
		data := content(1 << 20)
		root := importInto(t, data, holder)
		reader.Connect(holder)
		reader.Connect(empty)
		nowhere, err := blocks.CIDOfBytes([]byte("nobody has this"))
		if err != nil {
			t.Fatal(err)
		}
		both, anySize := testnet.IDs(holder, empty), blocks.AtMost(1<<40)
		tests := []struct {
			name    string
			root    task.CID
			holders []task.PeerID
			max     blocks.Bound
			quota   int64
			want    error
			names   []task.PeerID
		}{
			{"nobody has it", nowhere, both, anySize, -1, blocks.ErrNotFound, both},
			{"no holders", root, nil, anySize, -1, blocks.ErrNotFound, nil},
			{"only ourselves", root, testnet.IDs(reader), anySize, -1, blocks.ErrNotFound, nil},
			{"only an empty one", root, testnet.IDs(empty), anySize, -1, blocks.ErrNotFound, testnet.IDs(empty)},
			{"not a CID", "bafynonsense", both, anySize, -1, blocks.ErrBadCID, nil},
			{"version 0", "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH", both, anySize, -1, blocks.ErrBadCID, nil},
			{"over the size allowed", root, both, blocks.AtMost(512 << 10), -1, wire.ErrTooLarge, nil},
			{"more than was said", root, both, blocks.Exactly(1<<20 - 1), -1, wire.ErrTooLarge, nil},
			{"less than was said", root, both, blocks.Exactly(1<<20 + 1), -1, blocks.ErrSize, nil},
			{"over the quota", root, both, anySize, 1 << 19, blocks.ErrQuota, nil},
		}
		for _, tt := range tests {
			reader.Blocks().Keep(&blocks.Allowance{Left: tt.quota})
			err := reader.Blocks().Fetch(t.Context(), tt.root, tt.holders, tt.max)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: %v", tt.name, err)
			}
			for _, id := range tt.names {
				if err != nil && !strings.Contains(err.Error(), string(id)) {
					t.Errorf("%s: the error does not name %s: %v", tt.name, id, err)
				}
			}
			if err := reader.Blocks().DeleteDAG(t.Context(), root); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	})
}
