package blocks_test

import (
	"bufio"
	"context"
	"fmt"
	"sync/atomic"
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

// importSmall stores so many blocks at a node, each its own content.
func importSmall(t *testing.T, n *testnet.Node, many int) []task.CID {
	t.Helper()
	var roots []task.CID
	for i := range many {
		c, err := n.Blocks().ImportBytes(context.Background(), fmt.Appendf(nil, "result %d", i))
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, c)
	}
	return roots
}

// Fetches one after the other share a stream; after a while in which nothing is asked there is a new one.
func TestFetchesShareAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var streams atomic.Int64
		var holder *testnet.Node
		net := testnet.New(t, 2, testnet.Options{Alone: true, Config: func(i int, cfg *p2p.Config) {
			cfg.OnBlocks = func(ctx context.Context, from task.PeerID, s *wire.Stream) {
				streams.Add(1)
				holder.Blocks().ServeAnybody(ctx, from, s)
			}
		}})
		holder = net.Nodes[1]
		reader := net.Nodes[0]
		roots := importSmall(t, holder, 12)
		reader.Connect(holder)
		fetch := func(c task.CID) {
			t.Helper()
			if err := reader.Blocks().Fetch(t.Context(), c, testnet.IDs(holder), blocks.AtMost(100)); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range roots[:10] {
			fetch(c)
			time.Sleep(time.Second)
		}
		if n := streams.Load(); n != 1 {
			t.Errorf("ten fetches took %d streams, want 1", n)
		}
		time.Sleep(time.Minute) // the stream ends
		fetch(roots[10])
		if n := streams.Load(); n != 2 {
			t.Errorf("after a minute there were %d streams, want 2", n)
		}
		gone, err := blocks.CIDOfBytes([]byte("nobody has this"))
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Blocks().Fetch(t.Context(), gone, testnet.IDs(holder), blocks.AtMost(100)); err == nil {
			t.Error("what nobody has was fetched")
		}
		fetch(roots[11])
		if n := streams.Load(); n != 2 {
			t.Errorf("what a peer has not cost a stream: %d, want 2", n)
		}
	})
}

// A holder that ends each stream once it has answered, as it may, one that sends what nobody asked for on a stream that
// is kept, and one that was restarted: each fetch gets what it wants all the same.
func TestKeptStreamIsNoGood(t *testing.T) {
	for name, after := range map[string]func(s network.Stream){
		"ends":         func(s network.Stream) { s.Close() },
		"breaks":       func(s network.Stream) { s.Reset() },
		"sends more":   func(s network.Stream) { s.Write(append([]byte{0, 5}, "wrong"...)) },
		"says nothing": func(s network.Stream) { s.Write([]byte{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := testnet.New(t, 2, testnet.Options{Alone: true})
				reader, good := net.Nodes[0], net.Nodes[1]
				roots := importSmall(t, good, 5)
				odd := net.Stranger(10)
				var asked atomic.Int64
				odd.SetStreamHandler(p2p.ProtocolBlocks, func(s network.Stream) { // of "result N"
					r := bufio.NewReader(s)
					for {
						if _, err := wire.ReadFrame(r, 1<<10, nil); err != nil {
							return
						}
						n := asked.Add(1) - 1
						b := fmt.Appendf(nil, "result %d", min(n, 4))
						if _, err := s.Write(append([]byte{0, byte(len(b))}, b...)); err != nil {
							return
						}
						time.Sleep(50 * time.Millisecond) // until the stream is kept
						after(s)
					}
				})
				id := task.PeerID(odd.ID().String())
				reader.AddAddrs(id, []string{odd.Addrs()[0].String()}, time.Hour)
				reader.Connect(good)
				for i, c := range roots {
					holders := []task.PeerID{id}
					if name == "says nothing" && i > 0 { // who says so of all of it has to be believed
						holders = append(holders, good.ID())
					}
					if err := reader.Blocks().Fetch(t.Context(), c, holders, blocks.AtMost(100)); err != nil {
						t.Errorf("fetch %d: %v", i, err)
					}
					time.Sleep(time.Second)
				}
			})
		})
	}
}

// A holder that ends each stream before it answers is given up after a few.
func TestHolderThatEndsAllStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 1, testnet.Options{Alone: true})
		reader := net.Nodes[0]
		var streams atomic.Int64
		odd := net.Stranger(10)
		odd.SetStreamHandler(p2p.ProtocolBlocks, func(s network.Stream) {
			streams.Add(1)
			s.Reset()
		})
		id := task.PeerID(odd.ID().String())
		reader.AddAddrs(id, []string{odd.Addrs()[0].String()}, time.Hour)
		c, err := blocks.CIDOfBytes([]byte("no"))
		if err != nil {
			t.Fatal(err)
		}
		if err := reader.Blocks().Fetch(t.Context(), c, []task.PeerID{id}, blocks.AtMost(100)); err == nil {
			t.Error("a fetch from nobody succeeded")
		}
		if n := streams.Load(); n > 4 {
			t.Errorf("asked on %d streams", n)
		}
	})
}
