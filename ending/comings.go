package ending

import "time"

// comes has a host come, or its owner go.
func (w *world) comes(h *host, i int) {
	c := h.habit
	h.there, h.session, h.since, h.idle = true, false, w.now, w.now
	w.settleRoom(i)
	if h.replay {
		h.change = w.now + c.next(w.time(), true, w.rng)
	} else {
		h.change = w.now + c.fresh(w.now).draw(0, w.rng)*w.pace[0]
	}
	w.at(h.change, changes, i, 0)
	for _, k := range h.running {
		if r := &w.runs[k]; h.owner {
			r.epoch++
			w.goOn(k, r)
		}
	}
	w.dirty = true
}

// leaves has a host leave, or its owner come.
func (w *world) leaves(h *host, i int) {
	c := h.habit
	hour := hourOf(w.c.now.Add(time.Duration(w.now * float64(time.Second))))
	a := w.c.drawOf(c.own, hour, w.rng)
	h.there, h.owner = false, a.owner
	w.settleRoom(i)
	h.change = w.now + a.length*w.pace[1]
	if h.replay {
		h.change = w.now + c.next(w.time(), false, w.rng)
	}
	w.at(h.change, changes, i, 0)
	if w.traits.Lost != nil && len(h.running) > 0 && !h.owner {
		w.traits.Lost(w.time(), len(h.running))
	}
	w.pause(h)
}

// pause has the runs of a host that has left stand still, until they go on there or
// elsewhere.
func (w *world) pause(h *host) {
	wait := w.detect
	if h.owner {
		wait = w.grace
	}
	for _, k := range h.running {
		r := &w.runs[k]
		r.settle(w.now)
		r.epoch++
		w.at(w.now+wait, returns, k, r.epoch)
	}
}

// end ends a run whose tasks are done.
func (w *world) end(k int, r *run) {
	w.remove(k, r)
	w.ended(r, r.tasks)
	w.dirty = w.dirty || w.queue.any()
}

// ended counts tasks of a run that are done, and has those wait that waited for them.
func (w *world) ended(r *run, tasks uint64) {
	r.job.done += float64(tasks)
	if w.parts > 1 {
		w.release()
	}
}

// giveBack has the tasks of a run that are not done wait again, from their last states.
func (w *world) giveBack(k int, r *run) {
	w.remove(k, r)
	each := r.total / float64(r.tasks)
	whole := min(uint64(r.did/each), r.tasks-1)
	did := max(r.job.saved(r.did-float64(whole)*each, r.speed), r.base)
	r.job.pieces = append(r.job.pieces, piece{total: each, did: did})
	r.job.waiting += r.tasks - whole - 1
	w.ended(r, whole)
	w.dirty = true
}
