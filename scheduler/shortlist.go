package scheduler

import (
	"slices"

	"godwit/scheduler/place"
)

const (
	// rankedTasks is how many tasks may wait at most for a shortlist.
	rankedTasks = 64
	// rankedHosts is from how many idle hosts on one is worth it.
	rankedHosts = 256
)

// ranked is an idle host as a place.Ranking sees it.
type ranked struct {
	host  *host
	offer place.Host
}

// shortlist has a policy with a Rank (see place.Traits) offered, of all idle hosts, only those that it will
// take for the few tasks that wait, and reports whether that can be known. The
// placements are the same.
func (d *dispatch) shortlist() bool {
	if d.traits.Rank == nil || !d.widened || d.c.members.idle.len() < rankedHosts || d.c.claims.fair.terms.Sites ||
		d.c.claims.fair.terms.Guarded {
		return false
	}
	n, memory := d.fewWaiting()
	if n == 0 {
		return false
	}
	m := &d.deciding
	d.rank(n, d.traits.Rank())
	length, known := d.c.claims.nextInTurn().duration()
	for i := range m.picked {
		h := m.picked[i].host
		if o := d.c.members.offer(h, length, known); len(h.paused) > 0 || memory > min(o.Memory, o.MemoryFree) {
			return false
		}
	}
	for i := range m.picked {
		m.hosts = append(m.hosts, m.picked[i].host)
	}
	slices.SortFunc(m.hosts, byPeer)
	return true
}

// fewWaiting returns how many tasks wait, and the most memory that one may need; 0
// if they are too many for a shortlist, or one may not run anywhere.
func (d *dispatch) fewWaiting() (n int, memory int64) {
	for _, cl := range d.c.claims.queue.items {
		for _, j := range cl.jobs.items {
			if n += j.waitingCount(); n > rankedTasks {
				return 0, 0
			}
			for _, i := range j.wait.back {
				if j.replicated() || len(j.workersOf(i))+len(failedOn(j, i, d.c.now))+len(voidOn(j, i)) > 0 {
					return 0, 0
				}
			}
			memory = max(memory, mostMemory(j.spec))
		}
	}
	return n, memory
}

// rank picks the first n idle hosts of an order, the first of them first.
func (d *dispatch) rank(n int, by place.Ranking) {
	m := &d.deciding
	m.picked = m.picked[:0]
	r := &m.ranked
	for _, r.host = range d.c.members.idle.all() {
		h := r.host
		r.offer = place.Host{Peer: h.peer, Slots: h.slots, Running: h.load, Speed: h.speed}
		if len(m.picked) == n {
			if by.Compare(&r.offer, &m.picked[n-1].offer) > 0 {
				continue
			}
			m.picked = m.picked[:n-1]
		}
		m.picked = append(m.picked, *r)
		for k := len(m.picked) - 1; k > 0 && by.Compare(&m.picked[k].offer, &m.picked[k-1].offer) < 0; k-- {
			m.picked[k], m.picked[k-1] = m.picked[k-1], m.picked[k]
		}
	}
}
