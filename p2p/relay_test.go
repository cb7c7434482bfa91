package p2p_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/blocks"
	"godwit/internal/testnet"
	"godwit/migrate/handover"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"
)

// hiddenTime is within which a node that nobody dials has an address through a
// relay, and the others know it.
const hiddenTime = 90 * time.Second

// stopProtocol carries circuits from a relay to whom they lead to.
const stopProtocol = "/libp2p/circuit/relay/0.2.0/stop"

// apart are three hosts: two behind a NAT, which know the first alone, and can
// meet only through it.
func apart(t *testing.T, nat testnet.NAT, change func(i int, cfg *p2p.Config)) []*testnet.Node {
	t.Helper()
	var nodes []*testnet.Node
	net := testnet.New(t, 3, testnet.Options{
		Bandwidth: 1e9,
		NAT: func(i int) testnet.NAT {
			if i == 0 {
				return testnet.NoNAT
			}
			return nat
		},
		Config: func(i int, cfg *p2p.Config) {
			cfg.OnAddrs = func() { say(t, nodes[i]) }
			if change != nil {
				change(i, cfg)
			}
		},
	})
	nodes = net.Nodes
	for _, n := range nodes {
		say(t, n)
	}
	time.Sleep(hiddenTime)
	return nodes
}

func say(t *testing.T, n *testnet.Node) {
	if err := n.SetAdvert(n.Advert(1)); err != nil {
		t.Error(err)
	}
}

func circuits(n *testnet.Node) []string {
	return slices.DeleteFunc(n.AdvertAddrs(overlay.MaxAddrs), func(a string) bool {
		return !strings.HasSuffix(a, "/p2p-circuit")
	})
}

// transport is how a node is connected to another; "" when it is not.
func transport(n, to *testnet.Node) string {
	for _, p := range n.Peers() {
		if p.ID == to.ID() {
			return p.Transport
		}
	}
	return ""
}

// Two nodes that nobody can dial find each other through the one that both dial:
// questions, frames, blocks and a hand-over go through, each byte as it was, and
// only they have relayed addresses.
func TestRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 12 << 20
		came := make(chan handover.Frame, 1)
		nodes := apart(t, testnet.Symmetric, func(_ int, cfg *p2p.Config) {
			cfg.OnHandOver = func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) {
				f, err := s.Receive()
				if err != nil {
					t.Error(err)
				}
				came <- f
				_ = s.Send(handover.Got{N: 1})
			}
		})
		relay, a, b := nodes[0], nodes[1], nodes[2]
		if c := circuits(relay); len(c) > 0 || len(circuits(a)) == 0 || len(circuits(b)) == 0 {
			t.Fatalf("addresses through relays: %v, %v, %v", c, circuits(a), circuits(b))
		}
		if _, err := a.Request(t.Context(), b.ID(), "echo", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if got := transport(a, b); got != "relay" {
			t.Fatalf("connected by %q", got)
		}
		for _, n := range []*testnet.Node{a, b} { // both are told
			via := ""
			for _, p := range n.Peers() {
				via += string(p.Via)
			}
			if r := n.Reaching(); via != string(relay.ID()) || !r.Hidden || !slices.Equal(r.Relays, []task.PeerID{relay.ID()}) {
				t.Errorf("%s is told %+v, and of a connection through %q", n.ID(), r, via)
			}
		}
		if r := relay.Reaching(); r.Hidden || len(r.Relays) > 0 || r.Circuits != 1 || r.Carried == 0 {
			t.Errorf("the relay is told %+v", r)
		}
		for i := range 10 {
			if err := b.Send(a.ID(), []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}

		data := content(size)
		root, err := a.Blocks().ImportBytes(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Blocks().Fetch(t.Context(), root, []task.PeerID{a.ID()}, blocks.AtMost(1<<40)); err != nil {
			t.Fatal(err)
		}
		f, _, err := b.Blocks().Open(t.Context(), root, blocks.AtMost(1<<40))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); !bytes.Equal(got, data) {
			t.Errorf("of %d bytes %d came, or others: %v", len(data), len(got), err)
		}

		s, err := a.HandOver(t.Context(), b.ID())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Send(handover.Round{N: 1, Manifest: data}); err != nil {
			t.Fatal(err)
		}
		if r, ok := (<-came).(handover.Round); !ok || !bytes.Equal(r.Manifest, data) {
			t.Error("the hand-over brought other bytes")
		}
		if f, err := s.Receive(); f != (handover.Got{N: 1}) {
			t.Errorf("answered with %v, %v", f, err)
		}
		if got := a.Recorder.Frames(b.ID()); len(got) != 10 || got[9] != "\t" {
			t.Errorf("frames %q", got)
		}
		if got := relay.Stats().Protocols[stopProtocol]; got.In+got.Out < 2*size {
			t.Errorf("the relay has counted %+v", got)
		}
	})
}

// Where both routers let in what answers, hole punching makes the circuit
// needless: frames move over without one being lost or coming twice, a gossip
// neighbour is won, and the circuit is closed.
func TestRelayUpgrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := apart(t, testnet.Symmetric, nil)
		a, b := nodes[1], nodes[2]
		a.SetNAT(testnet.PortRestricted)
		b.SetNAT(testnet.PortRestricted)
		const frames = 400
		var want []string
		for i := range frames {
			want = append(want, fmt.Sprint(i))
			if err := a.Send(b.ID(), []byte(want[i])); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		if got := nodes[0].Stats().Protocols[stopProtocol]; got.In == 0 {
			t.Error("they have met without the relay")
		}
		if got := transport(a, b); got != "quic" {
			t.Errorf("connected by %q after a minute", got)
		}
		for _, p := range b.Peers() {
			if strings.Contains(fmt.Sprint(p.Addrs), "p2p-circuit") {
				t.Errorf("the circuit is still there: %v", p.Addrs)
			}
		}
		if got := b.Recorder.Frames(a.ID()); !slices.Equal(got, want) {
			t.Errorf("%d frames of %d came: %.80q", len(got), len(want), got)
		}
		if e := b.Recorder.Events(); slices.Contains(e, "disconnected "+string(a.ID())) {
			t.Errorf("the move was told as a loss")
		}
	})
}

// An owner who wants no relaying relays nothing: nobody gets an address through the
// node, and whoever dials one says so.
func TestRelayOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := apart(t, testnet.Symmetric, func(_ int, cfg *p2p.Config) { cfg.Relaying.Off = true })
		a, b := nodes[1], nodes[2]
		if c := append(circuits(a), circuits(b)...); len(c) > 0 {
			t.Errorf("addresses through one that does not relay: %v", c)
		}
		a.AddAddrs(b.ID(), []string{nodes[0].Addr + "/p2p-circuit"}, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := a.Request(ctx, b.ID(), "echo", nil); err == nil || ctx.Err() != nil {
			t.Errorf("asked through one that does not relay: %v", err)
		}
		if _, err := a.HandOver(ctx, b.ID()); err == nil || ctx.Err() != nil {
			t.Errorf("handed over through one that does not relay: %v", err)
		}
		if got := nodes[0].Stats().Protocols[stopProtocol]; got != (p2p.Traffic{}) {
			t.Errorf("it has relayed %+v", got)
		}
	})
}

// A circuit that carried what it may is cut, and one whose relay dies or whose time
// is over ends too: both sides of a hand-over see an error at once or within its
// deadlines, and not before.
func TestRelayCut(t *testing.T) {
	tests := []struct {
		name   string
		limits p2p.Relaying
		cut    func(relay *testnet.Node)
		within time.Duration
		moved  [2]int64 // least and most bytes that came
	}{
		{"bytes", p2p.Relaying{Bytes: 4 << 20}, nil, 20 * time.Second, [2]int64{3 << 20, 4 << 20}},
		{"time", p2p.Relaying{Time: 10 * time.Second, Rate: 1 << 20}, nil, 20 * time.Second, [2]int64{1 << 20, 8 << 20}},
		{"stopped", p2p.Relaying{}, func(r *testnet.Node) { r.Stop() }, 20 * time.Second, [2]int64{1 << 20, 24 << 20}},
		{"gone", p2p.Relaying{}, func(r *testnet.Node) { r.Mute() }, time.Minute, [2]int64{1 << 20, 24 << 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				var in int64
				nodes := apart(t, testnet.Symmetric, func(_ int, cfg *p2p.Config) {
					cfg.Relaying = tt.limits
					cfg.OnHandOver = func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) {
						_, err := s.Receive()
						_, in = s.Moved()
						ended <- err
					}
				})
				s, err := nodes[1].HandOver(t.Context(), nodes[2].ID())
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				if tt.cut != nil {
					time.AfterFunc(3*time.Second, func() { tt.cut(nodes[0]) })
				}
				err = s.Send(handover.Round{N: 1, Manifest: content(32 << 20)})
				if err == nil {
					_, err = s.Receive()
				}
				if took := time.Since(begun); err == nil || took > tt.within {
					t.Errorf("the source saw %v after %v", err, took)
				}
				s.Close()
				if err := <-ended; err == nil || err == io.EOF || time.Since(begun) > tt.within {
					t.Errorf("the destination saw %v after %v", err, time.Since(begun))
				}
				if in < tt.moved[0] || in > tt.moved[1] {
					t.Errorf("%d bytes came", in)
				}
				nodes[0].Unmute()
			})
		})
	}
}

// What is relayed counts against the relay's owner's rates, each way.
func TestRelayRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		came := make(chan time.Time, 1)
		nodes := apart(t, testnet.Symmetric, func(_ int, cfg *p2p.Config) {
			cfg.Relaying.Rate = 1 << 30
			cfg.OnHandOver = func(_ context.Context, _ task.PeerID, s *p2p.HandOverStream) {
				for {
					if _, err := s.Receive(); err != nil {
						return
					}
					came <- time.Now()
				}
			}
		})
		s, err := nodes[1].HandOver(t.Context(), nodes[2].ID())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, rates := range [][2]int64{{1 << 20, 0}, {0, 1 << 20}} {
			nodes[0].SetRates(rates[0], rates[1])
			begun := time.Now()
			if err := s.Send(handover.Round{N: 1, Manifest: content(12 << 20)}); err != nil {
				t.Fatal(err)
			}
			if d := (<-came).Sub(begun); d < 9*time.Second || d > 14*time.Second {
				t.Errorf("12 MiB went through a relay of %v bytes/s in %v", rates, d)
			}
			nodes[0].SetRates(0, 0)
			time.Sleep(10 * time.Second)
		}
	})
}

// A relay carries for members alone.
func TestRelayStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := apart(t, testnet.Symmetric, nil)
		relay, a, b := nodes[0], nodes[1], nodes[2]
		if err := relay.Leave(testnet.Overlay("test")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := a.Request(ctx, b.ID(), "echo", nil); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("carried for strangers: %v", err)
		}
		time.Sleep(time.Hour + time.Minute) // reservations end and are not given again
		if c := circuits(a); len(c) > 0 {
			t.Errorf("still announced: %v", c)
		}
	})
}

// content is n bytes that do not compress or repeat.
func content(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}
