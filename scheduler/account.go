package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// In an open overlay anybody may be a member, and hand jobs in, under as many keys as he
// likes. What a submitter says of himself counts for nothing there: slots are divided among
// submitters, whatever the policy that divides them, priorities are void unless the rules
// let them count, and a submitter that is known by the word of others alone comes after
// those that have spoken.

// An account is what a submitter has here. There is one for each that has a job in the table.
type account struct {
	jobs map[task.JobID]*job // in the table, over or not
	own  pile
	// heard says that the submitter itself has spoken to this leader.
	heard bool

	// used is for how long it has had slots, in seconds, counted while somebody waited; seen
	// is when it was last looked at, and short since when it has less than its share; zero
	// for one that has it. See recalling.go.
	used        float64
	seen, short time.Time
}

// bookJob has a job count as its submitter's, in place of one of the same record.
func (t *jobTable) bookJob(j *job) {
	a := t.accountOf(j.submitter)
	if a.jobs[j.id] == nil {
		size := recordBytes(&j.ledger.Record)
		a.own.add(1, size)
		t.pileOf(a).add(1, size)
	}
	a.jobs[j.id] = j
}

// lastPriority is below each that a job can ask for: that of a submitter that was not heard.
const lastPriority = -task.MaxPriority - 1

// accountOf returns a submitter's account, made if there is none.
func (t *jobTable) accountOf(submitter task.PeerID) *account {
	a := t.accounts[submitter]
	if a == nil {
		a = &account{jobs: map[task.JobID]*job{}}
		t.accounts[submitter] = a
	}
	return a
}

// forgetJob takes a job out of the table.
func (t *jobTable) forgetJob(j *job) {
	delete(t.jobs, j.id)
	a, size := t.accounts[j.submitter], recordBytes(&j.ledger.Record)
	a.own.add(-1, -size)
	t.pileOf(a).add(-1, -size)
	if delete(a.jobs, j.id); len(a.jobs) == 0 {
		delete(t.accounts, j.submitter)
	}
}

// heardFrom notes that the submitter of a job has spoken: from then on all its jobs have
// their turns as others' have.
func (t *jobTable) heardFrom(j *job) {
	a := t.accountOf(j.submitter)
	if a.heard {
		return
	}
	t.told.add(-a.own.jobs, -a.own.bytes)
	t.heard.add(a.own.jobs, a.own.bytes)
	a.heard = true
	for _, id := range slices.Sorted(maps.Keys(a.jobs)) {
		t.c.claims.rank(a.jobs[id])
	}
}

// priorityOf returns the priority of a job that counts now: its own, raised by aging.
func (cs *claims) priorityOf(j *job) int {
	own := cs.ownPriority(j)
	if own == lastPriority {
		return own
	}
	return min(own+cs.raised(j), max(own, task.MaxPriority))
}

// ownPriority returns the priority of a job under the overlay's rules.
func (cs *claims) ownPriority(j *job) int {
	r := &cs.c.cfg.Rules
	switch {
	case !r.Open:
		return j.spec.Priority
	case !cs.c.table.accountOf(j.submitter).heard:
		return lastPriority
	case r.Priorities:
		return j.spec.Priority
	}
	return 0
}

// rank has a job stand where its priority puts it now.
func (cs *claims) rank(j *job) {
	p := cs.priorityOf(j)
	if p == j.priority {
		return
	}
	if j.queued {
		cs.byClass.remove(j)
	}
	waits := j.place >= 0
	if waits {
		cs.rests(j)
	}
	j.priority = p
	if waits {
		cs.joins(j)
	}
	if j.queued {
		cs.byClass.add(j)
	}
	cs.c.dispatch.widened = true
}

// rankAll does so for all jobs, when the rules have changed.
func (cs *claims) rankAll() {
	for _, id := range slices.Sorted(maps.Keys(cs.c.table.jobs)) {
		cs.rank(cs.c.table.jobs[id])
	}
}

// unheeded says what of a job's wishes does not count, or "".
func (cs *claims) unheeded(j *job) string {
	own := cs.ownPriority(j)
	switch r := &cs.c.cfg.Rules; {
	case !r.Open:
	case own == lastPriority:
		return "this leader knows the job by the word of others alone: jobs of submitters that it has heard go first"
	case own != j.spec.Priority:
		return fmt.Sprintf("its priority of %d does not count: the overlay is open to everybody, so all jobs are equal "+
			"unless its rules say priorities: true", j.spec.Priority)
	}
	return ""
}

// fairnessOf returns what slots are divided by under those rules.
func fairnessOf(r *Rules) fairness {
	f := newFairness(r.Fairness)
	f.terms.PerOwner = f.terms.PerOwner || r.Open
	return f
}
