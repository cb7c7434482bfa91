package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A fall is the end of a leader, and what became of its office.
type fall struct {
	At      time.Time
	Node    int
	Asked   bool // by SIGTERM, to hand over; otherwise it was killed
	epoch   uint64
	life    int
	Claimed time.Time // when another node said that it leads in a higher epoch; zero until then
	Named   time.Time // when most live nodes named one such leader; zero until then
}

// A sight is the newest that a live node said of the overlay.
type sight struct {
	peer string
	life int
	view view
}

// A tally measures takeovers from what nodes say of themselves. Time is an
// argument: it reads no clock. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	live   map[int]sight  // by node
	named  map[int]uint64 // by node: the highest epoch in which it named a leader, ever
	led    map[uint64]int // by epoch: the node that led in it
	falls  []*fall
	broken []string // what no node may do
}

func newTally() *tally {
	return &tally{live: map[int]sight{}, named: map[int]uint64{}, led: map[uint64]int{}}
}

// up says that a node runs, for the life-th time.
func (t *tally) up(node, life int, peer string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live[node] = sight{peer: peer, life: life}
}

// down says that a node's life-th life is over.
func (t *tally) down(node, life int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live[node].life == life {
		delete(t.live, node)
	}
}

// begin forgets which epochs there were: while a swarm forms, nodes that founded
// an overlay each, with epochs of its own, give theirs up.
func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.named)
	clear(t.led)
	t.broken = nil
}

// Life returns which life a live node lives.
func (t *tally) Life(node int) (life int, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.live[node]
	return s.life, ok
}

// fell says that a node is killed now, or asked to end. Where it leads, by its
// own word or by that of others, a takeover is measured from now on.
func (t *tally) fell(at time.Time, node int, asked bool) (leader bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.live[node]
	if l, epoch := t.leader(); ok && l == node {
		t.falls = append(t.falls, &fall{At: at, Node: node, Asked: asked, epoch: epoch, life: s.life})
		leader = true
	}
	if !asked {
		delete(t.live, node)
	}
	return leader
}

// saw takes in what a node said at that time in its life-th life.
func (t *tally) saw(at time.Time, node, life int, v view) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.live[node]
	if !ok || s.life != life {
		return // it was killed while it answered
	}
	s.view = v
	t.live[node] = s
	if v.Leader == "" {
		return
	}
	t.check(node, s)
	for _, f := range t.falls {
		if f.Claimed.IsZero() && t.claims(node, f) {
			f.Claimed = at
		}
		if f.Named.IsZero() && t.mostName(f) {
			f.Named = at
		}
	}
}

// check notes what a leader's lease forbids.
func (t *tally) check(node int, s sight) {
	if highest := t.named[node]; s.view.Epoch < highest {
		t.note(fmt.Sprintf("node %d followed epoch %s after epoch %s", node, epochName(s.view.Epoch), epochName(highest)))
	}
	t.named[node] = max(t.named[node], s.view.Epoch)
	if s.view.Leader != s.peer {
		return
	}
	if other, ok := t.led[s.view.Epoch]; ok && other != node {
		t.note(fmt.Sprintf("nodes %d and %d both led in epoch %s", other, node, epochName(s.view.Epoch)))
	}
	t.led[s.view.Epoch] = node
}

// note keeps each complaint once: nodes are asked again all the time.
func (t *tally) note(s string) {
	if !slices.Contains(t.broken, s) {
		t.broken = append(t.broken, s)
	}
}

// claims says whether the node leads after that fall.
func (t *tally) claims(node int, f *fall) bool {
	s := t.live[node]
	return s.view.Leader == s.peer && s.view.Epoch > f.epoch && !(node == f.Node && s.life == f.life)
}

// mostName says whether more than half of the live nodes name the same leader
// in the same epoch, one later than that fall.
func (t *tally) mostName(f *fall) bool {
	type office struct {
		leader string
		epoch  uint64
	}
	counts, live := map[office]int{}, 0
	for node, s := range t.live {
		if node == f.Node && s.life == f.life {
			continue
		}
		live++
		if s.view.Leader != "" && s.view.Epoch > f.epoch {
			counts[office{s.view.Leader, s.view.Epoch}]++
		}
	}
	for _, n := range counts {
		if 2*n > live {
			return true
		}
	}
	return false
}

// leader returns the live node that says it leads in the highest epoch, or
// nowhere.
func (t *tally) leader() (node int, epoch uint64) {
	node = nowhere
	for i, s := range t.live {
		if s.view.Leader != "" && s.view.Leader == s.peer && (node == nowhere || s.view.Epoch > epoch) {
			node, epoch = i, s.view.Epoch
		}
	}
	return node, epoch
}

// nowhere stands for no node.
const nowhere = -1

// Leader returns the live node that leads, or nowhere, and the sight of it.
func (t *tally) Leader() (int, view) {
	t.mu.Lock()
	defer t.mu.Unlock()
	node, _ := t.leader()
	return node, t.live[node].view
}

// Sights returns what every live node said last.
func (t *tally) Sights() map[int]sight {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[int]sight, len(t.live))
	for i, s := range t.live {
		out[i] = s
	}
	return out
}

// Falls returns the falls so far, copied, and what was done that no node may do.
func (t *tally) Falls() ([]fall, []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]fall, len(t.falls))
	for i, f := range t.falls {
		out[i] = *f
	}
	return out, slices.Clone(t.broken)
}

// tagBits is how many low bits of an epoch tell its leader apart: what is above
// is the term (docs/protocol.md).
const tagBits = 24

// epochName writes an epoch as its term and its leader's tag.
func epochName(epoch uint64) string {
	return fmt.Sprintf("%d/%06x", epoch>>tagBits, epoch&(1<<tagBits-1))
}
