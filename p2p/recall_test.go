package p2p

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/task"

	"pgregory.net/rapid"
)

var testNow = time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)

const testPeers = 128

// testIDs are names of peers.
var testIDs = sync.OnceValue(func() (ids []task.PeerID) {
	for i := range testPeers {
		id, err := PeerIDOf(testConfig(byte(i)).Key)
		if err != nil {
			panic(err)
		}
		ids = append(ids, id)
	}
	return ids
})

// metPeer is a peer of a network, met so many hours ago.
func metPeer(i, network, hours int, dialled bool) MetPeer {
	return MetPeer{
		Peer: testIDs()[i%testPeers], Met: testNow.Add(-time.Duration(hours) * time.Hour), Dialled: dialled,
		Addrs: []string{fmt.Sprintf("/ip4/%d.%d.0.%d/tcp/4001", 11+network/256, network%256, i%256)},
	}
}

// Of what was met, who was dialled comes first, of many networks, and who was met last.
func TestBestMetOrder(t *testing.T) {
	all := []MetPeer{
		metPeer(1, 1, 5, true), metPeer(2, 1, 1, true), metPeer(3, 2, 9, true),
		metPeer(4, 3, 0, false), metPeer(5, 4, 31*24, true),
	}
	var got []string
	for _, m := range bestMet(slices.Clone(all), testNow) {
		got = append(got, m.Addrs[0])
	}
	want := []string{all[1].Addrs[0], all[2].Addrs[0], all[0].Addrs[0], all[3].Addrs[0]}
	if !slices.Equal(got, want) {
		t.Errorf("in this order:\n%v\nnot:\n%v", got, want)
	}
}

// Whoever has many names of one network leaves the places of the others alone.
func TestBestMetCrowd(t *testing.T) {
	var all []MetPeer
	for i := range 1000 {
		m := metPeer(i, 7, 0, true)
		m.Peer = task.PeerID(fmt.Sprint("liar", i))
		all = append(all, m)
	}
	for i := range 40 { // honest ones that cannot be dialled, of one network each
		m := metPeer(i, 100+i, 600, false)
		m.Peer = task.PeerID(fmt.Sprint("honest", i))
		all = append(all, m)
	}
	kept := bestMet(all, testNow)
	honest := 0
	for _, m := range kept {
		if strings.HasPrefix(string(m.Peer), "honest") {
			honest++
		}
	}
	if len(kept) != MaxRecalled || honest != 40 {
		t.Errorf("%d are kept, %d of the 40 honest ones", len(kept), honest)
	}
}

// What is kept obeys its bounds, whatever is on disk, and reading it again changes nothing.
func TestCheckMetBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var all []MetPeer
		for i := range rapid.IntRange(0, 500).Draw(t, "peers") {
			m := metPeer(rng.IntN(testPeers), rng.IntN(300), rng.IntN(2000)-200, rng.IntN(2) == 0)
			switch rng.IntN(6) {
			case 0:
				m.Peer = task.PeerID(fmt.Sprint("no peer ", i))
			case 1:
				m.Addrs = slices.Repeat([]string{"/ip4/11.0.0.1/tcp/1", "nonsense", strings.Repeat("/p2p-circuit", 99)}, 20)
			case 2:
				m.Addrs = nil
			}
			all = append(all, m)
		}
		kept := checkMet(all, testNow)
		seen := map[task.PeerID]bool{}
		for _, m := range kept {
			if seen[m.Peer] || len(m.Addrs) == 0 || len(m.Addrs) > maxRecalledAddrs || m.Met.After(testNow) ||
				testNow.Sub(m.Met) > RecallTime {
				t.Fatalf("kept: %+v", m)
			}
			seen[m.Peer] = true
		}
		if len(kept) > MaxRecalled || len(infosOf(kept)) != len(kept) {
			t.Fatalf("%d peers are kept, %d can be dialled", len(kept), len(infosOf(kept)))
		}
		if again := checkMet(kept, testNow); !slices.EqualFunc(again, kept, func(a, b MetPeer) bool {
			return a.Peer == b.Peer && slices.Equal(a.Addrs, b.Addrs)
		}) {
			t.Fatal("what was kept is not kept again")
		}
	})
}
