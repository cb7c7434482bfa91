package informant

import (
	"math/rand/v2"
	"time"

	"godwit/overlay"
	"godwit/task"
)

const (
	// MostUseless is the number of useless answers in a row after which a member is ignored for IgnoredFor.
	MostUseless = 3
	// IgnoredFor is how long a member is ignored.
	IgnoredFor = 7 * 24 * time.Hour
	// maxCounted bounds the members whose useless answers are counted. With more the earliest count is forgotten.
	maxCounted = 1024
	// maxSilenced bounds the members that are not queried. With more the earliest is queried again.
	maxSilenced = 1024
)

// A Member is a member of an overlay.
type Member struct {
	Overlay overlay.ID
	Peer    task.PeerID
}

// A record is what a member's hints and statements came to.
type record struct {
	useless int       // hints in a row that led to no proof
	open    int       // statements in a row whose check ended without a verdict
	ignored time.Time // end of the interval in which its hints are ignored; zero if they count
	last    time.Time // time of the last useless answer
}

// A Choice chooses the member that is queried next. The zero value has no hint and draws from the global source. It is
// not safe for concurrent use.
type Choice struct {
	Draw func(n int) int // a random number below n; nil means the global source

	hinted Member // author of a report with a refused worker; zero if there is none
	since  int    // hints since the last query that a hint decided

	asked    task.PeerID // member that is being queried because of its hint; "" for none
	random   bool        // the next query goes to a member at random
	records  map[task.PeerID]record
	silenced map[task.PeerID]time.Time // until when a member is not queried
}

func (c *Choice) draw(n int) int {
	if c.Draw != nil {
		return c.Draw(n)
	}
	return rand.N(n)
}

// Hint notes that a member's report refuses a worker. Of several authors each is as likely to be queried, so that the
// last to report gains nothing.
func (c *Choice) Hint(by Member, now time.Time) {
	if c.ignores(by.Peer, now) {
		return
	}
	if c.since++; c.draw(c.since) == 0 {
		c.hinted = by
	}
}

// ignores reports whether a member's hints don't count. The hints of a silenced member would displace those of others.
func (c *Choice) ignores(peer task.PeerID, now time.Time) bool {
	return c.Silenced(peer, now) || c.records[peer].ignored.After(now)
}

// Hinted returns the author of a hint, once. It reports false if there is none that can be queried, or if the query is
// to go to a random member. ready reports whether a member can be queried.
func (c *Choice) Hinted(now time.Time, ready func(Member) bool) (Member, bool) {
	c.asked = ""
	if c.random {
		c.random = false
		return Member{}, false
	}
	m := c.hinted
	c.hinted, c.since = Member{}, 0
	if m == (Member{}) || c.ignores(m.Peer, now) || !ready(m) {
		return Member{}, false
	}
	c.asked, c.random = m.Peer, true
	return m, true
}

// Random returns one of the members that can be queried, each as likely. It reports false if there is none.
func (c *Choice) Random(of []Member, now time.Time) (Member, bool) {
	var heard []Member
	for _, m := range of {
		if !c.Silenced(m.Peer, now) {
			heard = append(heard, m)
		}
	}
	if len(heard) == 0 {
		return Member{}, false
	}
	return heard[c.draw(len(heard))], true
}
