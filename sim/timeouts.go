package sim

import (
	"fmt"
	"math"
)

// watch arranges that a task which begins at a host is given up when it takes too long.
func (c *classes) watch(k, i int32, h *simHost, t *simTask) {
	c.extra[k].due = 0
	if c.timeout == 0 || t.class < 0 {
		return
	}
	rate := c.Of(c.known[t.class].Name, c.w.peer(i))
	if c.imposed != nil && c.seen == nil {
		rate *= c.imposed.at(int(i)) * h.speed
	}
	if !(rate > 0) {
		return
	}
	after := c.timeout / rate * 1e9
	if c.imposed != nil {
		after += c.timeout * float64(c.imposed.Overhead)
	}
	if after = math.Ceil(after); after < float64(c.w.end-c.w.now) {
		c.extra[k].due = c.w.now + max(1, int64(after))
		c.w.push(c.extra[k].due, phaseLeaves, onTimeout, k)
	}
}

// timedOut is when a task that began at a host has taken too long there, if it is
// there still. A host that does not answer is gone, and all that it had waits anew.
func (w *world) timedOut(k int32) {
	t := &w.tasks.slots[k]
	x := &w.classes.extra[k]
	if x.due != w.now || t.status != taskRunning && t.status != taskDoomed {
		return
	}
	x.due = 0
	i := t.host
	h := &w.hosts[i]
	if t.status == taskDoomed {
		if h.unseen {
			w.detect(i, h)
		}
		return
	}
	w.advance(h)
	w.stop(k, h)
	w.takeOff(k, i, h)
	w.tally.events++
	w.tally.giveBack(t.early)
	w.lost(k, i, fmt.Sprintf("it took %.3g times as long as is expected of its class there", w.classes.timeout), true)
}
