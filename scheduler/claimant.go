package scheduler

import (
	"cmp"

	"godwit/scheduler/share"
)

// claims are the jobs with waiting tasks and who claims slots for them, in the order in which
// it is their turn.
type claims struct {
	c *Coordinator

	fair    fairness
	queue   turns[*claimant] // who has jobs with waiting tasks
	waits   int              // tasks of these
	byClass *classQueue      // see placeByClass; nil: jobs have their turns

	aging  bool   // a reminder to look at the age of jobs is set
	fallen []*job // that were served in this Step and had a raised priority
}

// A claimant is who slots are divided among, by the overlay's rule of fairness: a job,
// or an owner with all its jobs. One is there while any of its jobs has waiting tasks
// or holds a slot.
type claimant struct {
	id      string
	arrival uint64 // of the first of its jobs that came
	refs    int    // jobs that point to it
	of      *job   // one of them: where jobs are claimants, the one

	// held is how many leases use a slot, or wait at a worker for one, and at where; 0
	// is not kept.
	held int
	at   map[*site]int

	jobs  turns[*job] // with waiting tasks, the next first
	place int         // in claims.queue; -1 if not there
	// used is its account's, when it was last looked at: see recalling.go; 0 where nobody looks.
	used float64
	turn uint64 // when it last got slots, or came: see fairness.clock
	rank int    // in this round's fairness.who

	// said is what the last round said of it that it had something placed in (got), or
	// in which others were to have what there was; saying what this round says.
	said, saying share.Reason
	got, getting bool
}

// top is the job that is next; there must be one.
func (cl *claimant) top() *job { return cl.jobs.items[0] }

func (cl *claimant) priority() int { return cl.top().priority }

// weight is the claimant's beside others. Among owners all are alike, for each says
// himself what his jobs weigh: weights divide then what he gets.
func (cs *claims) weight(cl *claimant) float64 {
	if cs.fair.terms.PerOwner {
		return 1
	}
	return cl.of.parts()
}

// comesBefore orders claimants: by priority, then as the policy wants it, of equals who had
// slots for the shortest time where that is counted, then who got something longest ago, then
// by arrival. So a slot that falls free finds whose it is without a look at the others.
func (cs *claims) comesBefore(a, b *claimant) int {
	byShare, byTurn := 0, cmp.Compare(a.turn, b.turn)
	switch cs.fair.terms.First {
	case share.ByHoldings:
		byShare = cmp.Compare(a.held, b.held)
	case share.ByWeight:
		byShare = cmp.Compare(float64(a.held)/cs.weight(a), float64(b.held)/cs.weight(b))
	case share.ByArrival:
		byTurn = 0
	case share.ByDeadline, share.ByLeastWork, share.ByMostWork:
		byShare, byTurn = cs.fair.terms.First.Compare(a.top().sorting(), b.top().sorting()), 0
	}
	return cmp.Or(-cmp.Compare(a.priority(), b.priority()), byShare, cmp.Compare(a.used, b.used), byTurn,
		cmp.Compare(a.arrival, b.arrival))
}

// sorting returns the job's key for job sorting rules. The key never changes, because queues are
// kept in its order.
func (j *job) sorting() (s share.Sorting) {
	if at, ok := j.deadline(); ok {
		s.Due = at
	}
	s.Work = j.spec.Work.Seconds() * float64(j.total)
	return s
}

// fairer orders the jobs of one claimant by priority, by the job sorting rule if there is one, by
// the number of slots relative to the weight, and by arrival.
func (cs *claims) fairer(a, b *job) int {
	return cmp.Or(-cmp.Compare(a.priority, b.priority), cs.fair.terms.First.Compare(a.sorting(), b.sorting()),
		cmp.Compare(float64(a.held+a.given)/a.parts(), float64(b.held+b.given)/b.parts()), cmp.Compare(a.arrival, b.arrival))
}

// claimOf returns who claims slots for a job.
func (cs *claims) claimOf(j *job) *claimant {
	if j.claim != nil {
		return j.claim
	}
	id := string(j.id)
	if cs.fair.terms.PerOwner {
		id = string(j.submitter)
	}
	cl := cs.fair.claimants[id]
	if cl == nil {
		cs.fair.clock++
		cl = &claimant{id: id, arrival: j.arrival, at: map[*site]int{}, place: -1, turn: cs.fair.clock}
		cl.jobs = newTurns(cs.fairer, func(j *job) *int { return &j.place })
		cs.fair.claimants[id] = cl
		if cs.c.dispatch.recalling.applies() {
			cl.used = cs.c.table.accountOf(j.submitter).used
		}
	}
	cl.refs++
	cl.of, j.claim = j, cl
	return cl
}

// unclaim lets go of the claimant of a job that neither waits nor holds anything.
func (cs *claims) unclaim(j *job) {
	cl := j.claim
	if cl == nil || j.queued || j.held > 0 {
		return
	}
	j.claim = nil
	if cl.refs--; cl.refs == 0 {
		delete(cs.fair.claimants, cl.id)
	}
}

// holds counts slots that a job gets, or with less than 0 gives up, at a host.
func (cs *claims) holds(j *job, h *host, n int) {
	cl := cs.claimOf(j)
	if n < 0 && (j.room() == 0 || cs.c.table.slotsLeft(j) == 0) {
		cs.c.dispatch.widened = true // members that are idle have not been asked for its tasks, or for its submitter's
	}
	j.held += n
	cl.held += n
	s := h.counted.site
	if cl.at[s] += n; cl.at[s] == 0 {
		delete(cl.at, s)
	}
	if j.queued && j.place >= 0 {
		cl.jobs.fix(j.place)
	}
	cs.settleClaim(cl)
	cs.unclaim(j)
}

// settleClaim has the claimant where it belongs in the queue, or out of it.
func (cs *claims) settleClaim(cl *claimant) {
	switch waits := len(cl.jobs.items) > 0; {
	case cl.place < 0:
	case waits:
		cs.queue.fix(cl.place)
	default:
		cs.queue.remove(cl.place)
	}
}
