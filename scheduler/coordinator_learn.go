package scheduler

import "godwit/scheduler/place"

// teach tells a policy that learns how many attempts were lost with their
// workers in this Step. It counts as after the Step's placements.
func (q *dispatch) teach() {
	if l, ok := q.policy.(place.Learner); ok && q.c.reports.lost > 0 {
		l.Lost(q.c.now, q.c.reports.lost)
	}
	q.c.reports.lost = 0
}

// askAgain has a policy that may leave tasks waiting beside idle hosts asked once
// more, as it wants, while they do.
func (q *dispatch) askAgain() {
	p, ok := q.policy.(place.Waiter)
	if !ok || q.asking || q.c.claims.queue.len() == 0 || q.c.members.idle.len() == 0 || q.c.term.recovering {
		return
	}
	if d := p.Again(); d > 0 {
		q.asking = true
		q.c.timers.Set(q.c.now.Add(d), reminder{ask: true})
	}
}
