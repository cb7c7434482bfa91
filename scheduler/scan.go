package scheduler

import (
	"slices"
	"time"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/leasing"
)

// armScan sets the time of the next scan, while any task runs.
func (q *migration) armScan() {
	if q.mover == nil || q.c.members.given == 0 || !q.scanAt.IsZero() {
		return
	}
	if p := q.mover.Period(); p > 0 {
		q.scanIn(max(p, leastPeriod))
	}
}

func (q *migration) scanIn(d time.Duration) {
	q.scanAt = q.c.now.Add(d)
	q.c.timers.Set(q.scanAt, reminder{scan: true})
}

// scanIfDue scans when a notice was given or the time has come.
func (q *migration) scanIfDue() {
	due := !q.scanAt.IsZero() && !q.c.now.Before(q.scanAt)
	if due {
		q.scanAt = time.Time{}
	}
	if q.mover == nil || q.c.term.recovering || !due && !q.noticed {
		return
	}
	q.noticed = false
	if q.scan() > 0 {
		q.scanAgain()
	}
}

// scanAgain has tasks that found no place on a notice offered once more.
func (q *migration) scanAgain() {
	if q.heedsNotice() && (q.scanAt.IsZero() || q.scanAt.After(q.c.now.Add(noticeAgain))) {
		q.scanIn(noticeAgain)
	}
}

// scan asks the policy which members' tasks should move, and begins the moves.
// It returns how many found no place and may find one later; with a policy that
// names tasks only those whose member is on notice, since others it weighs anew.
func (q *migration) scan() (placeless int) {
	q.scans++
	hosts := q.scanned()
	mem := &q.c.dispatch.deciding
	moving, from := mem.moving[:0], mem.leave()
	moves := q.chosen(hosts)
	for i := range moves {
		m := &moves[i]
		h := q.c.members.hosts[m.From]
		if h == nil {
			continue
		}
		from[h] = true
		if l := h.leaseFor(m.Task); l != nil && q.mayMove(l) {
			if to := q.c.members.hosts[m.To]; m.To != "" && q.takes(to, l) {
				q.c.transfers.beginMove(leaving{lease: l, why: m, to: to, there: "where it is expected to end first"})
				continue
			}
			moving = append(moving, leaving{lease: l, why: m})
		} else if l != nil && q.c.now.Before(l.tries.notBefore) && !l.is(leasing.Moves) {
			placeless++
		} else if l != nil && l.is(leasing.Settled) {
			q.noteStay(l, m, cannotSave)
		}
	}
	mem.moving = moving
	q.forgetStays(from)
	if len(moving) == 0 {
		return placeless
	}
	for _, m := range q.destinations(moving, from) {
		if m.to != nil {
			q.c.transfers.beginMove(m)
			continue
		}
		if q.weigher() == nil || m.lease.host.notice {
			placeless++
		}
		q.noteStay(m.lease, m.why, "the placement policy has no place for it elsewhere")
		q.c.transfers.seal(m.lease, m.why)
	}
	return placeless
}

// scanned lists the members that are there, by name, with what they run.
func (q *migration) scanned() []migrate.Host {
	mem := &q.c.dispatch.deciding
	mem.scanned, mem.tasks, mem.runs = mem.scanned[:0], mem.tasks[:0], mem.runs[:0]
	weighs := q.weigher() != nil
	for _, h := range q.c.members.roster.all() {
		if !h.member || !h.reported || !h.lost.IsZero() {
			continue
		}
		n := len(mem.tasks)
		for _, l := range h.leases {
			if l.is(leasing.Open) {
				mem.tasks = append(mem.tasks, l.taskID())
				if weighs {
					mem.runs = append(mem.runs, q.runOf(l))
				}
			}
		}
		m := migrate.Host{Peer: h.peer, CPU: float64(100 - h.withheld), Leaving: h.notice, Paused: h.notice && h.visited(),
			Tasks: slices.Clip(mem.tasks[n:])}
		if weighs {
			m.Runs, m.Idle, m.Speed = slices.Clip(mem.runs[n:]), q.idleSlots(h), max(h.speedNow(), leastGiven*h.usual())
		}
		mem.scanned = append(mem.scanned, m)
	}
	return mem.scanned
}

// destinations asks the placement policy for idle members other than those that
// tasks move from.
func (q *migration) destinations(moving []leaving, from map[*host]bool) []leaving {
	d, known := moving[0].lease.job.duration()
	mem := &q.c.dispatch.deciding
	q.c.dispatch.tellRates()
	offers := mem.offers[:0]
	for _, h := range q.c.members.idle.all() {
		if from[h] || h.notice {
			continue
		}
		o := q.c.members.offer(h, d, known)
		o.Free, o.MemoryFree = h.slots-h.load, h.memory-h.memoryUsed // where it would wait it may as well stay
		o.IdleFor = q.c.dispatch.idleTime(h)
		offers = append(offers, o)
	}
	mem.offers = offers
	if len(offers) == 0 {
		return moving
	}
	view := mem.leaving.begin(q.c, moving)
	q.c.dispatch.situate(true)
	rng := mem.random(q.c.term.epoch, scanStream|q.scans)
	for _, p := range q.c.dispatch.policy.Place(q.c.now, view, offers, foretold{q.c}, rng) {
		m := view.find(p.Task)
		h := q.c.members.hosts[p.Peer]
		if m == nil || h == nil || !q.c.members.idle.has(h) || from[h] || h.notice ||
			slices.Contains(view.avoid(m.lease), p.Peer) {
			continue
		}
		m.to, m.there = h, p.Reason.String()
	}
	return moving
}

// heedNotice looks whether a member has just given notice, or has just said that
// it goes after its owner had only come back: what found no place then is saved.
func (q *migration) heedNotice(h *host) {
	was, left := h.notice, h.leaves
	h.notice, h.leaves = h.onNotice(), h.state == overlay.Leaving
	if was && (left || !h.leaves) || !h.notice || q.mover == nil {
		return
	}
	if !was {
		q.mover.Left(h.peer, q.c.now)
	}
	q.noticed = q.noticed || q.heedsNotice()
}

// arm sets the times of the next looks.
func (q *migration) arm() {
	q.armScan()
	q.armTail()
}
