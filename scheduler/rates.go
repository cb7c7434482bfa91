package scheduler

import (
	"time"

	"godwit/scheduler/learning"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/task"
)

// Policies that go by classes of tasks (place.Traits) are told, before each round, what
// the coordinator has learnt of classes and knows of members: rates is their place.Rates. Those that have
// members pull give tasks to idle slots only, for a task that waits here may still go to
// a better member; those that push (they share, too) give each to its member at once, up to
// Config.MaxAhead beyond the slots, and nobody takes it back for another that is idle.

// rates are what a coordinator has learnt, for policies. Beside that it tells what there is
// of members.
type rates struct {
	*learning.Learning
	c      *Coordinator
	rounds uint64 // rounds begun, in which members are told of: see Backlog

	stale bool          // peers are to be found anew
	peers []task.PeerID // who is there, by name
	told  []place.Class
}

func newRates(c *Coordinator) *rates {
	there := func(peer task.PeerID) bool { return c.members.hosts[peer] != nil }
	return &rates{Learning: learning.New(&c.cfg.Rates, there), c: c, stale: true}
}

// Classes implements place.Rates. Those are left out of which nobody knows how often
// they come.
func (r *rates) Classes() []place.Class {
	r.told = r.told[:0]
	for _, k := range r.All() {
		if rate, _ := k.Arrivals(r.c.now); rate > 0 {
			r.told = append(r.told, place.Class{Name: k.Name, Arrival: rate})
		}
	}
	return r.told
}

// Peers implements place.Rates.
func (r *rates) Peers() []task.PeerID {
	if r.stale {
		r.stale, r.peers = false, r.peers[:0]
		for _, h := range r.c.members.roster.all() {
			if h.there {
				r.peers = append(r.peers, h.peer)
			}
		}
	}
	return r.peers
}

// Of implements place.Rates.
func (r *rates) Of(name string, peer task.PeerID) float64 {
	h := r.c.members.hosts[peer]
	if h == nil {
		return 0
	}
	k := r.Get(name)
	if k != nil {
		if _, shunned := h.shunned[k]; shunned || k.Never(peer) {
			return 0
		}
	}
	seconds, _ := k.Expected(peer, h.speed)
	return 1 / max(seconds, leastSeconds)
}

// leastSeconds is the shortest time of a task that rates tell: less than any message
// takes.
const leastSeconds = 1e-6

// Capacity implements place.Rates. What others use of a member's processors is in the
// rates as they are measured there, and must not count twice (Kokaly 2008, equations 4.2
// and 4.3: either r is the effective rate and b is 1, or r is the raw one and b is a).
// What a member tells of it now is of no use to divide by: it changes from second to
// second, and with several nodes on a machine each takes the others' tasks for it.
func (r *rates) Capacity(peer task.PeerID) float64 {
	h := r.c.members.hosts[peer]
	if h == nil || !h.there {
		return 0
	}
	return float64(h.slots)
}

// Backlog implements place.Rates: its slots work on it together.
func (r *rates) Backlog(peer task.PeerID) float64 {
	h := r.c.members.hosts[peer]
	if h == nil {
		return 0
	}
	if h.behindAt == r.rounds {
		return h.behind
	}
	h.behindAt, h.behind = r.rounds, r.c.dispatch.behind(h, nil)
	return h.behind
}

// settlePresence notes whether a host is there for tasks, and with how many slots:
// when it comes, goes or changes, those that divide members divide them anew.
func (r *rates) settlePresence(h *host) {
	there := h.eligible()
	if there == h.there && (!there || h.slots == h.settled.slots) {
		return
	}
	h.there = there
	r.Changed()
	r.stale = true
}

// tellRates tells a policy that goes by rates what they are, ahead of a round, and
// reports whether it is one.
func (d *dispatch) tellRates() bool {
	if !d.rated() {
		return false
	}
	d.c.learnt.rounds++
	if d.traits.Rate(d.c.now, d.c.learnt) {
		d.widened = true
	}
	return true
}

// rated reports whether the policy goes by rates.
func (d *dispatch) rated() bool { return d.traits.Rate != nil }

// pushes reports whether the policy gives tasks to members that are busy while others
// are idle.
func (d *dispatch) pushes() bool { return d.rated() && d.traits.Shares }

// rateOffer makes the offer of a host one for a policy that goes by rates, in place of the
// room that there is for tasks ahead.
func (d *dispatch) rateOffer(o *place.Host, h *host) {
	o.IdleFor = d.idleTime(h)
	room := h.slots
	if d.pushes() {
		room += d.c.cfg.MaxAhead
	}
	o.Free = room - h.load
	o.MemoryFree = h.memory/int64(h.slots)*int64(room) - h.memoryUsed
}

// idleTime is for how long a host has had a slot free; 0 if it has none.
func (d *dispatch) idleTime(h *host) time.Duration {
	if !d.c.members.idle.has(h) {
		return 0
	}
	return max(0, d.c.now.Sub(h.idleSince))
}

// age is how long ago a job was submitted: as the leader that took it in saw it, or
// for one taken over as its submitter says.
func (d *dispatch) age(j *job) time.Duration {
	came := j.came
	if came.IsZero() {
		came = j.spec.Submitted.Time
	}
	return max(0, d.c.now.Sub(came))
}

// learnFrom takes in the time of an attempt that counts. One that went on from a
// state, or came from another member, tells nothing of a whole task.
func (r *rates) learnFrom(j *job, h *host, l *lease, result *task.Result) {
	if l == nil || l.saved.from != nil || l.saved.began != 0 || l.after != (message.Attempt{}) {
		return
	}
	r.Ended(j.class, h.peer, h.usual(), result.Wall, j.spec.WorkOf(l.task.index))
}

// learnRow takes in what the rows of a ledger that was taken over tell of members.
func (r *rates) learnRow(j *job, i uint64) {
	row := j.ledger.Rows[i]
	for k := range row.Results {
		result := &row.Results[k]
		whole := true
		for n := range row.Log {
			if row.Log[n].Worker == result.Worker && row.Log[n].From != 0 {
				whole = false
			}
		}
		if whole && result.Outcome == task.Completed {
			r.Ended(j.class, result.Worker, 0, result.Wall, j.spec.WorkOf(i))
		}
	}
}
