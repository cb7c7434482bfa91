package p2p_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
)

func peerID(t *testing.T, n *testnet.Node) peer.ID {
	t.Helper()
	id, err := peer.Decode(string(n.ID()))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func addrsOf(t *testing.T, n *testnet.Node) []ma.Multiaddr {
	t.Helper()
	var addrs []ma.Multiaddr
	for _, text := range n.AdvertAddrs(4) {
		addrs = append(addrs, ma.StringCast(text))
	}
	return addrs
}

func protocolOf(s string) protocol.ID { return protocol.ID(s) }

// Adverts that are invalid, expired, old or of another overlay are dropped and
// counted, neither told nor relayed, and who sends many is not listened to.
func TestHostileAdverts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 3, testnet.Options{Alone: true})
		near, far, author := net.Nodes[0], net.Nodes[1], net.Nodes[2]
		near.Connect(far)
		old, current := author.Advert(1), author.Advert(2)
		current.Seq++
		resign(t, author, &current)
		dying := author.Advert(3)
		dying.Expires = dying.Issued.Add(time.Second)
		resign(t, author, &dying)
		other := author.Advert(4)
		other.Overlay = testnet.Overlay("other")
		resign(t, author, &other)
		forged := author.Advert(5)
		forged.Slots++
		rival := current
		rival.Slots = 6
		resign(t, author, &rival)
		author.Stop()
		time.Sleep(5 * time.Second)

		say := loudspeaker(t, net, near)
		say(encode(t, current))
		if slots, _ := far.Recorder.Slots(author.ID()); slots != 2 {
			t.Fatalf("a good advert was not relayed: %d slots", slots)
		}
		for _, b := range [][]byte{
			encode(t, old), encode(t, dying), encode(t, other), encode(t, forged), encode(t, rival),
			[]byte("nonsense"), make([]byte, 5000),
		} {
			say(b)
		}
		want := map[string]uint64{"older": 1, "expired": 1, "overlay": 1, "invalid": 2, "rivals": 1, "size": 1}
		got := near.Stats().DroppedAdverts
		for reason, n := range want {
			if got[reason] != n {
				t.Errorf("dropped for %q: %d, want %d (all: %v)", reason, got[reason], n, got)
			}
		}
		if slots, _ := far.Recorder.Slots(author.ID()); slots != 2 || len(far.Stats().DroppedAdverts) != 0 {
			t.Errorf("bad adverts were relayed: %d slots, %v", slots, far.Stats().DroppedAdverts)
		}
		for i := range 20 {
			say([]byte{byte(i)})
		}
		before := near.Stats().DroppedAdverts["invalid"]
		say([]byte("more"))
		if after := near.Stats().DroppedAdverts["invalid"]; after != before || after > 15 {
			t.Errorf("a peer is still heard after %d invalid adverts", after)
		}
	})
}

// Messages carry nothing but topic and advert, whoever publishes or relays them: a
// library that keeps to the rule for unsigned messages delivers them.
func TestMessagesHaveNoAuthor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 2, testnet.Options{Alone: true})
		near, far := net.Nodes[0], net.Nodes[1]
		near.Connect(far)
		stranger := net.Stranger(20)
		var mu sync.Mutex
		var heard []*pb.Message // as they were on the wire
		listen := func(_ peer.ID, rpc *pubsub.RPC) error {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, rpc.GetPublish()...)
			return nil
		}
		ps, err := pubsub.NewGossipSub(t.Context(), stranger, pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign),
			pubsub.WithNoAuthor(),
			pubsub.WithMessageIdFn(func(m *pb.Message) string { return string(m.Data) }),
			pubsub.WithAppSpecificRpcInspector(listen))
		if err != nil {
			t.Fatal(err)
		}
		topic, err := ps.Join(p2p.TopicOf(testnet.Overlay("test")))
		if err != nil {
			t.Fatal(err)
		}
		sub, err := topic.Subscribe()
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Cancel()
		connect(t, stranger, near)
		time.Sleep(10 * time.Second)
		for i, n := range net.Nodes {
			if err := n.SetAdvert(n.Advert(5 + i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			m, err := sub.Next(ctx)
			cancel()
			if err != nil {
				t.Fatalf("the advert of host %d was not delivered: %v", i, err)
			}
			if a, err := overlay.OpenAdvert(m.Data, time.Now()); err != nil || a.Peer != n.ID() {
				t.Errorf("advert of %s, want host %d: %v", a.Peer, i, err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(heard) < len(net.Nodes) {
			t.Errorf("%d messages were heard", len(heard))
		}
		for _, m := range heard {
			if m.From != nil || m.Seqno != nil || m.Key != nil || m.Signature != nil {
				t.Errorf("a message has author %x, number %x, key %x, signature %x", m.From, m.Seqno, m.Key, m.Signature)
			}
		}
	})
}

func resign(t *testing.T, n *testnet.Node, a *overlay.Advert) {
	t.Helper()
	if err := a.Sign(n.Key); err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, a overlay.Advert) []byte {
	t.Helper()
	b, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// loudspeaker is a stranger that publishes anything, connected to one host. It
// waits until what it said has spread.
func loudspeaker(t *testing.T, net *testnet.Net, to *testnet.Node) func([]byte) {
	t.Helper()
	_, shout := megaphone(t, net, to, 20)
	return func(b []byte) {
		shout(b)
		time.Sleep(3 * time.Second)
	}
}

// megaphone is a loudspeaker that waits for no more than its own queue.
func megaphone(t *testing.T, net *testnet.Net, to *testnet.Node, i int) (task.PeerID, func([]byte)) {
	t.Helper()
	stranger := net.Stranger(i)
	ps, err := pubsub.NewGossipSub(t.Context(), stranger,
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign), pubsub.WithNoAuthor(),
		pubsub.WithFloodPublish(true), pubsub.WithMessageIdFn(func(m *pb.Message) string { return string(m.Data) }))
	if err != nil {
		t.Fatal(err)
	}
	topic, err := ps.Join(p2p.TopicOf(testnet.Overlay("test")))
	if err != nil {
		t.Fatal(err)
	}
	sub, err := topic.Subscribe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sub.Cancel)
	connect(t, stranger, to)
	time.Sleep(3 * time.Second)
	return task.PeerID(stranger.ID().String()), func(b []byte) {
		if err := topic.Publish(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}
