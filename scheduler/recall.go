package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
)

// recall takes tasks that wait at one worker back when nothing waits here and
// another worker is idle. The worker answers with a refusal if the task had
// not started; only then is it placed again, so that nothing runs twice.
func (d *dispatch) recall() {
	if d.pushes() || !d.c.members.uneven || d.c.claims.queue.len() > 0 || d.c.members.idle.len() == 0 ||
		len(d.c.members.backlog) == 0 || d.c.term.recovering {
		return
	}
	d.c.members.uneven = false
	slots, pending := 0, 0
	for _, h := range d.c.members.idle.all() {
		slots += h.slots - h.load
	}
	behind := slices.SortedFunc(maps.Values(d.c.members.backlog), func(a, b *host) int {
		return cmp.Or(cmp.Compare(b.load-b.slots-b.recalls, a.load-a.slots-a.recalls), cmp.Compare(a.peer, b.peer))
	})
	for _, h := range behind {
		pending += h.recalls
	}
	for _, h := range behind {
		for n := h.load - h.slots - h.recalls; n > 0 && pending < slots; n-- {
			if !d.recallFrom(h) {
				break
			}
			pending++
		}
	}
}

// recallFrom asks for the lease that would start last, if its wait is worth it
// and an idle host could run it.
func (d *dispatch) recallFrom(h *host) bool {
	for k := len(h.leases) - 1; k >= 0; k-- {
		l := h.leases[k]
		if !l.is(leasing.Recallable) || l.task.recalls >= maxRecalls {
			continue
		}
		if !d.worthRecall(h, l) || !d.idleFor(l) {
			return false
		}
		l.take(leasing.AsksBack)
		l.task.recalls++
		d.c.outbox.drop(h.peer, l.taskID(), l.attempt, message.DropRecall)
		return true
	}
	return false
}

func (d *dispatch) worthRecall(h *host, l *lease) bool {
	length, known := l.job.durationOf(l.task.index)
	if !known || h.slots == 0 {
		return true
	}
	return length*time.Duration(h.load-h.slots) >= d.c.cfg.RecallWorth*time.Duration(h.slots)
}

// idleFor reports whether an idle host could run the task.
func (d *dispatch) idleFor(l *lease) bool {
	for _, h := range d.c.members.idle.all() {
		if _, paused := h.paused[l.job]; paused || h.memory-h.memoryUsed < l.memory() {
			continue
		}
		if !l.job.worksOn(l.task.index, h.peer) {
			return true
		}
	}
	return false
}
