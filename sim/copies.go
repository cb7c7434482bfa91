package sim

import "time"

// A task of a bag's tail may run twice: its copy is a second simTask, its twin, which
// goes on from the last checkpoint that any host can get. To the census the two are one
// task. The first that ends is the result; if one is lost, the other goes on alone. A
// task with a twin does not move.

// tailEvery is how often the last tasks are looked at, in nanoseconds. Live it is each
// few seconds; a minute is short beside tasks of an hour.
const tailEvery = int64(time.Minute)

// lookAtTail asks the rule of copies, while nothing waits.
func lookAtTail(w *world) {
	if w.waiting > 0 || w.saturated || w.roomy.next(0) == none || w.tally.inside == 0 {
		return
	}
	w.clearScan()
	for i := range w.hosts {
		if h := &w.hosts[i]; !h.gone || h.unseen {
			w.scanned = append(w.scanned, w.shown(int32(i), h))
		}
	}
	for _, m := range w.copier.Copies(w.time(), w.scanned, w.moveForecast, w.situation) {
		from, _ := hostOf(m.From)
		to, ok := hostOf(m.To)
		if !ok || !w.roomy.has(int32(to)) || from == to {
			continue
		}
		for k := w.hosts[from].tasks.head; k != none; k = w.tasks.slots[k].hnext {
			if t := &w.tasks.slots[k]; t.id == m.Task.Index && t.status == taskRunning && t.twin == none && t.to == none {
				double(w, k, int32(to), m.Why())
				break
			}
		}
	}
}

// double starts a copy of a task that runs.
func double(w *world, k, to int32, reason string) {
	from := w.tasks.slots[k].host
	h := &w.hosts[from]
	w.advance(h)
	c := w.tasks.take()
	t := &w.tasks.slots[k]
	safe := w.safeWork(t, h)
	w.tasks.slots[c] = simTask{
		id: t.id, arrived: t.arrived, placed: t.placed, work: t.work, memory: t.memory, state: t.state, class: t.class,
		early: t.early, onSaved: safe > 0, saved: safe, from: safe, savedHost: none, pair: pair{twin: k, second: true},
		passage: passage{origin: none, to: none}, links: links{child: none, sib: none, hnext: none, hprev: none},
	}
	t.twin = c
	t = &w.tasks.slots[c]
	w.tally.copies++
	w.tally.fetch(t)
	w.send(c, to, &w.hosts[to])
	if w.watch != nil {
		w.decided(c, "copied", to, from, reason)
	}
	w.dispatch(c, to, w.travel(t))
}

// safeWork is the work of a task that runs which its newest checkpoint holds that any
// host can get.
func (f *farm) safeWork(t *simTask, h *simHost) int64 {
	if !f.saves.Away {
		return 0
	}
	if _, n := f.checkpoints(t, h.workClock-t.begunWork); n > 0 {
		return t.from + n*t.every
	}
	return t.saved
}

// settleTwin ends the other run of a task that t has completed. What of the first run
// its copy went on from is useful.
func settleTwin(w *world, t *simTask) {
	k := t.twin
	t.twin, t.second = none, false
	o := &w.tasks.slots[k]
	h := &w.hosts[o.host]
	if o.second {
		w.tally.wasted += o.savedTime
	} else {
		t.savedTime += o.savedTime
	}
	o.savedTime, o.twin = 0, none
	w.abandon(o)
	switch o.status {
	case taskSent, taskDoomed:
		o.status = taskVoid // an event, or the loss of its host, will find it
		w.tally.wasted += o.extra
		o.extra = 0
		return
	case taskRunning:
		w.advance(h)
		made, _ := w.checkpoints(o, h.workClock-o.begunWork)
		w.tally.checkpoint(made, o, w.saves.Away)
		w.tally.wasted += h.timeClock - o.begunTime
	}
	w.tally.wasted += o.extra
	if w.watch != nil {
		w.decided(k, "lost", o.host, none, "another run of it ended first")
	}
	w.takeOff(k, o.host, h)
	w.tasks.release(k)
}

// alone says that a run is its task's only one, so that its loss is the task's.
func (t *simTask) alone() bool { return t.twin == none && t.status != taskVoid }

// unpaired says whether a task that was lost goes on as its twin, or was void.
func (f *farm) unpaired(k int32) bool {
	t := &f.tasks.slots[k]
	if t.status == taskVoid {
		f.tasks.release(k)
		return true
	}
	if t.twin == none {
		return false
	}
	o := &f.tasks.slots[t.twin]
	if t.second {
		f.tally.wasted += t.savedTime
	} else {
		o.savedTime += t.savedTime
		if t.savedHost == none && t.saved > o.saved {
			o.saved = t.saved
		}
	}
	o.twin, o.second = none, false
	f.tasks.release(k)
	return true
}

// vacate frees the place that was kept for a task.
func (f *farm) vacate(t *simTask, h *simHost) {
	h.load--
	h.memory -= t.memory
	f.touch(t.host, h)
}
