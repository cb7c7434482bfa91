package scheduler

import "godwit/scheduler/place"

// teach tells a policy that learns how many attempts were lost with their
// workers in this Step. It counts as after the Step's placements.
func (c *Coordinator) teach() {
	if l, ok := c.policy.(place.Learner); ok && c.lost > 0 {
		l.Lost(c.now, c.lost)
	}
	c.lost = 0
}

// askAgain has a policy that may leave tasks waiting beside idle hosts asked once
// more, as it wants, while they do.
func (c *Coordinator) askAgain() {
	p, ok := c.policy.(place.Waiter)
	if !ok || c.asking || c.queue.len() == 0 || c.idle.len() == 0 || c.recovering {
		return
	}
	if d := p.Again(); d > 0 {
		c.asking = true
		c.timers.Set(c.now.Add(d), reminder{ask: true})
	}
}
