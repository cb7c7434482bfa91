package p2p_test

import (
	"context"
	"encoding/binary"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
)

// unending is a request but for its last byte.
var unending = func() []byte {
	b := append([]byte{1, 'm'}, binary.AppendUvarint(nil, 60_000)...)
	b = binary.AppendUvarint(b, p2p.MaxRequest)
	return append(b, make([]byte, p2p.MaxRequest-1)...)
}()

// besiege has a stranger begin as many requests as it may, and end none. It returns
// when nothing moves any more.
func besiege(t *testing.T, stranger host.Host, to *testnet.Node) {
	t.Helper()
	var wg sync.WaitGroup
	for range p2p.RequestStreams {
		s, err := stranger.NewStream(network.WithNoDial(t.Context(), "test"), peerID(t, to), protocolOf(p2p.ProtocolRequest))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Reset() })
		wg.Go(func() {
			_ = s.SetWriteDeadline(time.Now().Add(20 * time.Second))
			_, _ = s.Write(unending)
		})
	}
	wg.Wait()
}

// heap is what the process holds, garbage left out.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Strangers that begin requests and do not end them make a node hold no more than
// strangers may, each and together. Members are heard meanwhile. After the
// requests' time, or with their connections, it is all given back.
func TestEndlessRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Bandwidth: 1e9})
		near, member := net.Nodes[0], net.Nodes[1]
		for i, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(i + 1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * time.Second)

		strangers := make([]host.Host, 5)
		for i := range strangers {
			strangers[i] = net.Stranger(20 + i)
			connect(t, strangers[i], near)
		}
		before := heap()
		var wg sync.WaitGroup
		for _, s := range strangers {
			wg.Go(func() { besiege(t, s, near) })
			time.Sleep(3 * time.Second) // more streams at once than may be negotiated are reset
		}
		time.Sleep(5 * time.Second)
		const share = 102 // of 256: what libp2p makes of its lowest priority, 40 %
		for _, s := range strangers {
			one, all := near.Held(task.PeerID(s.ID().String()))
			t.Logf("%.1f MiB of a stranger, %.1f in all", mib(one), mib(all))
			if one < 1<<20 || one > p2p.PeerMemory*share/256+windows || all > p2p.NetworkMemory*share/256+windows {
				t.Errorf("%.1f MiB are held for a stranger, %.1f MiB in all", mib(one), mib(all))
			}
		}
		grown := heap() - before
		t.Logf("grown %.1f MiB", mib(grown))
		if grown > p2p.NetworkMemory {
			t.Errorf("the process grew by %.1f MiB", mib(grown))
		}
		body := make([]byte, p2p.MaxRequest/2)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if b, err := member.Request(ctx, near.ID(), "m", body); err != nil || len(b) < len(body) {
			t.Errorf("a member's request: %d bytes, %v", len(b), err)
		}

		time.Sleep(35 * time.Second)
		wg.Wait()
		for _, s := range strangers {
			if one, _ := near.Held(task.PeerID(s.ID().String())); one > windows {
				t.Errorf("after the requests' time %.1f MiB are held for a stranger", mib(one))
			}
		}
		besieged := strangers[0]
		wg.Go(func() { besiege(t, besieged, near) })
		time.Sleep(10 * time.Second)
		if err := besieged.Close(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		time.Sleep(time.Second)
		one, all := near.Held(task.PeerID(besieged.ID().String()))
		if one != 0 {
			t.Errorf("%.1f MiB are held for a stranger that has gone, %.1f MiB in all", mib(one), mib(all))
		}
		if grown := heap() - before; grown > p2p.PeerMemory {
			t.Errorf("the process has grown by %.1f MiB", mib(grown))
		}
	})
}

// windows is what a connection may have reserved to be sent to, beside messages.
const windows = 16 << 20

func mib(n int64) float64 { return float64(n) / (1 << 20) }
