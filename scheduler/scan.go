package scheduler

import (
	"cmp"
	"slices"
	"time"

	"godwit/migrate"
	"godwit/overlay"
	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
)

// armScan sets the time of the next scan, while any task runs.
func (m *migration) armScan() {
	if m.mover == nil || m.c.members.given == 0 || !m.scanAt.IsZero() {
		return
	}
	if p := m.mover.Period(); p > 0 {
		m.scanIn(max(p, leastPeriod))
	}
}

func (m *migration) scanIn(d time.Duration) {
	m.scanAt = m.c.now.Add(d)
	m.c.timers.Set(m.scanAt, reminder{scan: true})
}

// scanIfDue scans when a notice was given or the time has come.
func (m *migration) scanIfDue() {
	due := !m.scanAt.IsZero() && !m.c.now.Before(m.scanAt)
	if due {
		m.scanAt = time.Time{}
	}
	if m.mover == nil || m.c.term.recovering || !due && !m.noticed {
		return
	}
	m.noticed = false
	if m.scan(due) > 0 {
		m.scanAgain()
	}
}

// scanAgain has tasks that found no place on a notice offered once more.
func (m *migration) scanAgain() {
	if m.heedsNotice() && (m.scanAt.IsZero() || m.scanAt.After(m.c.now.Add(noticeAgain))) {
		m.scanIn(noticeAgain)
	}
}

// scan asks the policy which members' tasks should move, and begins the moves.
// It returns how many found no place and may find one later; with a policy that
// names tasks only those whose member is on notice, since others it weighs anew.
// due says that its time has come, and not only that a notice was given.
func (m *migration) scan(due bool) (placeless int) {
	m.scans++
	hosts := m.scanned(m.lookedAt(due))
	mem := &m.c.dispatch.deciding
	moving, from := mem.moving[:0], mem.leave()
	moves := m.chosen(hosts)
	for i := range moves {
		one := &moves[i]
		h := m.c.members.hosts[one.From]
		if h == nil {
			continue
		}
		from[h] = true
		if l := h.leaseFor(one.Task); l != nil && m.rests(l, one) {
			m.noteStay(l, one, "it has only just moved")
		} else if l != nil && m.mayMove(l) {
			if to := m.c.members.hosts[one.To]; one.To != "" && m.takes(to, l) {
				m.c.transfers.beginMove(leaving{lease: l, why: one, to: to, there: "where it is expected to end first"})
				continue
			}
			moving = append(moving, leaving{lease: l, why: one})
		} else if l != nil && m.c.now.Before(l.tries.notBefore) && !l.is(leasing.Moves) {
			placeless++
		} else if l != nil && l.is(leasing.Settled) {
			m.noteStay(l, one, cannotSave)
		}
	}
	mem.moving = moving
	m.forgetStays(from)
	if len(moving) == 0 {
		return placeless
	}
	for _, going := range m.destinations(moving, from) {
		if going.to != nil {
			m.c.transfers.beginMove(going)
			continue
		}
		if m.weigher() == nil || going.lease.host.notice {
			placeless++
		}
		m.noteStay(going.lease, going.why, cmp.Or(going.but, "the placement policy has no place for it elsewhere"))
		m.c.transfers.seal(going.lease, going.why)
	}
	return placeless
}

// lookedAt are the members that the policy is to look at, by name: all of them, or those on notice where it would not
// look at others. Members give notice as owners come and go, in a large overlay more than once a second: so for
// a notice alone it looks at all of them at most each leastPeriod.
func (m *migration) lookedAt(due bool) []*host {
	heeder, heeds := m.mover.(migrate.Heeder)
	alone := heeds && heeder.HeedsNotices(m.c.members.idle.len() > 0, m.situation())
	if alone || !due && m.weigher() != nil && m.c.now.Before(m.weighed.Add(leastPeriod)) {
		return m.c.members.noticed.all()
	}
	m.weighed = m.c.now
	return m.c.members.roster.all()
}

// scanned lists those of members that are there, with what they run.
func (m *migration) scanned(of []*host) []migrate.Host {
	mem := &m.c.dispatch.deciding
	mem.scanned, mem.tasks, mem.runs = mem.scanned[:0], mem.tasks[:0], mem.runs[:0]
	weighs := m.weigher() != nil
	for _, h := range of {
		if !h.member || !h.reported || !h.lost.IsZero() {
			continue
		}
		n := len(mem.tasks)
		for _, l := range h.leases {
			if l.is(leasing.Open) {
				mem.tasks = append(mem.tasks, l.taskID())
				if weighs {
					mem.runs = append(mem.runs, m.runOf(l))
				}
			}
		}
		seen := migrate.Host{Peer: h.peer, CPU: float64(100 - h.withheld), Leaving: h.notice, Paused: h.notice && h.visited(),
			Tasks: slices.Clip(mem.tasks[n:])}
		if weighs {
			seen.Runs, seen.Idle, seen.Speed = slices.Clip(mem.runs[n:]), m.idleSlots(h), max(h.speedNow(), leastGiven*h.usual())
		}
		mem.scanned = append(mem.scanned, seen)
	}
	return mem.scanned
}

// destinations asks the placement policy for idle members other than those that
// tasks move from.
func (m *migration) destinations(moving []leaving, from map[*host]bool) []leaving {
	first := moving[0].lease
	d, known := first.job.durationOf(first.task.index)
	mem := &m.c.dispatch.deciding
	m.c.dispatch.tellRates()
	offers := mem.offers[:0]
	for _, h := range m.c.members.idle.all() {
		if from[h] || h.notice {
			continue
		}
		o := m.c.members.offer(h, d, known)
		o.Free, o.MemoryFree = h.slots-h.load, h.memory-h.memoryUsed // where it would wait it may as well stay
		o.IdleFor = m.c.dispatch.idleTime(h)
		offers = append(offers, o)
	}
	mem.offers = offers
	if len(offers) == 0 {
		return moving
	}
	view := mem.leaving.begin(m.c, moving)
	m.c.dispatch.situate(true)
	rng := mem.random(m.c.term.epoch, scanStream|m.scans)
	for _, p := range m.c.dispatch.policy.Place(m.c.now, view, offers, foretold{m.c}, rng) {
		going := view.find(p.Task)
		h := m.c.members.hosts[p.Peer]
		if going == nil || h == nil || !m.c.members.idle.has(h) || from[h] || h.notice ||
			slices.Contains(view.avoid(going.lease), p.Peer) {
			continue
		}
		if but := m.unpaid(going, h); but != "" {
			going.but = but
			continue
		}
		going.to, going.there = h, p.Reason.String()
	}
	return moving
}

// unpaid says why a move that a prediction asks for does not pay; "" where it does.
func (m *migration) unpaid(going *leaving, to *host) string {
	move, is := going.why.(*migrate.Move)
	if !is || move.Period() == 0 || going.lease.host.notice {
		return ""
	}
	there := migrate.Destination{Stay: 1, CPU: float64(100 - to.withheld)}
	if p, known := m.forecast.Stay(to.peer, m.c.now, move.Period()); known {
		there.Stay = p
	}
	costs := m.costs()
	cost := costs.PauseFor(going.lease.job.stateOf()) + costs.Transfer(0) // most of the state travels while the task runs
	if move.Pays(there, cost) {
		return ""
	}
	return move.WhyNot(cost)
}

// rests reports whether a task came from another member so recently that no prediction moves it again.
func (m *migration) rests(l *lease, move *migrate.Move) bool {
	came := l.after != (message.Attempt{}) || l.saved.from != nil
	return came && move.Period() > 0 && !l.host.notice && m.c.now.Before(l.start.Add(m.mover.Period()))
}

// heedNotice looks whether a member has just given notice, or has just said that
// it goes after its owner had only come back: what found no place then is saved.
func (m *migration) heedNotice(h *host) {
	was, left := h.notice, h.leaves
	h.notice, h.leaves = h.onNotice(), h.state == overlay.Leaving
	m.c.members.noticed.set(h, h.notice)
	if was && (left || !h.leaves) || !h.notice || m.mover == nil {
		return
	}
	if !was {
		m.mover.Left(h.peer, m.c.now)
	}
	m.noticed = m.noticed || m.heedsNotice()
}

// arm sets the times of the next looks.
func (m *migration) arm() {
	m.armScan()
	m.armTail()
}
