package p2p

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func TestBucket(t *testing.T) {
	r := allowance{burst: 3, perSecond: 0.5}
	var b bucket
	take := func(at time.Duration, want bool) {
		t.Helper()
		if got := r.take(&b, start.Add(at)); got != want {
			t.Errorf("after %v: %v, want %v", at, got, want)
		}
	}
	for range 3 {
		take(0, true)
	}
	take(0, false)
	take(1900*time.Millisecond, false)
	take(2*time.Second, true)
	take(2*time.Second, false)
	take(time.Second, false) // the clock went back
	for range 3 {
		take(time.Hour, true) // no more than the burst
	}
	take(time.Hour, false)
}

// One neighbour cannot tell of more newcomers than its budget, nor all together
// of more than the host's; and reconnecting gains nothing.
func TestBudget(t *testing.T) {
	var bu budget
	reasons := map[string]int{}
	for range 3000 {
		reasons[bu.spend("a", start)]++
	}
	if reasons[""] != int(hostNewcomers.burst) || reasons[dropFlood] != 3000-int(neighbourNewcomers.burst) {
		t.Errorf("of 3000 newcomers: %v", reasons)
	}
	if got := bu.spend("b", start); got != dropCrowd {
		t.Errorf("another neighbour at once: %q, want %q", got, dropCrowd)
	}
	if got := bu.spend("b", start.Add(time.Second)); got != "" {
		t.Errorf("another neighbour a second later: %q", got)
	}
	for i := range 3 * maxPurses {
		bu.spend(peer.ID(fmt.Sprint(i)), start.Add(time.Second))
	}
	if n := len(bu.neighbours); n > maxPurses+1 {
		t.Errorf("%d neighbours are remembered", n)
	}
	if got := bu.spend("a", start.Add(time.Second)); got == "" {
		t.Error("the flooder was forgotten")
	}
}

// A relay that passes on all that it takes in, and the renewals of a full table,
// stays within its neighbours' budget for it.
func TestHonestRelayIsNotBlamed(t *testing.T) {
	const renewalsPerSecond = maxAdverts / 900.
	var relay, neighbour budget
	for s := range 3600 {
		now := start.Add(time.Duration(s) * time.Second)
		for range 100 { // newcomers, more than it takes
			if relay.spend(peer.ID(fmt.Sprint(s%10)), now) == "" && neighbour.spend("relay", now) == dropFlood {
				t.Fatalf("blamed for newcomers after %d s", s)
			}
		}
	}
	neighbour = budget{}
	owed := 0.
	for s := range 3600 {
		for owed += renewalsPerSecond; owed >= 1; owed-- {
			if neighbour.spend("relay", start.Add(time.Duration(s)*time.Second)) == dropFlood {
				t.Fatalf("blamed for renewals after %d s", s)
			}
		}
	}
}

func TestBlame(t *testing.T) {
	var b blame
	for range 10 {
		b.add("a", blameInvalid, start)
	}
	if got := b.score("a", start); got != scoreGraylist {
		t.Errorf("ten invalid adverts: %v", got)
	}
	if got := b.score("a", start.Add(30*time.Minute)); got < -5 || got >= 0 {
		t.Errorf("half an hour later: %v", got)
	}
	if got := b.score("b", start); got != 0 {
		t.Errorf("a stranger: %v", got)
	}
	for i := range 3 * maxBlamed {
		b.add(peer.ID(fmt.Sprint(i)), blameInvalid, start)
	}
	if n := len(b.peers); n > maxBlamed || b.score("a", start) != scoreGraylist {
		t.Errorf("%d peers are remembered, the worst with %v", n, b.score("a", start))
	}
}

// A neighbour that comes when names without end have spent theirs has a budget of its own: it is not blamed for theirs.
func TestSpentPursesAreNotShared(t *testing.T) {
	var b budget
	for i := range 3 * maxPurses {
		for range 3 {
			b.purse(peer.ID(fmt.Sprint("liar", i)), start)
			neighbourNewcomers.take(b.purse(peer.ID(fmt.Sprint("liar", i)), start), start)
		}
	}
	for i := range 100 {
		if !neighbourNewcomers.take(b.purse("honest", start), start) {
			t.Fatalf("an honest neighbour has none after %d newcomers", i)
		}
	}
	if n := len(b.neighbours); n > maxPurses {
		t.Errorf("%d purses are kept", n)
	}
	spent := b.purse("honest", start)
	spent.spent = neighbourNewcomers.burst
	for i := range maxPurses {
		b.purse(peer.ID(fmt.Sprint("new", i)), start).spent = 1
	}
	if b.purse("honest", start) != spent {
		t.Error("the flooder was forgotten before those that spent little")
	}
}

// The same holds for comparisons of lists.
func TestComparesOfManyNames(t *testing.T) {
	g := &greeter{compared: map[peer.ID]bucket{}}
	for i := range 3 * maxBlamed {
		g.mayCompare(peer.ID(fmt.Sprint("liar", i)), start)
	}
	if !g.mayCompare("honest", start) || len(g.compared) > maxBlamed {
		t.Errorf("an honest neighbour may not compare; %d are remembered", len(g.compared))
	}
}
