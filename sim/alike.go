package sim

import "slices"

// isAlike says whether hosts that are offered are alike, and the policy goes by their order then: see place.Traits.
// Each has room for one task and none yet, and so the memory for any: one that needs more than a host lends does not
// wait. Who watches is told the policy's reasons, for which it is asked.
func (w *world) isAlike() bool {
	return w.traits.Alike && w.watch == nil && w.classes == nil && w.slots == 1 && w.ahead == 0 && w.speeds == Uniform
}

// placeAlike is a round of hosts that are alike, without the policy: each in its order is given the next task of the
// queue.
func (w *world) placeAlike() {
	widened, changed := w.widened, w.touched
	w.forget() // which leaves changed as it is: no host is touched in a round
	if widened {
		for i := w.roomy.next(0); i != none && w.giveNext(i); i = w.roomy.next(i + 1) {
		}
		return
	}
	if len(changed) > 1 {
		slices.Sort(changed)
	}
	for _, i := range changed {
		if w.roomy.has(i) && !w.giveNext(i) {
			return
		}
	}
}

// giveNext gives the next task to a host, and reports whether there was one.
func (w *world) giveNext(i int32) bool {
	k := w.queue.head
	if k == none {
		if k = w.refill(); k == none {
			return false
		}
	}
	t := &w.tasks.slots[k]
	w.goes(k, i, &w.hosts[i])
	t.origin = none
	w.tally.fetch(t)
	w.dispatch(k, i, w.travel(t))
	return true
}
