package scheduler

import (
	"iter"
	"math"
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/place"
	"godwit/task"
)

// A membership is the members that the coordinator knows, and how much each can take.
type membership struct {
	c *Coordinator

	given   int
	hosts   map[task.PeerID]*host
	roster  hostSet               // of hosts, all
	idle    hostSet               // eligible, and with a slot free
	noticed hostSet               // on notice
	backlog map[task.PeerID]*host // with more leases than slots
	wrong   map[task.PeerID]provenWrong
	doubtAt time.Time // before that nobody looks what members have had for long
	uneven  bool      // slots or loads have changed since recall looked
}

func (m *membership) host(peer task.PeerID) *host {
	h := m.hosts[peer]
	if h == nil {
		h = &host{peer: peer, since: m.c.now}
		m.hosts[peer] = h
		m.roster.set(h, true)
		m.c.claims.count(h)
		m.refuse(h)
	}
	return h
}

// Holders are the members that hold leases of this leader, or are about to take one over, in
// any order.
func (c *Coordinator) Holders() iter.Seq[task.PeerID] {
	return func(yield func(task.PeerID) bool) {
		for peer, h := range c.members.hosts {
			if len(h.leases)+len(h.coming) > 0 && !yield(peer) {
				return
			}
		}
	}
}

// Holds reports whether a member is one of the Holders.
func (c *Coordinator) Holds(peer task.PeerID) bool {
	h := c.members.hosts[peer]
	return h != nil && len(h.leases)+len(h.coming) > 0
}

func (m *membership) memberSeen(a *overlay.Advert) {
	if a.State == overlay.Unavailable {
		m.memberLost(a.Peer, "the member says that it is unavailable")
		return
	}
	h := m.host(a.Peer)
	if !h.member {
		h.member, h.since = true, m.c.now
	}
	h.memory, h.claim.speed, h.site = a.Memory, a.Speed, a.Site
	if !h.reported {
		h.state, h.claim.slots = a.State, a.Slots
	}
	m.heed(h)
	if a.State == overlay.Leaving {
		h.state = a.State
	}
	h.lost = time.Time{}
	m.c.migration.heedNotice(h)
	m.touchHost(h)
}

func (m *membership) memberLost(peer task.PeerID, reason string) {
	h := m.hosts[peer]
	if h == nil || !h.lost.IsZero() {
		return
	}
	h.lost, h.lostWhy = m.c.now, task.ClipMessage(reason)
	m.settleHost(h)
	m.alarm(h, m.c.now.Add(m.c.cfg.LostGrace))
}

// touchHost makes the end of this Step look whether the host can take more.
func (m *membership) touchHost(h *host) {
	m.settleHost(h)
	if !h.touched {
		h.touched = true
		m.c.dispatch.touched = append(m.c.dispatch.touched, h)
	}
}

// settleHost keeps the sets of idle and overfull hosts right. It must be
// called after each change of slots, load or eligibility.
func (m *membership) settleHost(h *host) {
	passSlots(h, m.c.now)
	has := room{h.eligible() && h.load < h.slots, h.slots, h.load, h.memory - h.memoryUsed}
	m.uneven = m.uneven || has != h.settled
	if has.idle && !m.idle.has(h) {
		h.idleSince = m.c.now
	}
	m.c.learnt.settlePresence(h)
	m.c.claims.count(h)
	h.settled = has
	m.idle.set(h, has.idle)
	if h.load > h.slots {
		m.backlog[h.peer] = h
	} else {
		delete(m.backlog, h.peer)
	}
}

// alarm has lookAt called at the given time, or before.
func (m *membership) alarm(h *host, at time.Time) {
	if !h.alarm.IsZero() && !at.Before(h.alarm) {
		return
	}
	h.alarm = at
	m.c.timers.Set(at, reminder{host: h.peer})
}

// lookAt does what time has made due for a host: leases that expired, a grace
// that ran out, pauses that ended. Then it sets the next alarm.
func (m *membership) lookAt(h *host) {
	if !h.alarm.IsZero() && m.c.now.Before(h.alarm) {
		return
	}
	h.alarm = time.Time{}
	if !h.lost.IsZero() && !m.c.now.Before(h.lost.Add(m.c.cfg.LostGrace)) {
		m.giveUpHost(h)
		return
	}
	for _, l := range slices.Clone(h.leases) {
		if l.is(leasing.Expires) && !m.c.now.Before(l.expires) {
			h.reported = false // it gets nothing until it is heard of again
			m.c.reports.giveUp(l, "lost", "the worker did not report for "+m.c.cfg.LeaseTTL.String())
		}
		m.c.transfers.checkMove(l)
		m.c.dispatch.checkPatience(l)
	}
	m.c.dispatch.endShunning(h)
	m.refuse(h)
	for j, p := range h.paused {
		if !m.c.now.Before(p.until) {
			delete(h.paused, j)
			m.touchHost(h)
			m.uneven = true
		}
	}
	if !h.member && len(h.leases) == 0 && len(h.coming) == 0 { // it reported and never sent an advert
		m.forgetHost(h)
		return
	}
	m.rearm(h)
}

// rearm sets the alarm for whatever comes first.
func (m *membership) rearm(h *host) {
	var first time.Time
	sooner := func(t time.Time) {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	if !h.lost.IsZero() {
		sooner(h.lost.Add(m.c.cfg.LostGrace))
	}
	for _, l := range h.leases {
		if l.is(leasing.Expires) {
			sooner(l.expires)
		}
		if l.is(leasing.Moves) {
			sooner(l.move.by)
		}
		if l.is(leasing.Awaits) {
			sooner(l.arriveBy)
		}
		if at, ok := m.c.dispatch.overdueAt(l); ok {
			sooner(at)
		}
	}
	for _, p := range h.paused {
		sooner(p.until)
	}
	if h.proven.is() {
		sooner(h.proven.until)
	}
	for _, until := range h.shunned {
		sooner(until)
	}
	if !first.IsZero() {
		m.alarm(h, first)
	}
}

// giveUpHost forgets a member that stayed away.
func (m *membership) giveUpHost(h *host) {
	reason := "the worker is gone"
	if h.lostWhy != "" {
		reason += ": " + h.lostWhy
	}
	for _, l := range slices.Clone(h.leases) {
		if l.is(leasing.Expires) {
			m.c.reports.giveUp(l, "lost", reason)
		}
	}
	if m.c.migration.mover != nil && !h.notice {
		m.c.migration.mover.Left(h.peer, m.c.now)
	}
	h.member, h.reported = false, false
	m.c.transfers.freeComing(h)
	m.forgetHost(h)
}

func (m *membership) forgetHost(h *host) {
	m.settleHost(h)
	m.c.claims.uncount(h)
	m.c.chunks.leaveChunks(h)
	delete(m.hosts, h.peer)
	m.roster.set(h, false)
	m.noticed.set(h, false)
}

// readmit lets jobs on a host again that were kept away while it took nothing: what
// it refused, or gave away, was for that.
func (m *membership) readmit(h *host) {
	for j, p := range h.paused {
		if p.shut {
			delete(h.paused, j)
		}
	}
}

// pauseJob keeps a job away from a host for a while.
func (m *membership) pauseJob(h *host, j *job, d time.Duration, why string) {
	if d <= 0 {
		d = m.c.cfg.RefusalPause
	}
	m.keepAway(h, j, pause{m.c.now.Add(min(d, m.c.cfg.RetryMax)), why, h.shut()})
}

func (m *membership) keepAway(h *host, j *job, p pause) {
	if h.paused == nil {
		h.paused = map[*job]pause{}
	}
	h.paused[j] = p
	m.alarm(h, p.until)
}

// ahead returns how many tasks of about that duration a host is given beyond
// its slots: enough to last for Lookahead. With nothing known of the duration
// it is one for each slot.
func (m *membership) ahead(h *host, d time.Duration, known bool) int {
	switch {
	case !known:
		return min(h.slots, m.c.cfg.MaxAhead)
	case d <= 0:
		return m.c.cfg.MaxAhead
	}
	return min(max(h.lasting(m.c.cfg.Lookahead, d), 1), m.c.cfg.MaxAhead)
}

// lasting is how many tasks of a duration above 0 last the host's slots for so long.
func (h *host) lasting(long, d time.Duration) int {
	return int(min((int64(h.slots)*int64(long)+int64(d)-1)/int64(d), math.MaxInt32))
}

// offer describes the host to a policy, for tasks of about that duration.
func (m *membership) offer(h *host, d time.Duration, known bool) place.Host {
	return m.offerRoom(h, h.slots+m.ahead(h, d, known))
}

// offerRoom describes the host to a policy, as one that takes so many tasks in all.
func (m *membership) offerRoom(h *host, room int) place.Host {
	// Tasks ahead do not use memory yet: what is lent stretches as slots do.
	stretched := h.memory/int64(h.slots)*int64(room) - h.memoryUsed
	return place.Host{
		Peer: h.peer, Slots: h.slots, Running: h.load, Free: room - h.load,
		Memory: h.memory, MemoryFree: max(stretched, h.memory-h.memoryUsed),
		Speed: h.speed, Since: h.since,
	}
}
