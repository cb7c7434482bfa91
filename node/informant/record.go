package informant

import (
	"time"

	"godwit/task"
)

// Useless notes that a query brought no statement to check. It counts only if a hint decided the query.
func (c *Choice) Useless(peer task.PeerID, now time.Time) {
	if c.asked != peer || peer == "" {
		return
	}
	c.asked = ""
	c.count(peer, now, false)
}

// Proven notes that a member's statement proved a worker wrong, which clears the member's useless answers.
func (c *Choice) Proven(peer task.PeerID) { delete(c.records, peer) }

// Open notes that the check of a member's statement reached no verdict. It may have taken as long as a check can, so a
// member whose statements come to nothing else is silenced; Open reports whether it is from now on.
func (c *Choice) Open(peer task.PeerID, now time.Time) (silenced bool) {
	if c.count(peer, now, true).open < MostUseless {
		return false
	}
	delete(c.records, peer)
	c.Silence(peer, now)
	return true
}

// Silence has a member not be queried for IgnoredFor.
func (c *Choice) Silence(peer task.PeerID, now time.Time) {
	if _, is := c.silenced[peer]; !is && len(c.silenced) >= maxSilenced {
		forgetEarliest(c.silenced, func(until time.Time) time.Time { return until })
	}
	if c.silenced == nil {
		c.silenced = map[task.PeerID]time.Time{}
	}
	c.silenced[peer] = now.Add(IgnoredFor)
}

// Silenced reports whether a member is not queried at present.
func (c *Choice) Silenced(peer task.PeerID, now time.Time) bool { return c.silenced[peer].After(now) }

// count counts a useless answer of a member.
func (c *Choice) count(peer task.PeerID, now time.Time, open bool) record {
	r, known := c.records[peer]
	if !known && len(c.records) >= maxCounted {
		forgetEarliest(c.records, func(o record) time.Time { return o.last })
	}
	if c.records == nil {
		c.records = map[task.PeerID]record{}
	}
	if now.Sub(r.last) > IgnoredFor {
		r.useless, r.open = 0, 0
	}
	if open {
		r.open++
	}
	if r.useless++; r.useless >= MostUseless {
		r.useless, r.ignored = 0, now.Add(IgnoredFor)
	}
	r.last = now
	c.records[peer] = r
	return r
}

// forgetEarliest removes the entry with the earliest time; of several with that time, the one with the smallest ID.
func forgetEarliest[V any](of map[task.PeerID]V, at func(V) time.Time) {
	var first task.PeerID
	for peer, v := range of {
		if first == "" || at(v).Before(at(of[first])) || at(v).Equal(at(of[first])) && peer < first {
			first = peer
		}
	}
	delete(of, first)
}
