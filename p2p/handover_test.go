package p2p_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/migrate/handover"
	"godwit/p2p"
	"godwit/task"
)

// movers are hosts that know each other as members; what arrives at the second
// is given to serve.
func movers(t *testing.T, n int, serve func(context.Context, task.PeerID, *p2p.HandOverStream)) []*testnet.Node {
	t.Helper()
	config := func(_ int, cfg *p2p.Config) { cfg.OnHandOver = serve }
	net := testnet.New(t, n, testnet.Options{Bandwidth: 1e9, Config: config})
	for i, node := range net.Nodes {
		if err := node.SetAdvert(node.Advert(i + 1)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * time.Second)
	return net.Nodes
}

func pages(blocks, size int) handover.Pages {
	var p handover.Pages
	for i := range blocks {
		p.Add(handover.Block{Hash: handover.Hash{byte(i)}, Page: uint32(i), Data: bytes.Repeat([]byte{byte(i + 1)}, size)})
	}
	return p
}

// Frames of all sizes come as they were sent, both ways, and the end of the stream
// after the last.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		frames := []handover.Frame{
			pages(3, 64<<10), handover.Round{N: 1, Fuel: 7, CPU: time.Second, Manifest: bytes.Repeat([]byte("m"), 3<<20)},
			handover.Got{N: 1}, handover.Resumed{Hash: handover.Hash{9}},
		}
		nodes := movers(t, 2, func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) {
			for {
				f, err := s.Receive()
				if err != nil || s.Send(f) != nil {
					return
				}
			}
		})
		s, err := nodes[0].HandOver(t.Context(), nodes[1].ID())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			if err := s.Send(f); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Receive(); err != nil || !reflect.DeepEqual(got, f) {
				t.Fatalf("%T came back as %T, %v", f, got, err)
			}
		}
		begun := time.Now()
		if err := s.Send(handover.Got{N: 2}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Receive(); err != nil || time.Since(begun) > 40*time.Millisecond {
			t.Errorf("a small frame and its answer took %v on a line of 10 ms: %v", time.Since(begun), err)
		}
		if out, in := s.Moved(); out != in || out < 3<<20 {
			t.Errorf("%d bytes left, %d came", out, in)
		}
		s.Close()
		if err := s.Send(handover.Welcome{}); !errors.Is(err, p2p.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// The owner's rates hold, at either side, and for the bytes of one large frame.
func TestHandOverRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate = 1 << 20
		came := make(chan time.Time, 1)
		nodes := movers(t, 2, func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) {
			for {
				if _, err := s.Receive(); err != nil {
					return
				}
				came <- time.Now()
			}
		})
		s, err := nodes[0].HandOver(t.Context(), nodes[1].ID())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		took := func() time.Duration {
			begun := time.Now()
			if err := s.Send(handover.Round{N: 1, Manifest: make([]byte, 12<<20)}); err != nil {
				t.Fatal(err)
			}
			return (<-came).Sub(begun)
		}
		nodes[0].SetRates(rate, 0)
		if d := took(); d < 9*time.Second || d > 13*time.Second { // 2 MiB at once, 10 at the rate
			t.Errorf("12 MiB left at 1 MiB/s in %v", d)
		}
		nodes[0].SetRates(0, 0)
		nodes[1].SetRates(0, rate)
		if d := took(); d < 9*time.Second || d > 13*time.Second {
			t.Errorf("12 MiB came at 1 MiB/s in %v", d)
		}
	})
}

// Who shares no overlay neither brings a hand-over nor is brought one.
func TestHandOverStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := movers(t, 2, func(_ context.Context, from task.PeerID, _ *p2p.HandOverStream) {
			t.Errorf("a stream of %s was served", from)
		})
		if err := nodes[1].Leave(testnet.Overlay("test")); err != nil {
			t.Fatal(err)
		}
		if _, err := nodes[1].HandOver(t.Context(), nodes[0].ID()); !errors.Is(err, p2p.ErrStranger) {
			t.Errorf("to a stranger: %v", err)
		}
		s, err := nodes[0].HandOver(t.Context(), nodes[1].ID())
		if err == nil {
			_ = s.Send(handover.Open{Overlay: "o"})
			_, err = s.Receive()
			s.Close()
		}
		if err == nil {
			t.Error("a stranger was answered")
		}
	})
}

// A stream cut in the middle of a frame, by the loss of a host, is an error at
// both sides, and the end of a host ends its streams.
func TestHandOverCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		nodes := movers(t, 2, func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) {
			for {
				if _, err := s.Receive(); err != nil {
					ended <- err
					return
				}
			}
		})
		for _, cut := range []func(){
			func() { nodes[1].Mute(); nodes[0].Cut(nodes[1].ID(), 0) },
			func() { nodes[0].Stop() },
		} {
			s, err := nodes[0].HandOver(t.Context(), nodes[1].ID())
			if err != nil {
				t.Fatal(err)
			}
			nodes[0].SetRates(1<<20, 0)
			sent := make(chan error, 1)
			go func() { sent <- s.Send(handover.Round{N: 1, Manifest: make([]byte, 32<<20)}) }()
			time.Sleep(5 * time.Second)
			cut()
			if err := <-sent; err == nil {
				t.Error("Send returned no error")
			}
			if _, err := s.Receive(); err == nil {
				t.Error("Receive returned no error")
			}
			s.Close()
			if err := <-ended; err == nil || err == io.EOF {
				t.Errorf("the other side saw %v", err)
			}
			nodes[1].Unmute()
			time.Sleep(5 * time.Minute) // both find each other again
			for _, n := range nodes {
				_ = n.SetAdvert(n.Advert(1))
			}
			time.Sleep(10 * time.Second)
		}
	})
}

// Who does not read is waited for, not buffered for, and given up after half a
// minute; Hang does not wait for it.
func TestHandOverStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := movers(t, 2, func(ctx context.Context, _ task.PeerID, s *p2p.HandOverStream) { <-ctx.Done() })
		for _, hang := range []bool{false, true} {
			s, err := nodes[0].HandOver(t.Context(), nodes[1].ID())
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			sent := make(chan error, 1)
			go func() { sent <- s.Send(handover.Round{N: 1, Manifest: make([]byte, 60<<20)}) }()
			if hang {
				time.Sleep(5 * time.Second)
				s.Hang("it is stuck")
			}
			err = <-sent
			out, _ := s.Moved()
			d := time.Since(begun)
			if err == nil || hang && d > 8*time.Second || !hang && (d < 30*time.Second || d > 40*time.Second) {
				t.Errorf("given up after %v: %v", d, err)
			}
			if out > 20<<20 {
				t.Errorf("%d bytes left for one who does not read", out)
			}
			s.Close()
		}
	})
}

// Only so many hand-overs run at once; the next is taken when one has ended. One
// that says nothing at its beginning has half a minute.
func TestHandOverCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := movers(t, 2, func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) { _, _ = s.Receive() })
		var all []*p2p.HandOverStream
		for {
			s, err := nodes[0].HandOver(t.Context(), nodes[1].ID())
			if errors.Is(err, p2p.ErrBusy) {
				break
			}
			if err != nil || len(all) > 1000 {
				t.Fatal(len(all), err)
			}
			all = append(all, s)
		}
		for i, s := range all {
			if i == 0 {
				begun := time.Now()
				if _, err := s.Receive(); err == nil || time.Since(begun) > 40*time.Second {
					t.Errorf("after %v: %v", time.Since(begun), err)
				}
			}
			s.Close()
			s.Close()
		}
		s, err := nodes[0].HandOver(t.Context(), nodes[1].ID())
		if err != nil {
			t.Fatal(err)
		}
		s.Hang("no more")
	})
}

// What is no frame ends the stream before anything is allocated for it.
func TestHandOverHostileBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		nodes := movers(t, 2, func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) {
			_, err := s.Receive()
			ended <- err
		})
		for _, b := range [][]byte{
			{0, 0}, {11, 1, 1}, // unknown kinds
			{byte(handover.KindPages), 0xff, 0xff, 0xff, 0x7f},       // more than its limit
			{byte(handover.KindFinal), 0xff, 0xff, 0xff, 0xff, 0x7f}, // the same
			{byte(handover.KindGot), 3, 0, 0, 0},                     // too short for what it is
			{byte(handover.KindRound), 100, 1, 2, 3},                 // cut off
		} {
			raw := nodes[0].RawHandOver(t, nodes[1].Host)
			if _, err := raw.Write(b); err != nil {
				t.Fatal(err)
			}
			_ = raw.CloseWrite()
			if err := <-ended; err == nil || err == io.EOF {
				t.Errorf("%x was taken: %v", b, err)
			}
		}
	})
}
