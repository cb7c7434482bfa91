package scheduler

import (
	"fmt"
	"time"

	"godwit/scheduler/leasing"
	"godwit/task"
)

// Leases that are doubted. Who claims slots and does nothing with what it is given would keep
// tasks for as long as their jobs let them run. So in an open overlay a task that a member,
// which has not yet shown anything, has had for far longer than those of its job take is run
// elsewhere as well, and the first end counts. Nothing is stopped for it.

const (
	// doubtEvery is how often it is looked what members have had for long.
	doubtEvery = 10 * time.Second
	// doubtAfter is the least time after which a lease is doubted, and doubtTimes how many
	// times as long it must have run as those of its job take, whatever its member's speed.
	doubtAfter = 30 * time.Second
	doubtTimes = 8
	// maxDoubts bounds the leases of one task that are.
	maxDoubts = 3
)

// doubtIfDue doubts the leases that it is time for. It sets no reminder: while anything runs,
// reports of it come every few seconds.
func (m *membership) doubtIfDue() {
	if !m.c.cfg.Rules.Open || m.given == 0 || m.c.term.recovering || m.c.now.Before(m.doubtAt) {
		return
	}
	m.doubtAt = m.c.now.Add(doubtEvery)
	for _, h := range m.roster.all() {
		if h.claim.batches > 0 || h.peer == m.c.self {
			continue
		}
		for _, l := range h.leases {
			if !l.is(leasing.Open) || l.doubted {
				continue
			}
			ran := m.c.now.Sub(l.start) - (h.stoodBy(m.c.now) - l.stoodBefore)
			if mean, known := measuredOf(l.job, l.task.index); known && ran > max(doubtAfter, doubtTimes*mean) {
				m.doubt(l, fmt.Sprintf("tasks of its job take %v", mean.Round(time.Millisecond)))
			}
		}
	}
}

// doubt has the task of a lease run elsewhere as well.
func (m *membership) doubt(l *lease, why string) {
	n := 0
	for _, o := range l.task.leases {
		if o.doubted {
			n++
		}
	}
	if n >= maxDoubts || l.job.state != jobOpen {
		return
	}
	l.doubted = true
	m.c.decided(l.taskID(), "doubted", l.host.peer, task.ClipMessage(fmt.Sprintf("it has had the task for %v, %s, and it "+
		"has not ended a batch here yet: others run it as well", m.c.now.Sub(l.start).Round(time.Second), why)))
	m.c.reports.waitAgain(l.job, l.task.index)
}
