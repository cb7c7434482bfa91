package p2p_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/p2p"
	"godwit/p2p/cost"
	"godwit/task"
)

// A hub is a network whose first node, which all others dial, may have so many connections.
func hub(t *testing.T, nodes, most int) *testnet.Net {
	net := testnet.New(t, nodes, testnet.Options{Config: func(i int, cfg *p2p.Config) {
		if i == 0 {
			cfg.MaxConns = most
		}
	}})
	for _, n := range net.Nodes {
		if err := n.SetAdvert(n.Advert(1)); err != nil {
			t.Fatal(err)
		}
	}
	return net
}

// told counts what a node was told of others that begins so.
func told(n *testnet.Node, what string) (count int) {
	for _, e := range n.Recorder.Events() {
		if e == what || strings.HasPrefix(e, what+" ") {
			count++
		}
	}
	return count
}

// staying returns the peers that are connected to a node all through a minute. Others dial it at any
// time, and are closed once they had time to show what they are good for.
func staying(n *testnet.Node) map[task.PeerID]bool {
	stay := map[task.PeerID]bool{}
	for _, p := range n.Peers() {
		stay[p.ID] = true
	}
	for range 12 {
		time.Sleep(5 * time.Second)
		here := n.Peers()
		maps.DeleteFunc(stay, func(id task.PeerID, _ bool) bool {
			return !slices.ContainsFunc(here, func(p p2p.Peer) bool { return p.ID == id })
		})
	}
	return stay
}

// TestTrimmed: a node that all dial closes what is too much, which neither side takes for a loss,
// and those that have neighbours enough leave it alone.
func TestTrimmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 6
		net := hub(t, 14, most)
		time.Sleep(5 * time.Minute)
		first := net.Nodes[0]
		if got := len(staying(first)); got > p2p.WantPeers { // as many as it seeks itself
			t.Errorf("%d peers stay, at most %d", got, p2p.WantPeers)
		}
		if told(first, "trimmed") == 0 {
			t.Error("nothing was too much")
		}
		if lost := told(first, "disconnected"); lost > 0 {
			t.Errorf("%d peers were lost", lost)
		}
		if met := told(first, "connected"); met > 3*len(net.Nodes) {
			t.Errorf("it was dialled %d times", met)
		}
		for _, n := range net.Nodes[1:] {
			if lost := told(n, "disconnected"); lost > 0 {
				t.Errorf("%s took %d peers for lost", n.ID(), lost)
			}
		}
		// What is said to one that was closed arrives all the same, or who said it learns that it did not.
		for _, n := range net.Nodes[1:] {
			if err := n.Send(first.ID(), []byte("news")); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		for _, n := range net.Nodes[1:] {
			lost := told(n, "disconnected "+string(first.ID())) > 0
			if got := first.Recorder.Frames(n.ID()); len(got) != 1 && !lost {
				t.Errorf("%d frames came of %s, which does not know it", len(got), n.ID())
			}
		}
	})
}

// TestTrimmedBeforeItWasRead: a frame that was written to a connection just before it was cut off may
// be lost, which its sender is told; one that was written long before was read.
func TestTrimmedBeforeItWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		later time.Duration
		lost  bool
	}{"at once": {0, true}, "long after": {2 * p2p.ReadWithin, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := testnet.New(t, 2, testnet.Options{Alone: true})
				a, b := net.Nodes[0], net.Nodes[1]
				a.Connect(b)
				time.Sleep(10 * time.Second)
				if err := a.Send(b.ID(), []byte("open")); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				if err := a.Send(b.ID(), []byte("news")); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // it is written
				time.Sleep(c.later)
				a.Trim(b.ID())
				time.Sleep(5 * time.Second)
				if lost := told(a, "disconnected") > 0; lost != c.lost {
					t.Errorf("told %q", a.Recorder.Events())
				}
			})
		})
	}
}

// TestTrimmedWithFrames: who is cut off while frames wait for it is told of as lost.
func TestTrimmedWithFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		a, b := net.Nodes[0], net.Nodes[1]
		a.Connect(b)
		time.Sleep(10 * time.Second)
		b.Mute() // so that nothing of what is sent is taken
		for range 4 {
			if err := a.Send(b.ID(), make([]byte, 2<<20)); err != nil {
				break // as much waits as may
			}
		}
		time.Sleep(time.Second)
		a.Trim(b.ID())
		time.Sleep(5 * time.Second)
		// The end may be told before the loss is known, and frames may have it dialled anew and closed as well.
		events := a.Recorder.Events()
		if len(events) < 2 || !strings.HasPrefix(events[0], "connected") || told(a, "disconnected") == 0 {
			t.Errorf("told %q", events)
		}
		b.Unmute()
	})
}

// TestKept: nobody is closed whom a node works with or coordinates, however many they are, and
// others have as much room as ever.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 4
		net := hub(t, 14, most)
		first := net.Nodes[0]
		keep := map[task.PeerID]bool{}
		for _, n := range net.Nodes[1:9] {
			keep[n.ID()] = true
		}
		works := net.Nodes[9]
		first.Keep(keep)
		first.Rank(map[task.PeerID]cost.Class{works.ID(): cost.Worker})
		time.Sleep(3 * time.Minute)
		for _, n := range append(net.Nodes[1:9:9], works) {
			if told(n, "trimmed "+string(first.ID())) > 0 {
				t.Errorf("%s was closed", n.ID())
			}
		}
		if got, _ := first.Room(); got != most+p2p.SpareConns+len(keep)+1 {
			t.Errorf("room for %d connections", got)
		}
		first.Keep(nil)
		first.Rank(nil)
		if conns, memory := first.Room(); conns != most+p2p.SpareConns || memory != p2p.NetworkMemory {
			t.Errorf("afterwards room for %d connections and %d bytes", conns, memory)
		}
		time.Sleep(3 * time.Minute)
		if got := len(staying(first)); got > p2p.WantPeers { // as many as it seeks itself
			t.Errorf("it keeps %d, though nobody says so", got)
		}
	})
}

// TestKeptCrowd: names without end do not make a node take more than it may, and displace nobody
// who was kept before.
func TestKeptCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{})
		a, b := net.Nodes[0], net.Nodes[1]
		a.Keep(map[task.PeerID]bool{b.ID(): true})
		crowd := map[task.PeerID]bool{b.ID(): true}
		for i := range 2 * p2p.MaxKept {
			id, err := p2p.PeerIDOf(testnet.Key(100 + i))
			if err != nil {
				t.Fatal(err)
			}
			crowd[id] = true
		}
		a.Keep(crowd)
		if !a.Keeps(b.ID()) {
			t.Error("who was kept is not any more")
		}
		if conns, memory := a.Room(); conns != p2p.DefaultMaxConns+p2p.SpareConns+p2p.MaxKept ||
			memory != p2p.NetworkMemory+p2p.MaxKept<<20 {
			t.Errorf("room for %d connections and %d bytes", conns, memory)
		}
	})
}
