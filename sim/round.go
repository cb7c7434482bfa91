package sim

import (
	"slices"
	"time"

	"godwit/scheduler/place"
	"godwit/task"
	"godwit/trace"
)

// place asks the policy for placements, as a live coordinator does: between two
// times that a policy wants to be asked it sees only hosts that have changed,
// or all with room when something waits after nothing did.
func (w *world) place() {
	if w.queue.head == none && !w.saturated {
		w.forget()
		return
	}
	if w.traits.Rate != nil && w.traits.Rate(w.time(), w.classes) {
		w.widened = true
	}
	if w.alike {
		w.placeAlike()
		return
	}
	if !w.shortlist() && len(w.offerAll()) == 0 {
		return
	}
	w.view.last, w.view.seen, w.view.shown, w.heeded = none, 0, w.view.shown[:0], 0
	w.draws.Seed(w.seed, w.round)
	w.round++
	w.situate()
	for _, p := range w.policy.Place(w.time(), w.shownQueue(), w.offers, w.placeForecast, w.rng) {
		w.heed(&p)
	}
}

// offerAll returns the hosts of a round, in their order.
func (w *world) offerAll() []place.Host {
	w.offers, w.offered = w.offers[:0], w.offered[:0]
	if !w.widened {
		if len(w.touched) > 1 {
			slices.Sort(w.touched)
		}
		for _, i := range w.touched {
			if w.roomy.has(i) {
				w.offer(i)
			}
		}
	} else {
		w.roomy.each(w.offer)
	}
	w.forget()
	return w.offers
}

func (w *world) offer(i int32) {
	h := &w.hosts[i]
	w.offered = append(w.offered, i)
	w.offers = append(w.offers, place.Host{
		Peer: w.peer(i), Slots: int(w.slots), Running: int(h.load), Free: w.room(h),
		Memory: w.memory, MemoryFree: w.memory - h.memory,
		Speed: h.speed, Since: w.start.Add(time.Duration(h.since)),
	})
	if c := w.classes; c != nil {
		c.describe(&w.offers[len(w.offers)-1], i)
	}
}

// shownQueue is the queue as the policy is shown it.
func (w *world) shownQueue() place.Queue {
	if w.traits.Rate == nil {
		return &w.view
	}
	w.classView.begin()
	return &w.classView
}

// situate tells a policy that asks how things stand.
func (w *world) situate() {
	if w.traits.Situate == nil {
		return
	}
	s := &w.situation
	w.traits.Situate(place.Situation{
		Waiting: w.waiting, Endless: w.saturated, Delay: s.Delay, Detect: s.Detect, Rate: s.Rate, Pause: s.Pause,
		Saves: s.Saves,
	})
}

// heed gives a task to a host as the policy says. A policy that names a host
// without room or a task that it was not shown is not heeded.
func (w *world) heed(p *place.Placement) {
	i := w.number(p.Peer)
	k := w.view.find(p.Task.Index)
	if i == none || k == none || w.tasks.slots[k].status != taskWaiting {
		return
	}
	h, t := &w.hosts[i], &w.tasks.slots[k]
	if !w.roomy.has(i) || t.memory > w.memory-h.memory || w.classes != nil && !(w.classes.paceOf(i, t.class) > 0) {
		return
	}
	if w.classes != nil {
		w.classes.leave(k)
	}
	w.goes(k, i, h)
	if w.classes != nil {
		w.classes.sent(k, i, h)
	}
	if w.watch != nil {
		w.decided(k, "placed", i, none, p.Reason.String())
	}
	t.origin = none
	w.tally.fetch(t)
	w.dispatch(k, i, w.travel(t))
}

// goes takes a task out of the queue, and keeps a place for it at a host.
func (w *world) goes(k, i int32, h *simHost) {
	t := &w.tasks.slots[k]
	w.queue.remove(&w.tasks, k)
	w.waiting--
	w.tally.place(w.now, t)
	t.onSaved = t.saved > 0 && (t.savedHost == none || t.savedHost == i)
	t.from = 0
	if t.onSaved {
		t.from = t.saved
	}
	w.send(k, i, h)
}

// travel is how long a task that is placed takes to its host: a checkpoint that it
// goes on from has to come from where it is held, unless that is the host itself.
func (r *rules) travel(t *simTask) time.Duration {
	if t.onSaved && t.savedHost == none && !r.paper {
		return time.Duration(r.transfer(t.state))
	}
	return r.network.Delay
}

// number is the number of a host that was offered, none of others. Policies
// mostly place in the order of what they are offered, so that no name need be
// read.
func (w *world) number(p task.PeerID) int32 {
	if k := w.heeded; k < len(w.offers) && w.offers[k].Peer == p {
		w.heeded++
		return w.offered[k]
	}
	n, ok := hostOf(p)
	if !ok || n >= len(w.hosts) {
		return none
	}
	return int32(n)
}

// send keeps a place for a task.
func (f *farm) send(k, i int32, h *simHost) {
	t := &f.tasks.slots[k]
	t.host, t.epoch, t.status = i, h.epoch, taskSent
	f.book(t, i, h)
}

// dispatch has a task reach its host after d.
func (f *farm) dispatch(k, i int32, d time.Duration) {
	if d <= 0 {
		f.reach(k, i)
		return
	}
	f.push(f.now+int64(d), phaseArrivals, onReach, k)
}

// arrive is when a task that was sent reaches its host, if both are as they were.
func (w *world) arrive(k int32) {
	t := &w.tasks.slots[k]
	h := &w.hosts[t.host]
	known := h.gone && !h.unseen || h.epoch != t.epoch && !h.unseen
	if t.status == taskVoid {
		if !known {
			w.vacate(t, h)
		}
		w.tasks.release(k)
		return
	}
	left := t.origin >= 0 && w.hosts[t.origin].epoch != t.away
	switch {
	case !known && !left && h.state != trace.Leaving:
		w.reach(k, t.host)
		if w.notices.driven && h.onNotice() {
			w.heedNotice(t.host, h)
		}
		return
	case !known:
		w.vacate(t, h)
	}
	w.tally.events++
	if t.origin != none {
		w.strand(k, left)
		return
	}
	if !known {
		if t.alone() {
			w.tally.giveBack(t.early)
		}
		w.lost(k, t.host, "its host leaves and takes nothing new", true)
		return
	}
	if t.alone() {
		w.tally.fail(w.now, t.early)
	}
	w.lost(k, t.host, "its host was gone when it came", w.requeue)
	if w.traits.Lost != nil {
		w.traits.Lost(w.time(), 1)
	}
}

// complete ends the task that is first in a host's heap. The clocks are right.
func (w *world) complete(k, i int32, h *simHost) {
	t := &w.tasks.slots[k]
	h.root = w.tasks.popRoot(k)
	h.running--
	t.status = taskEnded
	w.depart(k, h)
	if t.twin != none {
		settleTwin(w, t)
	}
	spent := h.timeClock - t.begunTime
	useful := spent
	if n := w.planned(t); n > 0 {
		useful *= min(1, float64(t.work-t.from)/(h.workClock-t.begunWork))
		w.tally.checkpoint(n, t, w.saves.Away)
	}
	w.tally.useful += useful + t.extra
	w.tally.wasted += spent - useful
	if t.onSaved {
		w.tally.useful += t.savedTime
	} else {
		w.tally.wasted += t.savedTime
	}
	w.tally.succeed(w.now, t)
	if w.classes != nil {
		w.classes.end(k, t)
	}
	if w.watch != nil {
		w.decided(k, "completed", i, none, "")
	}
	if w.network.Delay > 0 {
		w.tally.leaves(w.now, t)
		t.epoch = h.epoch
		w.push(w.now+int64(w.network.Delay), phaseArrivals, onFreed, k)
		return
	}
	h.load--
	h.memory -= t.memory
	w.over(k)
}

// freed is when the scheduler hears of a task's end.
func (f *farm) freed(k int32) {
	t := &f.tasks.slots[k]
	if h := &f.hosts[t.host]; h.epoch == t.epoch {
		h.load--
		h.memory -= t.memory
		f.touch(t.host, h)
	}
	f.tasks.release(k)
}
