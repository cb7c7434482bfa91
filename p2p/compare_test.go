package p2p_test

import (
	"bufio"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/p2p/wire"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
)

// A member of which one node alone was never told is found within some minutes, with nobody saying
// anything anew.
func TestMissedMemberIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 10, testnet.Options{})
		setAdvert(t, testnet.Overlay("test"), 1, net.Nodes...)
		time.Sleep(30 * time.Second)
		wantMembers(t, net, 9)
		for i, n := range net.Nodes[1:] {
			n.ForgetAdvert(testnet.Overlay("test"), net.Nodes[i].ID())
		}
		wantMembersOf(t, net.Nodes[3], 8)
		time.Sleep(3 * time.Minute) // adverts are renewed after 13.5
		wantMembers(t, net, 9)
	})
}

func wantMembers(t *testing.T, net *testnet.Net, want int) {
	t.Helper()
	for _, n := range net.Nodes {
		wantMembersOf(t, n, want)
	}
}

func wantMembersOf(t *testing.T, n *testnet.Node, want int) {
	t.Helper()
	if got := n.Stats().Adverts; got != want {
		t.Errorf("%s knows %d members, want %d", n.ID(), got, want)
	}
}

// A node that begins in a swarm is told of all, and has nobody told anew what all know.
func TestNewcomerRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 12, testnet.Options{})
		newcomer, others := net.Nodes[11], net.Nodes[:11]
		newcomer.Stop()
		id := testnet.Overlay("test")
		setAdvert(t, id, 1, others...)
		time.Sleep(3 * time.Minute) // gossip has forgotten
		const each = 4000           // bytes that a connection may take with all that is said on it at first
		bytes := func() (sum int64) {
			for _, n := range others {
				sum += int64(n.Stats().BytesIn)
			}
			return sum
		}
		before := bytes()
		time.Sleep(20 * time.Second)
		quiet := bytes() - before
		newcomer.Start()
		time.Sleep(20 * time.Second)
		wantMembersOf(t, newcomer, 11)
		if more := bytes() - before - 2*quiet; more > int64(len(others)*each) {
			t.Errorf("a newcomer costs %d members %d bytes", len(others), more)
		}
	})
}

// Whoever compares without end is answered a few times, and then now and then.
func TestCompareFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 3, testnet.Options{})
		setAdvert(t, testnet.Overlay("test"), 1, net.Nodes...)
		time.Sleep(10 * time.Second)
		stranger := net.Stranger(20)
		connect(t, stranger, net.Nodes[0])
		asked, answered := 0, 0
		for range 300 {
			asked++
			if n, err := compare(t, stranger, net.Nodes[0], p2p.NothingKnown(testnet.Overlay("test"))); err == nil && n == 3 {
				answered++
			} else if err == nil && n > 0 {
				t.Fatalf("%d adverts came of 3", n)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if answered < 3 || answered > 3+3*3+1 {
			t.Errorf("%d of %d were answered", answered, asked)
		}
		wantMembers(t, net, 2)
	})
}

// What is no list ends the stream, and is held against its sender; the node goes on.
func TestCompareNonsense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{})
		setAdvert(t, testnet.Overlay("test"), 1, net.Nodes...)
		time.Sleep(10 * time.Second)
		stranger := net.Stranger(20)
		connect(t, stranger, net.Nodes[0])
		if _, err := compare(t, stranger, net.Nodes[0], []byte("nonsense")); err == nil {
			t.Error("nonsense was answered")
		}
		if score := net.Nodes[0].Score(task.PeerID(stranger.ID().String())); score >= 0 {
			t.Errorf("its score is %v", score)
		}
		wantMembers(t, net, 1)
	})
}

// compare has a stranger compare bytes, and returns how many adverts it is told.
func compare(t *testing.T, stranger host.Host, with *testnet.Node, lists []byte) (n int, err error) {
	t.Helper()
	s, err := stranger.NewStream(network.WithNoDial(t.Context(), "test"), peerID(t, with), protocolOf(p2p.ProtocolCompare))
	if err != nil {
		return 0, err
	}
	defer s.Reset()
	w := bufio.NewWriter(s)
	if err := errors.Join(wire.WriteFrame(w, lists), w.Flush(), s.CloseWrite()); err != nil {
		return 0, err
	}
	for r := bufio.NewReader(s); ; n++ {
		switch _, err := wire.ReadFrame(r, overlay.MaxAdvertBytes, nil); {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return n, err
		}
	}
}
