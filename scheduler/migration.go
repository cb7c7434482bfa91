package scheduler

import (
	"slices"
	"time"

	"godwit/migrate"
	"godwit/scheduler/leasing"
	"godwit/scheduler/place"
	"godwit/task"
)

// A migration decides which running tasks should go elsewhere. Its policy and the rule of
// tails do; transfers carries out what they want.
type migration struct {
	c *Coordinator

	// Migration. given counts the leases on the books.
	mover    migrate.Policy // nil: nothing moves
	forecast place.Forecast // for mover
	rate     float64        // bytes of state a second, mean of hand-overs; 0 before the first
	scanAt   time.Time      // when the next scan is due; zero for none set
	scans    uint64         // made in this life: they seed the random numbers
	tailDue  bool           // it has gone off
	tailSet  bool           // a reminder to look at tails is set
	noticed  bool           // a member gave notice, and no scan followed yet
	weighed  time.Time      // when the policy looked at all members last
	stays    []*lease       // of which it is known why they stay, each once; some have ended
}

const (
	// leastPeriod bounds how often a policy scans, whatever the rules say: a scan
	// looks at every member.
	leastPeriod = time.Second
	// noticeAgain is how long after a notice the tasks that found no place are
	// offered again, while their member still has them.
	noticeAgain = 10 * time.Second
	// scanStream tells the random numbers of scans from those of placements.
	scanStream = 1 << 63
)

// cannotSave is why a task stays that is to end where it runs.
const cannotSave = "its state cannot be saved on the way"

// forgetStays forgets why leases stay whose hosts they need not leave any more.
func (m *migration) forgetStays(from map[*host]bool) {
	m.stays = slices.DeleteFunc(m.stays, func(l *lease) bool {
		if !from[l.host] && l.move == nil && !l.fixed && !m.c.now.Before(l.tries.notBefore) {
			l.stay.why = ""
		}
		forget := l.stay.why == "" || !slices.Contains(l.host.leases, l)
		l.stay.listed = !forget
		return forget
	})
}

// stayed notes why a lease stays.
func (m *migration) stayed(l *lease, why, but string) {
	l.stay.why, l.stay.but = task.ClipMessage(why), but
	if !l.stay.listed {
		l.stay.listed = true
		m.stays = append(m.stays, l)
	}
	m.c.decided(l.taskID(), "stays", l.host.peer, l.stay.why)
}

// leaseFor returns the host's lease of a task that has not ended, or nil.
func (h *host) leaseFor(id task.TaskID) *lease {
	for _, l := range h.leases {
		if l.task.index == id.Index && l.job.id == id.Job && l.is(leasing.Open) {
			return l
		}
	}
	return nil
}

// mayMove reports whether the task can be taken elsewhere with its state.
func (m *migration) mayMove(l *lease) bool {
	return l.is(leasing.Settled) && !m.c.now.Before(l.tries.notBefore) && !l.fixed && l.job.mayResume() && l.mayGoOn()
}

// noteStay notes why a task that should move does not, and tells it when something else
// stands in its way than before. Only then is it put into words.
func (m *migration) noteStay(l *lease, why cause, but string) {
	if l.stay.why != "" && l.stay.but == but {
		return
	}
	m.stayed(l, "it should leave its member ("+why.Why()+"), and stays: "+but, but)
}
