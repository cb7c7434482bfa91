package scheduler

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// placeWaiting asks the policies for new placements. It leaves no waiting task that any
// host would take and that may have a slot; so the next time only hosts that have
// changed need be looked at, or all idle ones when something new waits.
func (q *dispatch) placeWaiting() {
	for _, h := range q.touched {
		h.touched = false
	}
	if q.c.term.recovering || q.c.claims.queue.len() == 0 {
		return
	}
	if q.c.claims.fair.terms.Guarded && len(q.touched) > 0 {
		q.widened = true // what the guard kept free may be given now
	}
	rated := q.tellRates()
	hosts := q.candidates()
	if rated && q.c.claims.byClass != nil {
		q.placeByClass(hosts)
		return
	}
	f := &q.c.claims.fair
	f.blocked, f.roaming, q.deciding.plain = false, f.roaming[:0], nil
	for f.fruitless = 0; f.fruitless < maxFruitless && q.c.claims.queue.len() > 0 && q.admit(hosts) &&
		!(f.ahead && f.blocked) && q.divide(); {
		if q.round() > 0 {
			f.fruitless = 0
		} else {
			f.fruitless++
		}
		done := len(f.parts) == 0
		if q.requeue(); done {
			break // nobody may have any
		}
	}
	q.c.chunks.unplaced()
	q.bringBack()
	q.fillIdle(hosts)
}

// round has tasks placed as the round's parts say, site by site, and returns how many.
func (q *dispatch) round() int {
	was := q.c.term.seq
	for rest := q.c.claims.fair.parts; len(rest) > 0; {
		var parts []part
		parts, rest = partsOf(rest)
		view, placements := q.decide(parts)
		q.c.effects = slices.Grow(q.c.effects, 2*len(placements)) // it is told, and noted
		for _, p := range placements {
			q.placeOne(view, p)
		}
		view.rest()
	}
	return int(q.c.term.seq - was)
}

// decide asks the placement policy about parts of one site. What it returns holds until
// it is called again.
func (q *dispatch) decide(parts []part) (*queueView, []place.Placement) {
	m := &q.deciding
	hosts, offers := m.at(parts[0].site)
	m.view.begin(q.c, hosts, parts)
	q.situate(parts[0].job.mayResume())
	var queue place.Queue = &m.view
	if q.rated() {
		queue = m.classes.ofParts(&m.view)
	}
	return &m.view, q.policy.Place(q.c.now, queue, offers, foretold{q.c}, m.random(q.c.term.epoch, q.c.term.seq))
}

// candidates returns the hosts to place on in this Step, by name.
func (q *dispatch) candidates() []*host {
	m := &q.deciding
	m.hosts = m.hosts[:0]
	if q.shortlist() {
		return m.hosts
	}
	if q.pushes() { // a task may be for any member
		for _, h := range q.c.members.roster.all() {
			if h.eligible() {
				m.hosts = append(m.hosts, h)
			}
		}
		return m.hosts
	}
	for _, h := range q.touched {
		if h.eligible() && (!q.widened || !q.c.members.idle.has(h)) {
			m.hosts = append(m.hosts, h)
		}
	}
	slices.SortFunc(m.hosts, byPeer)
	if q.widened {
		m.hosts = mergeHosts(m.hosts, q.c.members.idle.all())
	}
	return m.hosts
}

// placeOne gives a lease as the policy says. A policy that names a host or a
// task that it was not shown is not heeded.
func (q *dispatch) placeOne(view *queueView, p place.Placement) {
	ref := view.find(p.Task)
	h := q.c.members.hosts[p.Peer]
	if ref == nil || ref.placed || h == nil || !h.eligible() {
		return
	}
	j := ref.job
	if j.worksOn(ref.index, h.peer) {
		return
	}
	ref.placed = true
	q.c.term.seq++
	why := q.partOf(view, ref, p.Reason)
	l := q.c.addLease(j, h, ref.index, message.Attempt{Epoch: q.c.term.epoch, Seq: q.c.term.seq}, why, nil)
	l.sizedFor()
	q.bePatient(l)
	q.c.post(l)
	q.c.decided(p.Task, "placed", h.peer, why)
}

// partOf counts a placement to its job's part, and says why it goes there and why it is
// its turn, if that was asked.
func (q *dispatch) partOf(view *queueView, ref *liveRef, why place.Reason) string {
	part := &view.parts[ref.part]
	part.placed++
	if part.why == (share.Reason{}) {
		return why.String()
	}
	return task.ClipMessage(why.String() + "; its turn: " + part.why.String())
}

// teach tells a policy that learns how many attempts were lost with their
// workers in this Step. It counts as after the Step's placements.
func (q *dispatch) teach() {
	if q.traits.Lost != nil && q.c.reports.lost > 0 {
		q.traits.Lost(q.c.now, q.c.reports.lost)
	}
	q.c.reports.lost = 0
}

// askAgain has a policy that may leave tasks waiting beside idle hosts asked once
// more, as it wants, while they do.
func (q *dispatch) askAgain() {
	d := q.traits.Again
	if d <= 0 || q.asking || q.c.claims.queue.len() == 0 || q.c.members.idle.len() == 0 || q.c.term.recovering {
		return
	}
	q.asking = true
	q.c.timers.Set(q.c.now.Add(d), reminder{ask: true})
}
