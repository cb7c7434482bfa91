package sim

import (
	"time"

	"godwit/scheduler/place"
	"godwit/task"
)

// noticeAgain is how long after a notice the tasks that found no place are
// offered again, while their host still has them: noticeAgain of package
// scheduler.
const noticeAgain = int64(10 * time.Second)

// fromStore is the origin of a task that goes on from a checkpoint which is away
// from its host: nobody needs that host any more.
const fromStore int32 = -2

// heedNotice has a notice-driven policy look at a host that is on notice.
func (w *world) heedNotice(i int32, h *simHost) {
	if !w.notices.driven || h.tasks.head == none {
		return
	}
	w.notices.hosts.set(i)
	w.clearScan()
	w.scanned = append(w.scanned, w.shown(i, h))
	w.migrate(w.scanned)
	w.remind()
}

// remind arranges another look at hosts on notice, if any still has tasks.
func (w *world) remind() {
	if w.paper || w.notices.armed {
		return
	}
	left := false
	w.notices.hosts.each(func(i int32) {
		if h := &w.hosts[i]; h.onNotice() && h.tasks.head != none {
			left = true
		} else {
			w.notices.hosts.clear(i)
		}
	})
	if left {
		w.notices.armed = true
		w.push(w.now+noticeAgain, phaseScans, onReminder, 0)
	}
}

// reminded looks at all hosts on notice again, where there is room for what they
// have.
func (w *world) reminded() {
	w.notices.armed = false
	if w.roomy.next(0) != none {
		w.clearScan()
		w.notices.hosts.each(func(i int32) {
			if h := &w.hosts[i]; h.onNotice() && h.tasks.head != none {
				w.scanned = append(w.scanned, w.shown(i, h))
			}
		})
		if len(w.scanned) > 0 {
			w.migrate(w.scanned)
		}
	}
	w.remind()
}

// fallBack ends the run of a task that stands still, which cannot be saved now,
// and says whether it can go on elsewhere at once: from a checkpoint that this
// run made, as live. A checkpoint that is still on its way counts, because the
// host lives and the end waits for it.
func (f *farm) fallBack(k int32, h *simHost) bool {
	t := &f.tasks.slots[k]
	served, spent := h.workClock-t.begunWork, h.timeClock-t.begunTime
	made, _ := f.checkpoints(t, served)
	f.tally.checkpoint(made, t, f.saves.Away)
	f.keep(t, served, spent, made)
	if made == 0 || !f.saves.Away {
		return false
	}
	t.onSaved, t.from = true, t.saved
	return true
}

// giveUp has a task that was to move wait again: there is nothing to send.
func (w *world) giveUp(k, i, to int32) {
	w.tally.events++
	w.tally.giveBack(w.tasks.slots[k].early)
	w.lost(k, i, "its owner is there, and no checkpoint of it is elsewhere", true)
	w.touch(to, &w.hosts[to]) // the place that was to be its
}

// A presentForecast is that of live nodes, who know nothing of how long a host
// will be available that is not.
type presentForecast struct {
	w  *world
	of place.Forecast
}

// Stay implements place.Forecast.
func (f presentForecast) Stay(peer task.PeerID, now time.Time, d time.Duration) (float64, bool) {
	if i, ok := hostOf(peer); ok && i < len(f.w.hosts) && !f.w.hosts[i].seems() {
		return 0, false
	}
	return f.of.Stay(peer, now, d)
}
