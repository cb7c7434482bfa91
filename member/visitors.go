package member

import (
	"maps"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler"
	"godwit/task"
)

const (
	// maxVisitors is the maximum number of members of other cells whose adverts are stored.
	maxVisitors = 1024
	// engagedEvery is the interval after which a full table looks up again which visitors have delegations.
	engagedEvery = 10 * time.Second
)

// visitors is a bounded table of members of other cells, for example leaders that borrow tasks and submitters that
// delegate tasks to this cell. The zero value is an empty table.
type visitors struct {
	known map[task.PeerID]visitor
	// engaged contains the peers with active delegations in either direction, as of engagedAt.
	engaged   map[task.PeerID]bool
	engagedAt time.Time
}

// A visitor is a member of another cell.
type visitor struct {
	advert  overlay.Advert // the newest
	network string         // public network of the first advert; "" if its addresses don't tell
	since   time.Time      // when its first advert arrived
}

// remove deletes a visitor.
func (v *visitors) remove(peer task.PeerID) { delete(v.known, peer) }

// add stores a visitor that is not in the table.
func (v *visitors) add(x visitor) {
	if v.known == nil {
		v.known = map[task.PeerID]visitor{}
	}
	v.known[x.advert.Peer] = x
}

// expire deletes the visitors whose adverts have expired.
func (v *visitors) expire(now time.Time) {
	maps.DeleteFunc(v.known, func(_ task.PeerID, x visitor) bool { return !x.advert.Expires.After(now) })
}

// evict deletes a visitor to make space for another one: the newest visitor without delegations from the network with
// the most of these. Among equal networks draw decides, because a stranger chooses the addresses in its adverts. evict
// returns false if all visitors have delegations.
func (v *visitors) evict(draw float64) bool {
	free := map[string]int{}
	for peer, x := range v.known {
		if !v.engaged[peer] {
			free[x.network]++
		}
	}
	if len(free) == 0 {
		return false
	}
	most := slices.Max(slices.Collect(maps.Values(free)))
	largest := slices.DeleteFunc(slices.Sorted(maps.Keys(free)), func(n string) bool { return free[n] < most })
	v.remove(v.newest(largest[min(int(draw*float64(len(largest))), len(largest)-1)]))
	return true
}

// newest returns the visitor without delegations from a network that arrived last.
func (v *visitors) newest(network string) (peer task.PeerID) {
	var since time.Time
	for p, x := range v.known {
		later := x.since.After(since) || x.since.Equal(since) && p > peer
		if x.network == network && !v.engaged[p] && (peer == "" || later) {
			peer, since = p, x.since
		}
	}
	return peer
}

// visit stores the advert of a member of another cell.
func (c *cells) visit(a *overlay.Advert) {
	m, v := c.m, &c.visitors
	if a.Overlay != m.id || m.view.Admits(a) != nil {
		return
	}
	if a.State == overlay.Unavailable {
		v.remove(a.Peer)
		return
	}
	if old, known := v.known[a.Peer]; known {
		if a.Seq > old.advert.Seq {
			old.advert = *a
			v.known[a.Peer] = old
		}
		return
	}
	x := visitor{advert: *a, network: overlay.PublicNetworkOf(a.Addrs), since: m.p.now}
	if len(v.known) >= maxVisitors {
		v.expire(m.p.now)
	}
	if len(v.known) >= maxVisitors {
		c.findEngaged()
		if !v.evict(m.p.cfg.Draw()) {
			return
		}
	}
	v.add(x)
	m.meet(a.Peer)
}

// findEngaged looks up which peers have delegations in either direction: submitters with a job here, and leaders of
// other cells that have tasks of this node's jobs.
func (c *cells) findEngaged() {
	m, v := c.m, &c.visitors
	if v.engaged != nil && m.p.now.Sub(v.engagedAt) < engagedEvery {
		return
	}
	v.engaged, v.engagedAt = map[task.PeerID]bool{}, m.p.now
	if m.coordinator != nil {
		v.engaged = scheduler.Submitters(m.coordinator)
	}
	for _, job := range m.submitter.Jobs() {
		for _, loan := range job.Loans {
			v.engaged[loan.Leader] = true
		}
	}
}

// Visits reports whether a peer is a member of another cell, by its advert.
func (c *cells) Visits(peer task.PeerID) bool {
	v, visits := c.visitors.known[peer]
	return visits && v.advert.Expires.After(c.m.p.now)
}

// KnowsLong reports whether a peer's adverts have been known for at least overlay.MinUptime, or could not have been.
func (c *cells) KnowsLong(peer task.PeerID) bool {
	m := c.m
	v, visits := c.visitors.known[peer]
	return visits && m.p.now.Sub(v.since) >= overlay.MinUptime || m.levels.Known(peer, m.p.now)
}
