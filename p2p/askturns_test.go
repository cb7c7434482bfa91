package p2p_test

import (
	"bufio"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/p2p/wire"
	"godwit/task"
)

// Many fetches from one peer at once wait for each other: none is turned away because the peer lets in no
// more streams, and one that is given up leaves its turn to others.
func TestManyAskOnePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		serve := func(_ context.Context, _ task.PeerID, s *wire.Stream) {
			defer s.Close()
			for n := now.Add(1); n > most.Load(); {
				most.Store(n)
			}
			defer now.Add(-1)
			if _, err := wire.ReadFrame(bufio.NewReader(s), 16, s.Count); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
			_, _ = s.Write([]byte{7})
		}
		net := testnet.New(t, 2, testnet.Options{Config: func(_ int, cfg *p2p.Config) { cfg.OnBlocks = serve }})
		time.Sleep(10 * time.Second) // until they know each other
		ask := func(ctx context.Context) error {
			s, end, err := net.Nodes[1].AskBlocks(ctx, net.Nodes[0].ID())
			if err != nil {
				return err
			}
			defer end()
			if _, err := s.Write([]byte{1, 0}); err != nil {
				return err
			}
			_, err = io.ReadFull(s, make([]byte, 1))
			return err
		}
		if err := ask(t.Context()); err != nil { // and until the one is introduced
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := ask(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := ask(short); err == nil {
			t.Error("who waits no longer was answered")
		}
		all.Wait()
		if err := ask(t.Context()); err != nil {
			t.Error(err)
		}
		if n := most.Load(); n < 2 || n > 16 {
			t.Errorf("%d streams at once", n)
		}
	})
}

// Few streams are kept to one peer, and of those alone on which all was answered; they end with the host.
func TestFewStreamsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all, now atomic.Int64
		serve := func(_ context.Context, _ task.PeerID, s *wire.Stream) {
			all.Add(1)
			now.Add(1)
			defer now.Add(-1)
			defer s.Close()
			_, _ = io.Copy(s, s)
		}
		net := testnet.New(t, 2, testnet.Options{Config: func(_ int, cfg *p2p.Config) { cfg.OnBlocks = serve }})
		time.Sleep(10 * time.Second) // until they know each other
		ask := func(settled bool) (end func(), kept bool) {
			s, end, err := net.Nodes[1].AskBlocks(t.Context(), net.Nodes[0].ID())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(s, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			s.Settled = settled
			return end, s.Kept
		}
		var ends []func()
		for range 6 {
			end, kept := ask(true)
			if kept {
				t.Error("a stream that is in use was given to another")
			}
			ends = append(ends, end)
		}
		for _, end := range ends {
			end()
			end()
		}
		time.Sleep(time.Second)
		if n := now.Load(); n != 2 {
			t.Errorf("%d streams are kept, want 2", n)
		}
		for range 2 {
			end, kept := ask(false)
			if !kept {
				t.Error("a stream that was kept is not used")
			}
			end()
		}
		time.Sleep(time.Second)
		if n := now.Load(); n != 0 {
			t.Errorf("%d streams are kept that are not settled", n)
		}
		end, _ := ask(true)
		end()
		time.Sleep(15 * time.Second)
		if n := now.Load(); n != 0 {
			t.Errorf("%d streams on which nothing is asked are kept", n)
		}
		end, _ = ask(true)
		end()
		net.Nodes[1].Stop()
		time.Sleep(time.Second)
		if n := now.Load(); n != 0 || all.Load() != 8 {
			t.Errorf("%d streams after the end, %d in all, want 0 and 8", n, all.Load())
		}
	})
}
