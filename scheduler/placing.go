package scheduler

import (
	"math"
	"slices"

	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/share"
	"godwit/task"
)

// placeWaiting asks the policies for new placements. It leaves no waiting task that any
// host would take and that may have a slot; so the next time only hosts that have
// changed need be looked at, or all idle ones when something new waits.
func (d *dispatch) placeWaiting() {
	for _, h := range d.touched {
		h.touched = false
	}
	if d.c.term.recovering || d.c.claims.queue.len() == 0 {
		return
	}
	if d.c.claims.fair.terms.Guarded && len(d.touched) > 0 {
		d.widened = true // what the guard kept free may be given now
	}
	rated := d.tellRates()
	hosts := d.candidates()
	if rated && d.c.claims.byClass != nil {
		d.placeByClass(hosts)
		return
	}
	f := &d.c.claims.fair
	f.blocked, f.roaming, d.deciding.plain = false, f.roaming[:0], nil
	for f.fruitless = 0; f.fruitless < maxFruitless && d.c.claims.queue.len() > 0 && d.admit(hosts) &&
		!(f.ahead && f.blocked) && d.divide(); {
		if d.round() > 0 {
			f.fruitless = 0
		} else {
			f.fruitless++
		}
		done := len(f.parts) == 0
		if d.requeue(); done {
			break // nobody may have any
		}
	}
	d.c.chunks.unplaced()
	d.bringBack()
	d.fillIdle(hosts)
}

// round has tasks placed as the round's parts say, site by site, and returns how many.
func (d *dispatch) round() int {
	was := d.c.term.seq
	for rest := d.c.claims.fair.parts; len(rest) > 0; {
		var parts []part
		parts, rest = partsOf(rest)
		view, placements := d.decide(parts)
		placements = d.c.nearby.settle(view, placements)
		d.c.effects = slices.Grow(d.c.effects, 2*len(placements)) // it is told, and noted
		for _, p := range placements {
			d.placeOne(view, p)
		}
		view.rest()
	}
	return int(d.c.term.seq - was)
}

// decide asks the placement policy about parts of one site. What it returns holds until
// it is called again.
func (d *dispatch) decide(parts []part) (*queueView, []place.Placement) {
	m := &d.deciding
	hosts, offers := m.at(parts[0].site)
	m.view.begin(d.c, hosts, parts)
	d.situate(parts[0].job.mayResume())
	var queue place.Queue = &m.view
	if d.rated() {
		queue = m.classes.ofParts(&m.view)
	}
	return &m.view, d.policy.Place(d.c.now, queue, offers, foretold{d.c}, m.random(d.c.term.epoch, d.c.term.seq))
}

// candidates returns the hosts to place on in this Step, by name.
func (d *dispatch) candidates() []*host {
	m := &d.deciding
	m.hosts = m.hosts[:0]
	if d.shortlist() {
		return m.hosts
	}
	if d.pushes() { // a task may be for any member
		for _, h := range d.c.members.roster.all() {
			if h.eligible() {
				m.hosts = append(m.hosts, h)
			}
		}
		return m.hosts
	}
	for _, h := range d.touched {
		if h.eligible() && (!d.widened || !d.c.members.idle.has(h)) {
			m.hosts = append(m.hosts, h)
		}
	}
	slices.SortFunc(m.hosts, byPeer)
	if d.widened {
		m.hosts = mergeHosts(m.hosts, d.c.members.idle.all())
	}
	return m.hosts
}

// placeOne gives a lease as the policy says. A policy that names a host or a
// task that it was not shown is not heeded.
func (d *dispatch) placeOne(view *queueView, p place.Placement) {
	ref := view.find(p.Task)
	h := d.c.members.hosts[p.Peer]
	if ref == nil || ref.placed || h == nil || !h.eligible() {
		return
	}
	j := ref.job
	if j.worksOn(ref.index, h.peer) || j.room() == 0 || d.c.table.slotsLeft(j) == 0 {
		return
	}
	if _, ok := j.reads(ref.index); !ok {
		return // its submitter said of what it reads that nothing comes of it any more
	}
	ref.placed = true
	d.c.term.seq++
	why := d.partOf(view, ref, p.Reason)
	l := d.c.addLease(j, h, ref.index, message.Attempt{Epoch: d.c.term.epoch, Seq: d.c.term.seq}, why, nil)
	d.c.claims.served(j)
	l.sizedFor()
	d.bePatient(l)
	d.c.post(l)
	d.c.decided(p.Task, "placed", h.peer, why)
}

// partOf counts a placement to its job's part, and says why it goes there and why it is
// its turn, if that was asked.
func (d *dispatch) partOf(view *queueView, ref *liveRef, why place.Reason) string {
	part := &view.parts[ref.part]
	part.placed++
	if part.why == (share.Reason{}) {
		return why.String()
	}
	return task.ClipMessage(why.String() + "; its turn: " + part.why.String())
}

// teach tells a policy that learns how many attempts were lost with their
// workers in this Step. It counts as after the Step's placements.
func (d *dispatch) teach() {
	if d.traits.Lost != nil && d.c.reports.lost > 0 {
		d.traits.Lost(d.c.now, d.c.reports.lost)
	}
	d.c.reports.lost = 0
}

// askAgain has a policy that may leave tasks waiting beside idle hosts asked once
// more, as it wants, while they do.
func (d *dispatch) askAgain() {
	pause := d.traits.Again
	if pause <= 0 || d.asking || d.c.claims.queue.len() == 0 || d.c.members.idle.len() == 0 || d.c.term.recovering {
		return
	}
	d.asking = true
	d.c.timers.Set(d.c.now.Add(pause), reminder{ask: true})
}

// placeByClass is placeWaiting where the placement policy chooses whose turn it is: one
// that goes by classes does, and the overlay's rules name no other way. It is shown
// all that waits, class by class; only priorities go before.
func (d *dispatch) placeByClass(hosts []*host) {
	last := math.MaxInt
	for d.c.claims.queue.len() > 0 && d.admit(hosts) {
		priority, ok := d.c.claims.byClass.below(last)
		if !ok {
			return
		}
		last = priority
		view, placements := d.decideByClass(priority)
		placements = d.c.nearby.settle(view, placements)
		d.c.effects = slices.Grow(d.c.effects, 2*len(placements)) // it is told, and noted
		for _, p := range placements {
			d.placeOne(view, p)
		}
		view.rest()
		d.c.claims.fair.parts = view.parts
		for k := range d.c.claims.fair.parts {
			if j := d.c.claims.fair.parts[k].job; j.hasWaiting() {
				d.c.claims.sumUp(j)
			} else {
				d.c.claims.dequeue(j)
			}
		}
	}
}

// decideByClass asks the placement policy about the jobs of a priority and the hosts that
// are open. What it returns holds until it is called again.
func (d *dispatch) decideByClass(priority int) (*queueView, []place.Placement) {
	m := &d.deciding
	m.view.begin(d.c, m.open, d.c.claims.fair.parts[:0])
	d.situate(d.c.claims.nextInTurn().mayResume())
	queue := m.classes.ofQueue(&m.view, d.c.claims.byClass, priority)
	return &m.view, d.policy.Place(d.c.now, queue, m.offers, foretold{d.c}, m.random(d.c.term.epoch, d.c.term.seq))
}
