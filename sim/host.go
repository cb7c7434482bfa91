package sim

import (
	"math"

	"godwit/trace"
)

// runs says whether tasks there advance.
func (r *rules) runs(h *simHost) bool {
	return h.state == trace.Available || h.state == trace.Leaving && !r.paper
}

// advance brings a host's clocks to now.
func (f *farm) advance(h *simHost) {
	dt := float64(f.now - h.last)
	if dt == 0 {
		return
	}
	h.last = f.now
	if !f.runs(h) {
		return
	}
	used := 0.
	if h.running > 0 {
		h.workClock += dt * h.workRate
		h.timeClock += dt * h.timeRate
		used = dt * min(1, float64(h.running)*f.perSlot)
		f.tally.used += used
	}
	if h.state == trace.Available {
		f.tally.available += dt
	} else {
		f.tally.available += used
	}
}

// rerate sets the clocks' rates after the host's tasks or speed changed.
func (r *rules) rerate(h *simHost) {
	h.workRate, h.timeRate = h.speed, r.perSlot
	if r.sharing == Share && h.running > r.slots {
		part := float64(r.slots) / float64(h.running)
		h.workRate *= part
		h.timeRate *= part
	}
	if h.running == 0 {
		h.workClock, h.timeClock = 0, 0
	}
}

// rearm sets the host's timer. A timer that is on the agenda too early stays: it
// is set again when it fires. So the agenda has few that are for nothing.
func (f *farm) rearm(i int32, h *simHost) {
	h.wants = h.graceEnd
	if h.root != none && h.workRate > 0 && f.runs(h) {
		left := f.tasks.slots[h.root].endWork - h.workClock
		if h.workRate != 1 { // which saves a division
			left /= h.workRate
		}
		if left < maxSpan {
			h.wants = f.now + max(0, int64(math.Ceil(left-slack)))
		}
	}
	if h.wants < h.armed {
		h.armed = h.wants
		f.push(h.wants, phaseEnds, onTimer, i)
	}
}

// timer ends tasks whose time it is.
func (w *world) timer(i int32, at int64) {
	h := &w.hosts[i]
	if at != h.armed {
		return // one that was overtaken
	}
	h.armed = never64
	if h.wants != at {
		if h.wants < never64 {
			h.armed = h.wants
			w.push(h.wants, phaseEnds, onTimer, i)
		}
		return
	}
	w.advance(h)
	if h.graceEnd <= at {
		w.outstay(i, h)
		return
	}
	for {
		r := h.root
		w.complete(r, i, h)
		if h.root == none || w.tasks.slots[h.root].endWork > h.workClock+h.workRate/2 {
			break
		}
	}
	w.fill(i, h)
	w.touch(i, h)
}

// reach puts a task on a host that has kept a place for it.
func (f *farm) reach(k, i int32) {
	t, h := &f.tasks.slots[k], &f.hosts[i]
	t.hnext, t.hprev = none, h.tasks.tail
	if h.tasks.tail == none {
		h.tasks.head = k
	} else {
		f.tasks.slots[h.tasks.tail].hnext = k
	}
	h.tasks.tail = k
	if h.gone {
		t.status = taskDoomed
		f.tally.wasted += t.extra // of a moved state
		t.extra = 0
		return
	}
	f.advance(h)
	t.status = taskQueued
	h.queue.push(&f.tasks, k)
	f.fill(i, h)
}

// depart takes a task off its host.
func (f *farm) depart(k int32, h *simHost) {
	t := &f.tasks.slots[k]
	f.abandon(t)
	switch t.status {
	case taskQueued:
		h.queue.remove(&f.tasks, k)
	case taskRunning:
		h.root = f.tasks.without(h.root, k)
		h.running--
	}
	if t.hprev == none {
		h.tasks.head = t.hnext
	} else {
		f.tasks.slots[t.hprev].hnext = t.hnext
	}
	if t.hnext == none {
		h.tasks.tail = t.hprev
	} else {
		f.tasks.slots[t.hnext].hprev = t.hprev
	}
}

// fill starts tasks that wait at the host, up to its slots or, sharing, all; and
// sets rates and timer. The clocks are right.
func (f *farm) fill(i int32, h *simHost) {
	if h.running == 0 {
		h.workClock, h.timeClock = 0, 0
	}
	for h.queue.head != none && (f.sharing == Share || h.running < f.slots) {
		k := h.queue.head
		h.queue.remove(&f.tasks, k)
		t := &f.tasks.slots[k]
		t.status = taskRunning
		t.begunWork, t.begunTime = h.workClock, h.timeClock
		t.every = f.every(i, h, t)
		t.endWork = h.workClock + f.service(t)
		if f.classes != nil {
			f.classes.begin(k, i, h, t)
		}
		t.child, t.sib = none, none
		h.root = f.tasks.meld(h.root, k)
		h.running++
	}
	f.rerate(h)
	if f.classes != nil && h.root != none {
		h.workRate *= f.classes.paceOf(i, f.tasks.slots[h.root].class)
	}
	f.rearm(i, h)
}

// change brings a host to its next spell, as far as that makes a difference.
func (w *world) change(i int32) {
	h, r := &w.hosts[i], &w.records[i]
	w.advance(h)
	state, share := trace.Unobserved, 0.
	h.spell++
	if int(h.spell) < r.history.Len() {
		state, share = r.history.Present(int(h.spell))
	}
	w.nextChange(i, h, state)
	if state == h.state && share == r.share {
		return
	}
	w.tally.events++
	was := h.state
	r.share = share
	if w.speeds == Traced {
		h.speed = r.ghz * share
	}
	if was == state {
		w.fill(i, h)
		w.touch(i, h)
		return
	}
	w.turn(i, h, state)
}

// nextChange puts the next change of a host in a state on the agenda.
func (f *farm) nextChange(i int32, h *simHost, state trace.State) {
	history := f.records[i].history
	n := history.Len()
	for k := int(h.spell) + 1; k < n; k++ {
		begin, next := history.Begin(k)
		if !f.cpuMatters && next == state {
			h.spell = int32(k) // the same, with another share of the processors
			continue
		}
		phase := int64(phaseLeaves)
		if next == trace.Available && state != trace.Available {
			phase = phaseUps
		}
		f.push(f.sinceMillis(begin), phase, onChange, i)
		return
	}
	if int(h.spell) < n {
		f.push(f.since(history.Until()), phaseLeaves, onChange, i)
	}
}

// turn brings a host from one state to another. The clocks are right.
func (w *world) turn(i int32, h *simHost, state trace.State) {
	was := h.state
	h.state = state
	if state == trace.Unavailable || state == trace.Unobserved {
		if !h.gone {
			w.close(i)
			w.leave(i, h, was)
			if w.classes != nil && !h.unseen {
				w.classes.changed(i)
			}
		}
		return
	}
	w.close(i)
	if was == trace.Available {
		w.exits(i, h)
	}
	if h.gone {
		if h.unseen {
			w.detect(i, h)
		}
		h.gone, h.since = false, w.now
	}
	if w.classes != nil {
		w.classes.changed(i)
	}
	if !suspends(was) || !suspends(state) {
		h.graceEnd = never64
	}
	switch state {
	case trace.Available:
		if suspends(was) {
			w.tell(i, h, "resumed", "its owner is gone")
		}
		w.fill(i, h)
		w.touch(i, h)
	case trace.UserPresent, trace.CPUBusy:
		w.interrupt(i, h, was)
	case trace.Leaving:
		w.notice(i, h)
	}
}

// interrupt is the owner's return.
func (w *world) interrupt(i int32, h *simHost, was trace.State) {
	if w.owner == Kill {
		w.loseAll(i, h, "its owner came back")
		return
	}
	if h.tasks.head != none {
		if w.grace > 0 && h.graceEnd == never64 {
			h.graceEnd = w.now + w.grace
		}
		if was == trace.Available {
			w.tell(i, h, "suspended", "its owner came back")
		}
		if !suspends(was) {
			w.heedNotice(i, h)
		}
	}
	w.rearm(i, h)
}

// tell tells Watch something of all tasks of a host.
func (f *farm) tell(i int32, h *simHost, action, reason string) {
	if f.watch == nil {
		return
	}
	for k := h.tasks.head; k != none; k = f.tasks.slots[k].hnext {
		f.decided(k, action, i, none, reason)
	}
}
