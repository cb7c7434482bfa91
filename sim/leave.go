package sim

import "godwit/trace"

// leave is a host's going away with all that runs there. One that gave notice is
// known to be gone; of others the scheduler hears after Network.Detect, or when
// they come back, and until then they are to it as they were: tasks may be
// placed there, which fail with the others.
func (w *world) leave(i int32, h *simHost, was trace.State) {
	if was == trace.Available {
		w.exits(i, h)
	}
	h.gone, h.graceEnd = true, never64
	if w.network.Detect <= 0 || was == trace.Leaving {
		w.loseAll(i, h, "its host went away")
		return
	}
	h.unseen = true
	h.epoch++
	for k := h.tasks.head; k != none; k = w.tasks.slots[k].hnext {
		w.stop(k, h)
		w.tasks.slots[k].status = taskDoomed
	}
	w.empty(h)
	w.rearm(i, h)
	if was == trace.Available && w.room(h) > 0 {
		w.open(i) // as it seems
	}
	w.push(w.now+int64(w.network.Detect), phaseLeaves, onDetect, i)
}

// detect is when a host is missed.
func (w *world) detect(i int32, h *simHost) {
	h.unseen = false
	w.close(i)
	if w.classes != nil {
		w.classes.changed(i)
	}
	w.loseAll(i, h, "its host went away unnoticed")
}

// loseAll is the end of all tasks of a host: they fail.
func (w *world) loseAll(i int32, h *simHost, reason string) {
	n := w.putOut(i, h, func(k int32) {
		if w.tasks.slots[k].alone() {
			w.tally.fail(w.now, w.tasks.slots[k].early)
		}
		w.lost(k, i, reason, w.requeue)
	})
	if n > 0 && w.traits.Lost != nil {
		w.traits.Lost(w.time(), n)
	}
}

// outstay is when the owner has stayed for longer than the grace.
func (w *world) outstay(i int32, h *simHost) {
	h.graceEnd = never64
	w.putOut(i, h, func(k int32) {
		if w.tasks.slots[k].alone() {
			w.tally.giveBack(w.tasks.slots[k].early)
		}
		w.lost(k, i, "its host's owner stays", true)
	})
}

// putOut takes all tasks off a host, gives each to end, and returns how many
// they were.
func (f *farm) putOut(i int32, h *simHost, end func(k int32)) int {
	h.epoch++
	n := 0
	first := h.tasks.head
	for k := first; k != none; k = f.tasks.slots[k].hnext {
		if s := f.tasks.slots[k].status; s != taskDoomed && s != taskVoid {
			f.stop(k, h)
		}
	}
	f.empty(h)
	h.tasks = line{none, none}
	h.load, h.memory = 0, 0
	for k := first; k != none; n++ {
		next := f.tasks.slots[k].hnext
		f.tally.events++
		end(k)
		k = next
	}
	f.rearm(i, h)
	return n
}

// empty forgets what runs and waits on a host.
func (f *farm) empty(h *simHost) {
	h.queue, h.root, h.running = line{none, none}, none, 0
	f.rerate(h)
}

// stop books the host time of a task's run that came to nothing but its
// checkpoints. The clocks are right.
func (f *farm) stop(k int32, h *simHost) {
	t := &f.tasks.slots[k]
	f.abandon(t)
	if t.status != taskRunning {
		f.tally.wasted += t.extra // a moved state, which waited for a slot
		t.extra = 0
		return
	}
	served, spent := h.workClock-t.begunWork, h.timeClock-t.begunTime
	made, safe := f.checkpoints(t, served)
	f.tally.checkpoint(made, t, f.saves.Away)
	f.keep(t, served, spent, safe)
}

// keep books what a run that ends without a result took, of whose checkpoints so
// many can be had.
func (f *farm) keep(t *simTask, served, spent float64, safe int64) {
	if safe == 0 || !(served > 0) {
		f.tally.wasted += spent + t.extra
		t.extra = 0
		return
	}
	gain := float64(safe) * float64(t.every)
	useful := spent * min(1, gain/served)
	f.tally.wasted += spent - useful
	if t.onSaved {
		t.savedTime += t.extra + useful
	} else {
		f.tally.wasted += t.savedTime
		t.savedTime = t.extra + useful
	}
	t.extra = 0
	t.saved = t.from + int64(gain)
	t.savedHost = t.host
	if f.saves.Away {
		t.savedHost = none
	}
}

// lost is what becomes of a task that is off its host without a result.
func (w *world) lost(k, i int32, reason string, again bool) {
	if w.watch != nil && w.tasks.slots[k].status != taskVoid {
		w.decided(k, "lost", i, none, reason)
	}
	if w.unpaired(k) {
		return
	}
	if again {
		if w.classes != nil {
			w.classes.redraw(&w.tasks.slots[k])
		}
		w.wait(k)
		return
	}
	w.tally.wasted += w.tasks.slots[k].savedTime
	w.over(k)
}

// wait puts a task at the end of the queue.
func (w *world) wait(k int32) {
	if w.queue.head == none || w.again == 0 {
		w.widened = true
	}
	t := &w.tasks.slots[k]
	t.status, t.host = taskWaiting, none
	if w.inOrder {
		w.queue.insert(&w.tasks, k)
	} else {
		w.queue.push(&w.tasks, k)
	}
	if w.classes != nil {
		w.classes.wait(k)
	}
	w.waiting++
}

// over takes a task out of the system.
func (f *farm) over(k int32) {
	f.tally.leaves(f.now, &f.tasks.slots[k])
	f.tasks.release(k)
}
