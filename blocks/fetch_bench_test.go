package blocks

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"godwit/blocks/disk"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/task"

	"github.com/ipfs/boxo/ipld/merkledag"
	unixfs "github.com/ipfs/boxo/ipld/unixfs"
	"github.com/ipfs/go-cid"
	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	ipld "github.com/ipfs/go-ipld-format"
	mh "github.com/multiformats/go-multihash"
)

// quiet is a handler that wants to know nothing.
type quiet struct{}

func (quiet) Frame(task.PeerID, []byte) {}
func (quiet) Connected(task.PeerID)     {}
func (quiet) Disconnected(task.PeerID)  {}
func (quiet) Trimmed(task.PeerID)       {}
func (quiet) Advert(overlay.Advert)     {}
func (quiet) Request(_ context.Context, _ task.PeerID, _ string, body []byte) ([]byte, error) {
	return body, nil
}

// A host has blocks of its own.
type host struct {
	*p2p.Host
	blocks *Store
}

// openHost runs a host on loopback with a store on disk, until the test ends.
func openHost(tb testing.TB, listen string, seed uint64, handler p2p.Handler) host {
	tb.Helper()
	store, err := disk.Open(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(fmt.Appendf(nil, "%32d", seed))
	b, err := New(tb.Context(), store)
	if err != nil {
		tb.Fatal(err)
	}
	h, err := p2p.New(p2p.Config{Key: key, Listen: []string{listen}, OnBlocks: b.ServeAnybody, Handler: handler})
	if err != nil {
		tb.Fatal(err)
	}
	b.Connect(h)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- h.Run(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		if err := store.(io.Closer).Close(); err != nil {
			tb.Error(err)
		}
	})
	return host{h, b}
}

// addFile stores a file of n random chunks of the size given, as another
// importer might have made it, and returns its root.
func addFile(tb testing.TB, b *Store, rng *rand.ChaCha8, n, size int) task.CID {
	tb.Helper()
	file := unixfs.NewFSNode(unixfs.TFile)
	node := new(merkledag.ProtoNode)
	node.SetCidBuilder(cid.V1Builder{Codec: cid.DagProtobuf, MhType: mh.SHA2_256})
	var blocks []block
	for range n {
		data := make([]byte, size)
		rng.Read(data)
		blocks = append(blocks, block{cidOf(cid.Raw, data), data})
		file.AddBlockSize(uint64(size))
		if err := node.AddRawLink("", &ipld.Link{Cid: blocks[len(blocks)-1].cid, Size: uint64(size)}); err != nil {
			tb.Fatal(err)
		}
	}
	data, err := file.GetBytes()
	if err != nil {
		tb.Fatal(err)
	}
	node.SetData(data)
	blocks = append(blocks, block{node.Cid(), node.RawData()})
	if err := b.put(context.Background(), blocks); err != nil {
		tb.Fatal(err)
	}
	return textOf(node.Cid())
}

// Memory of blocks that were stored is used again for those that come after, and what was stored
// stays what it was, whether the store is on disk or keeps what it is given.
func TestFetchUsesMemoryAgain(t *testing.T) {
	const listen, blocks = "/ip4/127.0.0.1/tcp/0", 320
	to, from := openHost(t, listen, 99, quiet{}), openHost(t, listen, 1, quiet{})
	from.Rank(map[task.PeerID]cost.Class{to.ID(): cost.Worker})
	to.AddAddrs(from.ID(), from.AdvertAddrs(8), 0)
	root := addFile(t, from.blocks, rand.NewChaCha8([32]byte{3}), blocks, 64<<10)
	keeping, err := New(t.Context(), dssync.MutexWrap(ds.NewMapDatastore()))
	if err != nil {
		t.Fatal(err)
	}
	keeping.Connect(to)
	for name, store := range map[string]*Store{"on disk": to.blocks, "in memory": keeping} {
		if err := store.Fetch(t.Context(), root, []task.PeerID{from.ID()}, AtMost(1<<30)); err != nil {
			t.Fatal(err)
		}
		if all, err := store.HasAll(t.Context(), root); !all || err != nil {
			t.Errorf("%s: all is here: %v, %v", name, all, err)
		}
		checkBlocks(t, store)
	}
}

// BenchmarkFetch counts what a node waits for when it fetches content that it does
// not have: asking, sending, checking and handing to the store, which writes to
// disk meanwhile. Holders and reader run in this process and share the machine:
// cpu-ms/op is what all of them used, and the number to compare when the machine
// has other work. The Sync that makes it all sure to survive is in cpu-ms/op and
// is sync-ms/op of its own, not in the time. Each iteration has a new, empty
// store for the reader, made and removed outside of all counting: nothing is
// there already, and no iteration pays for deletes or compactions of the one
// before. The holders' content is in their stores on disk, and in the system's
// page cache.
func BenchmarkFetch(b *testing.B) {
	for _, transport := range []string{"/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"} {
		for _, holders := range []int{1, 3} {
			for _, blocks := range []int{10, 1024} {
				b.Run(fmt.Sprintf("%s/holders=%d/blocks=%d", transport[15:18], holders, blocks), func(b *testing.B) {
					benchmarkFetch(b, transport, holders, blocks, 64<<10)
				})
			}
		}
	}
}

func benchmarkFetch(b *testing.B, listen string, n, blocks, size int) {
	to := openHost(b, listen, 99, quiet{})
	var from []host
	var ids []task.PeerID
	for i := range n {
		h := openHost(b, listen, uint64(i), quiet{})
		from, ids = append(from, h), append(ids, h.ID())
		h.Rank(map[task.PeerID]cost.Class{to.ID(): cost.Worker}) // a stranger has 1 MiB a second
		to.AddAddrs(h.ID(), h.AdvertAddrs(8), 0)
		if _, err := to.Request(b.Context(), h.ID(), "warm", nil); err != nil {
			b.Fatal(err)
		}
	}
	root := addEverywhere(b, from, blocks, size)
	b.SetBytes(int64(blocks * size))
	var busy, syncing time.Duration
	for b.Loop() {
		b.StopTimer()
		reader, closeReader := emptyReader(b, to)
		busy -= cpuTime(b)
		b.StartTimer()
		if err := reader.Fetch(b.Context(), root, ids, AtMost(1<<40)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		start := time.Now()
		if err := reader.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
		syncing += time.Since(start)
		busy += cpuTime(b)
		closeReader()
		b.StartTimer()
	}
	perOp := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(b.N) }
	b.ReportMetric(perOp(busy), "cpu-ms/op")
	b.ReportMetric(perOp(syncing), "sync-ms/op")
}

// addEverywhere stores the same file at all hosts, and syncs it.
func addEverywhere(b *testing.B, hosts []host, blocks, size int) (root task.CID) {
	b.Helper()
	for _, h := range hosts {
		root = addFile(b, h.blocks, rand.NewChaCha8([32]byte{1}), blocks, size)
		if err := h.blocks.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// emptyReader gives a host a second, empty block store.
func emptyReader(b *testing.B, h host) (*Store, func()) {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "reader")
	store, err := disk.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	blocks, err := New(b.Context(), store)
	if err != nil {
		b.Fatal(err)
	}
	blocks.Connect(h)
	return blocks, func() {
		if err := errors.Join(store.(io.Closer).Close(), os.RemoveAll(dir)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutSync is what a task's small output costs its node: one block of
// 20 KiB, sure to survive.
func BenchmarkPutSync(b *testing.B) {
	store, err := disk.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer store.(io.Closer).Close()
	blocks, err := New(b.Context(), store)
	if err != nil {
		b.Fatal(err)
	}
	rng, data := rand.NewChaCha8([32]byte{2}), make([]byte, 20<<10)
	for b.Loop() {
		rng.Read(data)
		if _, err := blocks.ImportBytes(b.Context(), data); err != nil {
			b.Fatal(err)
		}
		if err := blocks.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// cpuTime is what this process has used, all its hosts together.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkImport(b *testing.B) {
	h := openHost(b, "/ip4/127.0.0.1/tcp/0", 1, quiet{})
	data := make([]byte, 64<<20)
	rng := rand.NewChaCha8([32]byte{1})
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		b.StopTimer()
		rng.Read(data)
		b.StartTimer()
		if _, _, err := h.blocks.Import(b.Context(), bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}
