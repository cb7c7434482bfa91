package informant

import (
	"encoding/binary"
	"testing"
	"time"

	"godwit/task"
)

var (
	start = time.Unix(1_800_000_000, 0)
	liar  = Member{"pool", "liar"}
	good  = Member{"pool", "good"}
)

func anyone(Member) bool { return true }

// first draws the first of several.
func first(int) int { return 0 }

// hint notes hints, and reports who is queried because of them.
func hint(c *Choice, now time.Time, by ...Member) task.PeerID {
	for _, m := range by {
		c.Hint(m, now)
	}
	m, _ := c.Hinted(now, anyone)
	return m.Peer
}

// A liar's hints decide at most every second query, and none for a week after three that were useless.
func TestUselessHintsAreIgnored(t *testing.T) {
	c := Choice{Draw: first}
	for i := range 12 {
		want := task.PeerID("")
		if i%2 == 0 && i < 2*MostUseless {
			want = liar.Peer
		}
		if got := hint(&c, start, liar); got != want {
			t.Errorf("query %d goes to %q, want %q", i, got, want)
		}
		c.Useless(liar.Peer, start)
	}
	if got := hint(&c, start, good, liar); got != good.Peer {
		t.Errorf("after the liar's hints are ignored, the query goes to %q", got)
	}
	c.random = false
	if got := hint(&c, start.Add(IgnoredFor), liar); got != liar.Peer {
		t.Errorf("after a week, the query goes to %q", got)
	}
}

// Only a query that a hint decided counts, and a proof clears what was counted.
func TestProofClearsUselessHints(t *testing.T) {
	c := Choice{Draw: first}
	for range 3 * MostUseless {
		c.Useless(liar.Peer, start) // it was queried at random
	}
	for i := range 3 * MostUseless {
		c.random = false
		if got := hint(&c, start, good); got != good.Peer {
			t.Fatalf("hint %d is ignored", i)
		}
		if c.Useless(good.Peer, start); i%2 == 1 {
			c.Proven(good.Peer)
		}
	}
}

// The last author of a report has no precedence over earlier ones.
func TestHintsPickAuthorsEqually(t *testing.T) {
	var c Choice
	picked := map[task.PeerID]int{}
	for range 400 {
		c.random = false
		picked[hint(&c, start, good, liar)]++
	}
	if picked[good.Peer] < 100 || picked[liar.Peer] < 100 {
		t.Errorf("of 400 queries %d go to the first author, %d to the last", picked[good.Peer], picked[liar.Peer])
	}
}

// A member that cannot be queried loses its hint.
func TestHintOfOneThatCannotBeQueried(t *testing.T) {
	c := Choice{Draw: first}
	c.Hint(good, start)
	if m, is := c.Hinted(start, func(Member) bool { return false }); is {
		t.Errorf("%v is queried", m)
	}
	c.Silence(good.Peer, start)
	if got := hint(&c, start, good); got != "" {
		t.Errorf("%q is queried, which is silenced", got)
	}
	if m, any := c.Random([]Member{good}, start); any {
		t.Errorf("%v is queried at random", m)
	}
	if m, any := c.Random([]Member{good, liar}, start); !any || m != liar {
		t.Errorf("%v is queried at random, of one that is silenced and one that is not", m)
	}
}

// Checks without a verdict silence a member: it cannot keep others from being checked.
func TestOpenChecksSilence(t *testing.T) {
	var c Choice
	for i := range MostUseless {
		if silenced := c.Open(liar.Peer, start); silenced != (i == MostUseless-1) || silenced != c.Silenced(liar.Peer, start) {
			t.Errorf("after %d checks it is silenced: %v", i+1, silenced)
		}
	}
	c.Draw = first // the last hint counts
	c.Hint(good, start)
	if got := hint(&c, start, liar); got != good.Peer {
		t.Errorf("the hint of a silenced member displaces another: %q is queried", got)
	}
	if c.Silenced(liar.Peer, start.Add(IgnoredFor)) {
		t.Error("it is silenced after a week")
	}
	for range 3 * MostUseless {
		c.Open(good.Peer, start)
		c.Proven(good.Peer)
	}
	if c.Silenced(good.Peer, start) {
		t.Error("one that proves something now and then is silenced")
	}
}

// Members beyond the bounds displace one other each, the earliest.
func TestBounds(t *testing.T) {
	var c Choice
	peer := func(n int) task.PeerID { return task.PeerID(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	for n := range maxSilenced + 5 {
		c.Silence(peer(n), start.Add(time.Duration(n)*time.Second))
		c.Open(peer(n), start.Add(time.Duration(n)*time.Second))
	}
	if len(c.silenced) != maxSilenced || c.Silenced(peer(4), start) || !c.Silenced(peer(5), start) {
		t.Errorf("%d members are silenced", len(c.silenced))
	}
	if _, is := c.records[peer(5)]; len(c.records) != maxCounted || !is {
		t.Errorf("%d members are counted", len(c.records))
	}
}
