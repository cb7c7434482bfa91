package scheduler

import (
	"godwit/scheduler/place"
	"godwit/scheduler/share"
)

// What a round begins with, and how it ends: see turns.go.

// partsOf returns the parts of the first site in the list, and the rest.
func partsOf(parts []part) (first, rest []part) {
	n := 1
	for n < len(parts) && parts[n].site == parts[0].site {
		n++
	}
	return parts[:n], parts[n:]
}

// admit notes the hosts that have room, of those that a Step places on, and reports whether
// there are any.
func (d *dispatch) admit(hosts []*host) bool {
	m, f := &d.deciding, &d.c.claims.fair
	d.c.chunks.unplaced()
	rated := d.rated()
	j := d.c.claims.nextInTurn()
	chunked := d.c.chunks.chunked(j) && m.plain != j
	if chunked {
		d.c.chunks.size(j, hosts)
	}
	m.offers, m.open, f.idle = m.offers[:0], m.open[:0], opening{}
	for _, h := range hosts {
		if !h.eligible() {
			continue
		}
		o := d.c.chunks.offerOf(j, h, chunked)
		if rated {
			d.rateOffer(&o, h)
		}
		if o.Free > 0 {
			m.offers, m.open = append(m.offers, o), append(m.open, h)
		}
	}
	f.ahead = false
	for k := range m.offers {
		m.opens(&f.idle, k, false)
	}
	if f.idle.slots == 0 {
		f.ahead = true
		for k := range m.offers {
			m.opens(&f.idle, k, true)
		}
	}
	m.view.c = d.c
	m.view.open(m.open)
	return len(m.offers) > 0
}

// opens adds what is offered of the host at a place in open.
func (m *deciding) opens(to *opening, k int, ahead bool) {
	o := &m.offers[k]
	n := o.Free
	if !ahead {
		n = min(n, o.Idle())
	}
	if n > 0 {
		to.slots += n
		to.memory += max(0, o.MemoryFree) // less than none where a member lends less than before
	}
}

// at returns what is open at a site, nil for all.
func (m *deciding) at(s *site) ([]*host, []place.Host) {
	if s == nil {
		return m.open, m.offers
	}
	m.there, m.offersThere = m.there[:0], m.offersThere[:0]
	for k, h := range m.open {
		if h.counted.site == s {
			m.there, m.offersThere = append(m.there, h), append(m.offersThere, m.offers[k])
		}
	}
	return m.there, m.offersThere
}

// maxFilled is how many claimants fillIdle looks at: as many tasks as place.FCFS does.
const maxFilled = 64

// fillIdle has slots that the rounds left idle filled by whoever fits: what was granted there
// its claimants could not use. Where policies want slots kept idle, it leaves them so.
func (d *dispatch) fillIdle(hosts []*host) {
	m, f := &d.deciding, &d.c.claims.fair
	if d.traits.Again > 0 || f.terms.Guarded || d.c.claims.queue.len() == 0 || d.rated() {
		return
	}
	m.offers, m.open = m.offers[:0], m.open[:0]
	slots := 0
	for _, h := range hosts {
		if h.eligible() && h.load < h.slots {
			m.offers, m.open = append(m.offers, d.c.members.offerRoom(h, h.slots)), append(m.open, h)
			slots += h.slots - h.load
		}
	}
	if slots == 0 {
		return
	}
	m.view.open(m.open)
	f.parts, f.who, f.filling = f.parts[:0], f.who[:0], true
	for len(f.who) < maxFilled && d.c.claims.queue.len() > 0 {
		cl := d.c.claims.queue.pop()
		f.who = append(f.who, cl)
		for _, j := range cl.jobs.items {
			if d.mayRun(j) && !j.refuses(m.open) {
				j.given = slots
				f.parts = append(f.parts, part{job: j, n: slots})
			}
		}
	}
	if len(f.parts) > 0 {
		d.round()
	}
	d.requeue()
	d.bringBack()
	f.filling = false
}

// requeue puts those back who took part in a round and have tasks that wait. A job of
// which nothing could be placed is put aside, and so is one that could have had all.
func (d *dispatch) requeue() {
	f := &d.c.claims.fair
	d.saySo()
	for k := range f.parts {
		p := &f.parts[k]
		p.job.now += p.placed
	}
	for k := range f.parts {
		p := &f.parts[k]
		j := p.job
		if j.given == 0 {
			continue // it had another part
		}
		placed, given := j.now, j.given
		j.now, j.given = 0, 0
		switch {
		case j.place < 0: // done with
		case !j.hasWaiting():
			d.c.claims.dequeue(j)
		case (p.n == whole || placed == 0) && d.c.chunks.keepsUnused(j):
			j.claim.jobs.fix(j.place)
		case placed == 0 && p.site != nil && j.roamed != d.deciding.step:
			j.roamed = d.deciding.step
			f.roaming = append(f.roaming, part{job: j, n: given, why: p.why})
			j.claim.jobs.fix(j.place)
		case p.n == whole || placed == 0:
			f.blocked = f.blocked || d.c.table.heldUp(j) == ""
			d.putAside(j)
		default:
			j.claim.jobs.fix(j.place)
			d.c.claims.sumUp(j)
		}
	}
	for _, cl := range f.who {
		if cl.place < 0 && cl.jobs.len() > 0 {
			d.c.claims.queue.push(cl)
		}
	}
	f.who = f.who[:0]
}

// saySo notes what a round said of claimants. What one was given and could not use says
// nothing, nor does a round that nothing came of: mostly one for tasks ahead, of which
// the placement policy wants none.
func (d *dispatch) saySo() {
	f := &d.c.claims.fair
	n := 0
	for k := range f.parts {
		if p := &f.parts[k]; p.placed > 0 && p.n != whole {
			n += p.placed
			cl := p.job.claim
			cl.said, cl.got = cl.saying, true
			f.clock++
			cl.turn = f.clock
			d.c.claims.settleClaim(cl)
		}
	}
	for _, cl := range f.who {
		if !cl.getting && cl.saying != (share.Reason{}) && (n > 0 || !f.ahead) {
			cl.said, cl.got = cl.saying, false
		}
		cl.saying, cl.getting = share.Reason{}, false
	}
}

// bringBack ends a Step's rounds: what was put aside is in the queue again.
func (d *dispatch) bringBack() {
	f := &d.c.claims.fair
	for _, j := range f.aside {
		if j.queued && j.place < 0 {
			d.c.claims.joins(j)
			d.c.claims.sumUp(j)
		}
	}
	clear(f.aside)
	f.aside = f.aside[:0]
}
