package p2p_test

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/testnet"
	"godwit/overlay"
	"godwit/p2p"
	"godwit/task"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

const graylist = -100 // the score below which a peer is not heard

// besieged is a swarm of two, near and far, and an attacker that near alone is
// connected to. A third host is not connected to anyone yet.
func besieged(t *testing.T) (net *testnet.Net, near, far, third *testnet.Node) {
	net = testnet.New(t, 3, testnet.Options{Alone: true})
	near, far, third = net.Nodes[0], net.Nodes[1], net.Nodes[2]
	near.Connect(far)
	for i, n := range net.Nodes {
		if err := n.SetAdvert(n.Advert(i + 1)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(5 * time.Second)
	return net, near, far, third
}

// wantUnharmed checks that near and far go on as if nothing had happened: they
// hear of each other, and of a third that now joins.
func wantUnharmed(t *testing.T, near, far, third *testnet.Node) {
	t.Helper()
	third.Connect(near)
	for i, n := range []*testnet.Node{near, far, third} {
		if err := n.SetAdvert(n.Advert(11 + i)); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(10 * time.Second)
	wantAdverts(t, []*testnet.Node{near, far, third}, 11)
}

// Bytes that no advert begins with, or whose lengths are negative or beyond
// everything, are refused before anything is allocated for them.
func TestHostileLengths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, near, far, third := besieged(t)
		attacker, shout := megaphone(t, net, near, 20)
		good := encode(t, third.Advert(1))
		endless := bytes.Repeat([]byte{0xff}, 8)
		for _, b := range [][]byte{
			append([]byte{0x5b}, endless...),             // bytes, 2^64-1 of them
			append([]byte{0x9b}, endless...),             // an array of as many
			append([]byte{0xbb}, endless...),             // a map
			append([]byte{0xa1, 0x01, 0x3b}, endless...), // a negative number for a peer
			{0x9f, 0x01}, // without end
			bytes.Replace(good, []byte{0x58, 32}, []byte{0x38, 32}, 1),  // a negative length
			bytes.Replace(good, []byte{0x58, 32}, []byte{0x5a, 255}, 1), // a longer one
			bytes.Repeat([]byte{0x81}, 4000),                            // depth
		} {
			shout(b)
			time.Sleep(100 * time.Millisecond)
		}
		if got := near.Stats().DroppedAdverts["invalid"]; got != 8 {
			t.Errorf("%d of 8 were dropped as invalid: %v", got, near.Stats().DroppedAdverts)
		}
		if score := near.Score(attacker); score > -79 {
			t.Errorf("the attacker has score %v", score)
		}
		wantUnharmed(t, near, far, third)
	})
}

// Adverts from the future cost the score of who sends them.
func TestHostileFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, near, far, third := besieged(t)
		attacker, shout := megaphone(t, net, near, 20)
		for i := range 50 {
			a := third.Advert(1)
			a.Issued, a.Expires = a.Issued.Add(time.Duration(i+2)*time.Minute), a.Expires.Add(time.Duration(i+2)*time.Minute)
			a.Seq += 1 << 60
			resign(t, third, &a)
			shout(encode(t, a))
			time.Sleep(100 * time.Millisecond)
		}
		wantSilenced(t, near, attacker, "future", 11)
		if n := len(far.Stats().DroppedAdverts); n != 0 {
			t.Errorf("they were relayed: %v", far.Stats().DroppedAdverts)
		}
		wantUnharmed(t, near, far, third)
	})
}

// wantSilenced checks that a host counted just so many offences of a peer and
// then heard it no more.
func wantSilenced(t *testing.T, n *testnet.Node, attacker task.PeerID, reason string, offences uint64) {
	t.Helper()
	if got := n.Stats().DroppedAdverts; got[reason] != offences {
		t.Errorf("dropped %v, want %d for %q", got, offences, reason)
	}
	if score := n.Score(attacker); score >= graylist {
		t.Errorf("the attacker has score %v", score)
	}
}

// A gossip message of 10 MB is cut off at its length, and who sends three is not
// heard again, on that stream or another.
func TestHostileMegabytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, near, far, third := besieged(t)
		stranger := net.Stranger(20)
		connect(t, stranger, near)
		big := append(binary.AppendUvarint(nil, 10<<20), make([]byte, 10<<20)...)
		for range 6 {
			s, err := stranger.NewStream(network.WithNoDial(t.Context(), "test"), peerID(t, near), protocolOf("/meshsub/1.1.0"))
			if err != nil {
				t.Fatal(err)
			}
			if n, err := s.Write(big); err == nil {
				t.Errorf("%d bytes were taken", n)
			}
			s.Reset()
		}
		wantSilenced(t, near, task.PeerID(stranger.ID().String()), "size", 3)
		if got := near.Stats().BytesIn; got > 1<<20 {
			t.Errorf("%d bytes were read", got)
		}
		wantUnharmed(t, near, far, third)
	})
}

// Ten thousand members that do not exist, their signatures invented: eleven are
// looked at.
func TestForgedPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, near, far, third := besieged(t)
		attacker, shout := megaphone(t, net, near, 20)
		forged := encode(t, third.Advert(1))
		at := bytes.Index(forged, []byte{0x58, 32}) + 2 // the member's key
		for i := range 10_000 {
			seed := binary.LittleEndian.AppendUint64(make([]byte, 24), uint64(i))
			key := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
			copy(forged[at:], key)
			shout(bytes.Clone(forged))
		}
		time.Sleep(time.Second)
		got := near.Stats()
		if n := got.DroppedAdverts["invalid"]; n < 11 || n > 200 || got.Adverts != 1 { // a few are under way at once
			t.Errorf("%d were looked at, %d members known", n, got.Adverts)
		}
		if score := near.Score(attacker); score >= graylist {
			t.Errorf("the attacker has score %v", score)
		}
		wantUnharmed(t, near, far, third)
	})
}

// Ten thousand members that do not exist, each with a key of its own and well
// signed: as many get in as one neighbour may tell of, a quarter of those a host
// remembers, and honest members lose nothing.
func TestSybils(t *testing.T) {
	notUnderRace(t)
	synctest.Test(t, func(t *testing.T) {
		net, near, far, third := besieged(t)
		attacker, shout := megaphone(t, net, near, 20)
		for i := range 10_000 {
			shout(sybil(t, i))
		}
		time.Sleep(time.Second)
		got := near.Stats()
		if got.Adverts > p2p.MaxAdverts/4+200 || got.DroppedAdverts["flood"] < 100 || got.DroppedAdverts["flood"] > 500 {
			t.Errorf("%d members are known; dropped %v", got.Adverts, got.DroppedAdverts)
		}
		if score := near.Score(attacker); score >= graylist {
			t.Errorf("the attacker has score %v", score)
		}
		if score := far.Score(near.ID()); score != 0 {
			t.Errorf("the relay is blamed: %v, dropped %v", score, far.Stats().DroppedAdverts)
		}
		wantUnharmed(t, near, far, third)
	})
}

func sybil(t *testing.T, i int) []byte {
	t.Helper()
	key := testnet.Key(1000 + i)
	id, err := p2p.PeerIDOf(key)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a := overlay.Advert{
		Peer: id, Overlay: testnet.Overlay("test"), Seq: uint64(now.UnixNano()), Issued: now, Expires: now.Add(advertLife),
	}
	if err := a.Sign(key); err != nil {
		t.Fatal(err)
	}
	return encode(t, a)
}

// A member that renews its advert without pause is heard now and then, and who
// does so itself is blamed for it.
func TestRenewalFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, near, far, third := besieged(t)
		attacker, shout := megaphone(t, net, near, 20)
		for range 1000 {
			a := far.Advert(5)
			a.Seq += 1 << 40 // ahead of what far says itself
			resign(t, far, &a)
			shout(encode(t, a))
			time.Sleep(9 * time.Millisecond)
		}
		if n := near.Stats().DroppedAdverts["often"]; n < 900 {
			t.Errorf("%d of 1000 renewals in 10 s were dropped", n)
		}
		if score := near.Score(attacker); score != 0 {
			t.Errorf("who relayed them has score %v", score)
		}
		third.Connect(near)
		time.Sleep(time.Second)
		if slots, _ := near.Recorder.Slots(third.ID()); slots != 3 {
			t.Errorf("%d slots of the third", slots)
		}
	})
}

// Where every place is taken by members that do not exist, one that is connected
// gets the place of the youngest.
func TestFullTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, near, _, third := besieged(t)
		near.FillAdverts(testnet.Overlay("test"))
		_, shout := megaphone(t, net, near, 20)
		shout(sybil(t, 1))
		time.Sleep(time.Second)
		if n := near.Stats().DroppedAdverts["full"]; n != 1 {
			t.Errorf("dropped %v", near.Stats().DroppedAdverts)
		}
		third.Connect(near)
		time.Sleep(time.Second)
		if slots, _ := near.Recorder.Slots(third.ID()); slots != 3 || near.Stats().Adverts != p2p.MaxAdverts {
			t.Errorf("%d slots of the third, %d members", slots, near.Stats().Adverts)
		}
	})
}

// The same newcomers told by hello: the budget is the same.
func TestHelloFlood(t *testing.T) {
	notUnderRace(t)
	synctest.Test(t, func(t *testing.T) {
		net, near, far, third := besieged(t)
		stranger := net.Stranger(20)
		connect(t, stranger, near)
		for i := range 8 {
			var hello []byte
			for j := range 256 {
				b := sybil(t, 256*i+j)
				hello = append(binary.AppendUvarint(hello, uint64(len(b))), b...)
			}
			s, err := stranger.NewStream(network.WithNoDial(t.Context(), "test"), peerID(t, near), protocolOf(p2p.ProtocolHello))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = s.Write(hello)
			s.CloseWrite()
			time.Sleep(100 * time.Millisecond)
		}
		got := near.Stats()
		if got.Adverts > p2p.MaxAdverts/4+50 {
			t.Errorf("%d members are known; dropped %v", got.Adverts, got.DroppedAdverts)
		}
		if score := near.Score(task.PeerID(stranger.ID().String())); score >= graylist || score < graylist-2 {
			t.Errorf("the attacker has score %v", score)
		}
		wantUnharmed(t, near, far, third)
	})
}

func connect(t *testing.T, stranger host.Host, to *testnet.Node) {
	t.Helper()
	if err := stranger.Connect(t.Context(), peer.AddrInfo{ID: peerID(t, to), Addrs: addrsOf(t, to)}); err != nil {
		t.Fatal(err)
	}
}

// notUnderRace skips a test of ten thousand signatures where each takes twenty
// times as long. scripts/test runs it without the race detector as well.
func notUnderRace(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("takes minutes under the race detector")
	}
}

// Peers that break the rules of a stream lose the stream; the host goes on.
func TestHostileStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := testnet.New(t, 1, testnet.Options{})
		host := net.Nodes[0]
		huge := binary.AppendUvarint(nil, 1<<40)
		tests := []struct {
			name, protocol string
			send           []byte
		}{
			{"a frame of a terabyte", p2p.ProtocolFrame, huge},
			{"a length without end", p2p.ProtocolFrame, bytes.Repeat([]byte{0xff}, 20)},
			{"a method of a terabyte", p2p.ProtocolRequest, huge},
			{"a body of a terabyte", p2p.ProtocolRequest, append([]byte{1, 'm', 1}, huge...)},
			{"an advert of a terabyte", p2p.ProtocolHello, huge},
			{"an advert that is none", p2p.ProtocolHello, append([]byte{9}, "nonsense!"...)},
			{"wants of a terabyte", p2p.ProtocolBlocks, huge},
			{"wants that are no CIDs", p2p.ProtocolBlocks, append([]byte{9}, "nonsense!"...)},
		}
		for i, tt := range tests {
			stranger := net.Stranger(10 + i)
			stranger.Peerstore().AddAddrs(peerID(t, host), addrsOf(t, host), time.Hour)
			s, err := stranger.NewStream(t.Context(), peerID(t, host), protocolOf(tt.protocol))
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if _, err := s.Write(tt.send); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			_ = s.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := bufio.NewReader(s).ReadByte(); err == nil || strings.Contains(err.Error(), "deadline") {
				t.Errorf("%s: the stream goes on: %v", tt.name, err)
			}
		}
		if got := host.Stats().DroppedAdverts; got["invalid"] != 1 || got["hello"] != 1 {
			t.Errorf("dropped adverts: %v", got)
		}
	})
}
