package main

import (
	"encoding/json"
	"math"
	"testing"
)

// Every way leads to the sink, each hop is within the range, and no node with such a way is left out.
func TestWaysLeadToTheSink(t *testing.T) {
	for seed := range uint64(20) {
		n := scatter(60, 18, seed)
		n.route()
		for i := range n.nodes {
			at, hops := i, 0
			for n.nodes[at].parent >= 0 {
				next := n.nodes[at].parent
				if d := n.distance(at, next); d > n.reach {
					t.Fatalf("seed %d: a hop of %v m", seed, d)
				}
				at = next
				if hops++; hops > len(n.nodes) {
					t.Fatalf("seed %d: node %d sends in a circle", seed, i)
				}
			}
			switch {
			case n.nodes[i].parent == nobody:
				for j := range n.nodes {
					if n.nodes[j].parent != nobody && n.distance(i, j) <= n.reach {
						t.Errorf("seed %d: node %d hears node %d and has no way", seed, i, j)
					}
				}
			case hops+1 != n.nodes[i].hops || n.nodes[at].parent != sink || n.distance(at, sink) > n.reach:
				t.Errorf("seed %d: node %d has %d hops, counted %d", seed, i, n.nodes[i].hops, hops+1)
			}
		}
	}
}

// The same seed gives the same bytes, another seed another network; a larger range connects no fewer nodes.
func TestOutcomeFollowsFromTheSeed(t *testing.T) {
	of := func(reach float64, seed uint64) (outcome, string) {
		n := scatter(80, reach, seed)
		n.route()
		out := n.live()
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return out, string(b)
	}
	_, first := of(18, 1)
	if _, again := of(18, 1); again != first {
		t.Errorf("%s, and then %s", first, again)
	}
	if _, other := of(18, 2); other == first {
		t.Error("two seeds give the same network")
	}
	for seed := range uint64(10) {
		near, _ := of(12, seed)
		far, _ := of(24, seed)
		if near.Connected > far.Connected {
			t.Errorf("seed %d: a larger range connects %v of the nodes, a smaller one %v", seed, far.Connected, near.Connected)
		}
	}
}

// A single node beside the sink lives as long as its battery has energy for its packets.
func TestLifetimeOfOneNode(t *testing.T) {
	n := scatter(1, 20, 1)
	n.nodes[0].x, n.nodes[0].y = side/2, side/2 // at no distance no packet is lost
	n.route()
	out := n.live()
	want := int(math.Ceil(0.5 / (bits * circuit)))
	if out.Lifetime == nil || *out.Lifetime < want-1 || *out.Lifetime > want+1 || *out.Hops != 1 || *out.Delivered != 1 {
		t.Errorf("lifetime %v, want %d", out, want)
	}
}

// Without a way to the sink there is no lifetime, and no number that a mean could count.
func TestNetworkWithoutSink(t *testing.T) {
	n := scatter(1, 1, 1)
	n.route()
	b, err := json.Marshal(n.live())
	if err != nil || string(b) != `{"connected":0}` {
		t.Errorf("%s: %v", b, err)
	}
}

func TestBadArguments(t *testing.T) {
	for _, tt := range []struct {
		nodes int
		reach float64
	}{{0, 1}, {10_001, 1}, {1, 0}, {1, math.NaN()}} {
		if run(tt.nodes, tt.reach, 0) == nil {
			t.Errorf("%+v: no error", tt)
		}
	}
}
