package scheduler

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/place"
	"godwit/task"
)

const (
	// leastPeriod bounds how often a policy scans, whatever the rules say: a scan
	// looks at every member.
	leastPeriod = time.Second
	// noticeAgain is how long after a notice the tasks that found no place are
	// offered again, while their member still has them.
	noticeAgain = 10 * time.Second
	// scanStream tells the random numbers of scans from those of placements.
	scanStream = 1 << 63
)

// onNotice says whether the member goes soon, or takes no guests any more.
func (h *host) onNotice() bool {
	switch h.state {
	case overlay.Leaving, overlay.Unavailable:
		return true
	case overlay.Available:
		return false
	}
	return h.slots == 0
}

// heedNotice looks whether a member has just given notice.
func (c *Coordinator) heedNotice(h *host) {
	was := h.notice
	if h.notice = h.onNotice(); was || !h.notice || c.mover == nil {
		return
	}
	c.mover.Left(h.peer, c.now)
	c.noticed = c.noticed || c.mover.Period() <= 0
}

// armScan sets the time of the next scan, while any task runs.
func (c *Coordinator) armScan() {
	if c.mover == nil || c.given == 0 || !c.scanAt.IsZero() {
		return
	}
	if p := c.mover.Period(); p > 0 {
		c.scanIn(max(p, leastPeriod))
	}
}

func (c *Coordinator) scanIn(d time.Duration) {
	c.scanAt = c.now.Add(d)
	c.timers.set(c.scanAt, reminder{scan: true})
}

// scanIfDue scans when a notice was given or the time has come.
func (c *Coordinator) scanIfDue() {
	due := !c.scanAt.IsZero() && !c.now.Before(c.scanAt)
	if due {
		c.scanAt = time.Time{}
	}
	if c.mover == nil || c.recovering || !due && !c.noticed {
		return
	}
	c.noticed = false
	if c.scan() > 0 && c.mover.Period() <= 0 && c.scanAt.IsZero() {
		c.scanIn(noticeAgain)
	}
}

// cannotSave is why a task stays that is to end where it runs.
const cannotSave = "its state cannot be saved on the way"

// scan asks the policy which members' tasks should move, and begins the moves.
// It returns how many found no place and may find one later.
func (c *Coordinator) scan() (placeless int) {
	c.scans++
	hosts := c.scanned()
	rng := rand.New(rand.NewPCG(c.epoch, scanStream|c.scans))
	var moving []leaving
	from := map[*host]bool{}
	for _, m := range migrate.Moves(hosts, c.mover.Scan(c.now, hosts, c.forecast, rng)) {
		h := c.hosts[m.From]
		if h == nil {
			continue
		}
		from[h] = true
		if l := h.leaseFor(m.Task); l != nil && l.mayMove() {
			moving = append(moving, leaving{lease: l, why: m.Reason})
		} else if l != nil && l.move == nil && l.ending == nil && !l.recalled {
			c.stays(l, m.Reason, cannotSave)
		}
	}
	c.settled(from)
	if len(moving) == 0 {
		return 0
	}
	for _, m := range c.destinations(moving, from, rng) {
		if m.to != nil {
			c.beginMove(m)
			continue
		}
		placeless++
		c.stays(m.lease, m.why, "the placement policy has no place for it elsewhere")
	}
	return placeless
}

// scanned lists the members that are there, by name, with what they run.
func (c *Coordinator) scanned() []migrate.Host {
	hosts := make([]migrate.Host, 0, len(c.hosts))
	for _, peer := range sortedKeys(c.hosts) {
		h := c.hosts[peer]
		if !h.member || !h.reported || !h.lost.IsZero() {
			continue
		}
		m := migrate.Host{Peer: peer, CPU: float64(100 - h.withheld), Leaving: h.notice}
		for _, l := range h.leases {
			if l.ending == nil {
				m.Tasks = append(m.Tasks, l.taskID())
			}
		}
		hosts = append(hosts, m)
	}
	return hosts
}

// settled forgets why leases stay whose hosts they need not leave any more.
func (c *Coordinator) settled(from map[*host]bool) {
	for _, h := range c.hosts {
		if from[h] {
			continue
		}
		for _, l := range h.leases {
			if l.move == nil && !l.fixed {
				l.stays = ""
			}
		}
	}
}

// leaseFor returns the host's lease of a task that has not ended, or nil.
func (h *host) leaseFor(id task.TaskID) *lease {
	for _, l := range h.leases {
		if l.task.index == id.Index && l.job.id == id.Job && l.ending == nil {
			return l
		}
	}
	return nil
}

// mayMove says whether the task can be taken elsewhere with its state.
func (l *lease) mayMove() bool {
	return l.move == nil && l.ending == nil && !l.recalled && !l.fixed && l.job.mayResume()
}

// stays notes why a task that should move does not, and tells it once.
func (c *Coordinator) stays(l *lease, why, but string) {
	reason := task.ClipMessage("it should leave its member (" + why + "), and stays: " + but)
	if l.stays == reason {
		return
	}
	l.stays = reason
	c.decided(l.taskID(), "stays", l.host.peer, reason)
}

// A leaving is a lease that is to move: to is nil until a place is found.
type leaving struct {
	lease      *lease
	why, there string
	to         *host
}

// destinations asks the placement policy for idle members other than those that
// tasks move from.
func (c *Coordinator) destinations(moving []leaving, from map[*host]bool, rng *rand.Rand) []leaving {
	d, known := moving[0].lease.job.duration()
	var offers []place.Host
	for _, h := range slices.SortedFunc(maps.Values(c.idle), func(a, b *host) int { return cmp.Compare(a.peer, b.peer) }) {
		if from[h] || h.notice {
			continue
		}
		o := c.offer(h, d, known)
		o.Free, o.MemoryFree = h.slots-h.load, h.memory-h.memoryUsed // where it would wait it may as well stay
		offers = append(offers, o)
	}
	if len(offers) == 0 {
		return moving
	}
	offered := make(map[task.PeerID]bool, len(offers))
	for i := range offers {
		offered[offers[i].Peer] = true
	}
	view := &leavingView{c: c, rest: moving, paused: map[*job][]task.PeerID{}}
	for _, p := range c.policy.Place(c.now, view, offers, c.forecast, rng) {
		k := slices.IndexFunc(moving, func(m leaving) bool { return m.to == nil && m.lease.taskID() == p.Task })
		h := c.hosts[p.Peer]
		if k < 0 || !offered[p.Peer] || slices.Contains(view.avoid(moving[k].lease), p.Peer) {
			continue
		}
		moving[k].to, moving[k].there = h, p.Reason.String()
	}
	return moving
}

// A leavingView shows the tasks that are to move to a policy, and no others.
type leavingView struct {
	c    *Coordinator
	rest []leaving
	last *job
	// paused are the idle hosts that get nothing of a job for now, by job, as far
	// as they were asked for.
	paused map[*job][]task.PeerID
}

// Next implements place.Queue.
func (v *leavingView) Next() (place.Task, bool) {
	if len(v.rest) == 0 {
		return place.Task{}, false
	}
	l := v.rest[0].lease
	v.rest, v.last = v.rest[1:], l.job
	work, _ := l.job.duration()
	return place.Task{ID: l.taskID(), Memory: l.job.spec.Memory, Work: work, Avoid: v.avoid(l)}, true
}

// SkipJob implements place.Queue.
func (v *leavingView) SkipJob() {
	var rest []leaving
	for _, m := range v.rest {
		if m.lease.job != v.last {
			rest = append(rest, m)
		}
	}
	v.rest = rest
}

// avoid lists who must not run the task: its member is among them.
func (v *leavingView) avoid(l *lease) []task.PeerID {
	paused, ok := v.paused[l.job]
	if !ok {
		for _, peer := range sortedKeys(v.c.idle) {
			if _, is := v.c.idle[peer].paused[l.job]; is {
				paused = append(paused, peer)
			}
		}
		v.paused[l.job] = paused
	}
	return append(l.job.workersOf(l.task.index), paused...)
}
