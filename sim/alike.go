package sim

import "slices"

// isAlike says whether hosts that are offered are alike, and the policy goes by their order then: see place.Traits.
// Who watches is told the policy's reasons, for which it is asked.
func (w *world) isAlike() bool {
	return w.traits.Alike && w.watch == nil && w.classes == nil && w.slots == 1 && w.ahead == 0 && w.speeds == Uniform
}

// placeAlike is a round of hosts that are alike, without the policy: they are given the tasks of the queue, each in its
// order. It reports whether the round is over: else a task fits the next host not, and the policy is to be asked about
// that one and the rest, which are offered.
func (w *world) placeAlike() bool {
	if !w.widened {
		if len(w.touched) > 1 {
			slices.Sort(w.touched)
		}
		changed := w.touched
		w.forget() // which leaves them where they are: nobody is touched in a round
		for at, i := range changed {
			if !w.roomy.has(i) {
				continue
			}
			if given, more := w.giveNext(i); !more {
				return true
			} else if !given {
				w.offers, w.offered = w.offers[:0], w.offered[:0]
				for _, i := range changed[at:] {
					if w.roomy.has(i) {
						w.offer(i)
					}
				}
				return false
			}
		}
		return true
	}
	w.forget()
	for i := w.roomy.next(0); i != none; i = w.roomy.next(i + 1) {
		if given, more := w.giveNext(i); !more {
			return true
		} else if !given {
			w.offers, w.offered = w.offers[:0], w.offered[:0]
			for ; i != none; i = w.roomy.next(i + 1) {
				w.offer(i)
			}
			return false
		}
	}
	return true
}

// giveNext gives the next task to a host, unless there is none more, or it does not fit.
func (w *world) giveNext(i int32) (given, more bool) {
	k := w.queue.head
	if k == none {
		if k = w.refill(); k == none {
			return false, false
		}
	}
	h, t := &w.hosts[i], &w.tasks.slots[k]
	if t.memory > w.memory-h.memory {
		return false, true
	}
	w.goes(k, i, h)
	t.origin = none
	w.tally.fetch(t)
	w.dispatch(k, i, w.travel(t))
	return true, true
}
