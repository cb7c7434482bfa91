package p2p_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/p2p/wire"
	"godwit/task"
)

// The hosts only know the first: the others' adverts come to them by hello and
// gossip.
func TestAdvertsReachAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 10, testnet.Options{})
		time.Sleep(5 * time.Second)
		for i, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(i + 1)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		wantAdverts(t, net.Nodes, 1)

		for i, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(i + 100)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		wantAdverts(t, net.Nodes, 100)
		if peers := net.Nodes[5].Peers(); len(peers) < p2p.WantPeers {
			t.Errorf("host 5 is connected to %d peers, want 8 or 9: adverts carry addresses", len(peers))
		}
		for i, n := range net.Nodes {
			if s := n.Stats(); s.Adverts != 9 || s.BytesIn == 0 || s.Peers < p2p.WantPeers {
				t.Errorf("host %d: %+v", i, s)
			}
		}
	})
}

func wantAdverts(t *testing.T, nodes []*testnet.Node, first int) {
	t.Helper()
	for i, n := range nodes {
		for j, of := range nodes {
			slots, ok := n.Recorder.Slots(of.ID())
			if i == j && ok {
				t.Errorf("host %d was told its own advert", i)
			}
			if i != j && slots != first+j {
				t.Errorf("host %d knows %d slots of host %d, want %d", i, slots, j, first+j)
			}
		}
	}
}

// Two nodes know each other within milliseconds of connecting, and each the
// members that the other knows.
func TestHelloOnConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 3, testnet.Options{Alone: true})
		for i, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(i + 1)); err != nil {
				t.Fatal(err)
			}
		}
		a, b, c := net.Nodes[0], net.Nodes[1], net.Nodes[2]
		a.Connect(b)
		time.Sleep(200 * time.Millisecond) // 10 round trips
		if slots, _ := a.Recorder.Slots(b.ID()); slots != 2 {
			t.Errorf("the one that dials knows %d slots, want 2", slots)
		}
		if slots, _ := b.Recorder.Slots(a.ID()); slots != 1 {
			t.Errorf("the one that is dialled knows %d slots, want 1", slots)
		}
		c.Connect(b)
		time.Sleep(200 * time.Millisecond)
		if slots, _ := c.Recorder.Slots(a.ID()); slots != 1 {
			t.Errorf("the newcomer knows %d slots of the third, want 1", slots)
		}
		if slots, _ := a.Recorder.Slots(c.ID()); slots != 3 {
			t.Errorf("the third knows %d slots of the newcomer, want 3", slots)
		}
	})
}

// A host that is stopped is noticed, and found again when it returns.
func TestReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{})
		a, b := net.Nodes[0], net.Nodes[1]
		time.Sleep(2 * time.Second)
		a.Stop()
		time.Sleep(10 * time.Minute)
		id := string(a.ID())
		want := []string{"connected " + id, "disconnected " + id}
		if got := b.Recorder.Events(); !slices.Equal(got, want) {
			t.Fatalf("before the return: %q, want %q", got, want)
		}
		a.Start()
		time.Sleep(time.Minute)
		want = append(want, "connected "+id)
		if got := b.Recorder.Events(); !slices.Equal(got, want) {
			t.Errorf("after the return: %q, want %q", got, want)
		}
		if peers := b.Peers(); len(peers) != 1 || peers[0].Transport != "quic" || peers[0].Direction != "out" ||
			peers[0].Latency < 20*time.Millisecond {
			t.Errorf("peers are %+v", peers)
		}
	})
}

// A connection to a machine that went silent is closed when asked for, long before
// the network would, so that the machine's return is noticed; one that is newer
// stays.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{})
		a, b := net.Nodes[0], net.Nodes[1]
		id := string(a.ID())
		wait := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			if got := b.Recorder.Events(); !slices.Equal(got, want) {
				t.Fatalf("events are %q, want %q", got, want)
			}
		}
		wait(2*time.Second, "connected "+id)
		if !b.Cut(a.ID(), time.Minute) {
			t.Error("a connection of two seconds is not newer than a minute")
		}
		wait(time.Second, "connected "+id)
		a.Mute()
		a.Stop()
		if b.Cut(a.ID(), time.Second) {
			t.Error("a connection of three seconds is newer than one")
		}
		wait(time.Second, "connected "+id, "disconnected "+id)
		if b.Cut(a.ID(), 0) || b.Cut("nobody", 0) {
			t.Error("there are connections to who is gone")
		}
		a.Start()
		wait(time.Minute, "connected "+id, "disconnected "+id, "connected "+id)
	})
}

// Frames come in order, after Connected, without the sender having connected.
func TestFramesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		a, b := net.Nodes[0], net.Nodes[1]
		a.AddAddrs(b.ID(), b.AdvertAddrs(4), time.Hour)
		var want []string
		for i := range 1000 {
			text := fmt.Sprintf("%d %s", i, strings.Repeat("x", i*7%500))
			want = append(want, text)
			if err := a.Send(b.ID(), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		if got := b.Recorder.Frames(a.ID()); !slices.Equal(got, want) {
			t.Errorf("got %d frames, want %d in order", len(got), len(want))
		}
		if events := b.Recorder.Events(); events[0] != "connected "+string(a.ID()) {
			t.Errorf("first came %q", events[0])
		}
	})
}

func TestOutboxOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		a, b := net.Nodes[0], net.Nodes[1]
		if err := a.Send(b.ID(), make([]byte, p2p.MaxFrame+1)); !errors.Is(err, wire.ErrTooLarge) {
			t.Errorf("frame over the limit: %v", err)
		}
		if err := a.Send(a.ID(), nil); !errors.Is(err, p2p.ErrBadPeer) {
			t.Errorf("frame to oneself: %v", err)
		}
		a.AddAddrs(b.ID(), b.AdvertAddrs(4), time.Hour)
		a.Rank(map[task.PeerID]cost.Class{b.ID(): cost.Worker})
		b.Rank(map[task.PeerID]cost.Class{a.ID(): cost.Worker})
		var err error
		sent := 0
		for ; err == nil; sent++ {
			err = a.Send(b.ID(), make([]byte, p2p.MaxFrame))
		}
		if !errors.Is(err, p2p.ErrOutboxFull) || sent != 5 {
			t.Errorf("frame %d of 4 MiB: %v, want ErrOutboxFull at the fifth", sent, err)
		}
		time.Sleep(30 * time.Second)
		if got := len(b.Recorder.Frames(a.ID())); got != 4 {
			t.Errorf("%d frames arrived, want the 4 that were taken", got)
		}
	})
}

// A frame that cannot be delivered is told by Disconnected.
func TestSendToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		a, b := net.Nodes[0], net.Nodes[1]
		a.AddAddrs(b.ID(), b.AdvertAddrs(4), time.Hour)
		b.Stop()
		if err := a.Send(b.ID(), []byte("lost")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got, want := a.Recorder.Events(), []string{"disconnected " + string(b.ID())}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		a, b := net.Nodes[0], net.Nodes[1]
		a.Connect(b)
		ctx := context.Background()
		big := strings.Repeat("x", 3<<20)
		if got, err := a.Request(ctx, b.ID(), "echo", []byte(big)); string(got) != "echo "+big || err != nil {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
		var refused *p2p.RemoteError
		_, err := a.Request(ctx, b.ID(), "refuse", []byte("be\x1ber"))
		if !errors.As(err, &refused) || refused.Text != "no be er for "+string(a.ID()) || refused.Peer != b.ID() {
			t.Errorf("refusal came as %#v", err)
		}
		if _, err := a.Request(ctx, b.ID(), "echo", make([]byte, p2p.MaxRequest+1)); !errors.Is(err, wire.ErrTooLarge) {
			t.Errorf("body over the limit: %v", err)
		}

		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		start := time.Now()
		_, err = a.Request(short, b.ID(), "wait", nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 2*time.Second {
			t.Errorf("request that is not answered: %v after %v", err, time.Since(start))
		}
		gone, leave := context.WithCancel(ctx)
		time.AfterFunc(time.Second, leave)
		if _, err := a.Request(gone, b.ID(), "wait", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("request that is taken back: %v", err)
		}
		time.Sleep(time.Second)
		gaveUp := "gave up " + string(a.ID())
		if got := b.Recorder.Events(); !slices.Equal(got[1:], []string{gaveUp, gaveUp}) {
			t.Errorf("the handler saw %q", got)
		}
	})
}

func TestRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 1, testnet.Options{})
		n := net.Nodes[0]
		n.Stop()
		if err := n.Run(context.Background()); !errors.Is(err, p2p.ErrClosed) {
			t.Errorf("Run of a closed host: %v", err)
		}
		if err := n.Send(testnet.IDs(n)[0], nil); err == nil {
			t.Error("a closed host takes frames")
		}
	})
}
