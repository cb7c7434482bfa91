package scheduler

import (
	"math/rand/v2"
	"time"

	"godwit/migrate"
	"godwit/scheduler/place"
	"godwit/task"
)

// deciding is the memory of a coordinator's rounds and scans: a large overlay
// has thousands of members to look at in each, and what one needed does for the
// next. What is here holds until the next round or scan.
type deciding struct {
	draws rand.PCG
	rng   *rand.Rand // of draws; nil before the first
	step  uint64     // of this Step: what is known of an older one is old

	hosts  []*host      // of a Step's rounds
	open   []*host      // of a round, with room
	offers []place.Host // of these
	plain  *job         // of a Step: see keepsUnused
	asked  []*portion   // of the round's chunks
	denied []*host      // with host.denied set, in this round
	ran    []*portion   // that the report being taken in told of
	// there and offersThere are those of one site.
	there       []*host
	offersThere []place.Host
	view        queueView
	classes     classView
	ranked      ranked
	picked      []ranked // of a shortlist

	scanned []migrate.Host
	tasks   []task.TaskID // of scanned
	runs    []migrate.Run // of tasks, for a policy that looks at them
	moves   []migrate.Move
	moving  []leaving
	from    map[*host]bool // that tasks are to leave
	leaving leavingView
}

// random returns the random numbers of a decision. They follow from what it is
// named by, not from what was drawn before.
func (m *deciding) random(epoch, what uint64) *rand.Rand {
	if m.rng == nil {
		m.rng = rand.New(&m.draws)
	}
	m.draws.Seed(epoch, what)
	return m.rng
}

// leave returns an empty set of the hosts that tasks are to leave.
func (m *deciding) leave() map[*host]bool {
	if m.from == nil {
		m.from = map[*host]bool{}
	}
	clear(m.from)
	return m.from
}

// foretold is the coordinator's forecast, asked once in a Step for each member and
// length of time: a policy that compares asks about the same ones for every task,
// and an answer takes microseconds.
type foretold struct{ c *Coordinator }

// remembered is how many lengths of time are remembered of a member. Tasks come by
// jobs, and a policy asks about few lengths for a job.
const remembered = 4

// staying is what was forecast of a host in one Step.
type staying struct {
	step uint64
	n    int // answers; the latest stand for older ones
	said [remembered]struct {
		d     time.Duration
		p     float64
		known bool
	}
}

// Stay implements place.Forecast.
func (f foretold) Stay(peer task.PeerID, now time.Time, d time.Duration) (p float64, known bool) {
	h := f.c.members.hosts[peer]
	if h == nil {
		return f.c.dispatch.forecast.Stay(peer, now, d)
	}
	s := &h.stays
	if s.step != f.c.dispatch.deciding.step {
		s.step, s.n = f.c.dispatch.deciding.step, 0
	}
	for k := range min(s.n, remembered) {
		if a := &s.said[k]; a.d == d {
			return a.p, a.known
		}
	}
	a := &s.said[s.n%remembered]
	s.n++
	a.d = d
	a.p, a.known = f.c.dispatch.forecast.Stay(peer, now, d)
	return a.p, a.known
}
