package scheduler

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
)

// Slots that are taken back. In an open overlay nobody can tell whether a task will ever
// end, so that whoever hands long ones in first would have all slots for good. While
// somebody waits the leader looks who has how many. A submitter that has had less than its
// share for a while gets a slot of one that has more; where there are more submitters than
// slots, those that wait with none take turns with those that have one. A task that gives
// its slot back is saved where that can be done, and goes on at its next turn.
//
// Shares are equal parts of all slots, by submitters; what one does not want others have.
// They are met when nobody lacks a whole slot: nothing is taken back then.

const (
	// lookEvery is how often it is looked who has what, while somebody waits. Few tasks are
	// so short that all of theirs fall between two looks.
	lookEvery = 5 * time.Second
	// recallAfter is how long a submitter has less than its share before slots are taken back
	// for it: most tasks end by themselves in that time, and a state is saved in less.
	recallAfter = 30 * time.Second
	// recallPart bounds how much is under way at once: a sixteenth of all slots, and one.
	recallPart = 16
	// maxLonger is how often a job's tasks that cannot be saved are stopped before others
	// have to wait no longer for one: 16 minutes, by doubling. So what takes as long comes to
	// its end some day, however many wait.
	maxLonger = 5
	// restedAfter is how long a submitter wants nothing before what it had is forgotten.
	restedAfter = time.Minute
)

// A recalling looks who has what, and takes slots back.
type recalling struct {
	d      *dispatch
	set    bool      // a reminder to look is set
	looked time.Time // last, or when somebody began to wait
	wants  []want
	index  map[*claimant]int // of wants
	under  []recalled        // those on their way back
}

// A recalled is a lease that is being saved to give its slot back for somebody.
type recalled struct {
	lease *lease
	by    *account
}

// A want is what a claimant has and lacks.
type want struct {
	claimant *claimant
	account  *account
	running  int
	demand   int      // tasks that it would run, running ones included
	due      float64  // its share of the slots, as far as it wants that
	job      *job     // of it, that waits for a slot; nil for none
	leases   []*lease // that run
	sorted   bool     // leases are, the newest first
}

// lacks is how many slots a claimant should have besides those that it has.
func (w *want) lacks() int {
	switch {
	case w.job == nil:
		return 0
	case w.running == 0:
		return max(1, int(w.due))
	}
	return max(0, int(w.due)-w.running)
}

// applies reports whether slots are taken back under these rules: not where priorities or
// other policies say what nobody's share is.
func (r *recalling) applies() bool {
	rules, terms := &r.d.c.cfg.Rules, r.d.c.claims.fair.terms
	return rules.Open && !rules.Priorities && terms.Levels && !terms.Guarded
}

// arm has it looked again while somebody waits.
func (r *recalling) arm() {
	c := r.d.c
	if r.set || !r.applies() || c.claims.queue.len() == 0 && len(c.members.backlog) == 0 {
		return
	}
	r.set = true
	if c.now.Sub(r.looked) > lookEvery {
		r.looked = c.now
	}
	c.timers.Set(c.now.Add(lookEvery), reminder{shares: true})
}

// look charges what was had since the last look, and takes back what somebody lacks.
func (r *recalling) look() {
	before := r.looked
	r.set, r.looked = false, r.d.c.now
	if !r.applies() || r.d.c.term.recovering {
		return
	}
	r.list()
	r.charge(before)
	slots := r.d.c.claims.fair.all.slots
	left := r.level(float64(slots), true)
	r.level(left, false)
	r.noteShort(before)
	r.takeBack(max(1, slots/recallPart))
}

// contended reports whether submitters stand in each other's way.
func (r *recalling) contended() bool { return r.applies() && len(r.d.c.claims.fair.claimants) > 1 }

// unsure reports whether a task of the job may take long, as far as is measured: what its
// submitter says of it does not count.
func (r *recalling) unsure(j *job) bool { return !j.measured || j.mean > lookEvery }

// holdsUp reports whether a host is given no tasks ahead of its slots: where submitters are in
// each other's way nobody's waits behind one that may take long.
func (r *recalling) holdsUp(j *job, h *host) bool { return r.contended() && (r.unsure(j) || r.long(h)) }

// long reports whether a host has a task that may take long, or does.
func (r *recalling) long(h *host) bool {
	return slices.ContainsFunc(h.leases, func(l *lease) bool {
		return r.unsure(l.job) || r.d.c.now.Sub(l.start) > 2*lookEvery
	})
}

// list notes what each claimant has. Only the tasks that a host runs at once count: those
// ahead of its slots wait. Those that wait behind long ones are asked back.
func (r *recalling) list() {
	c := r.d.c
	if r.index == nil {
		r.index = map[*claimant]int{}
	}
	clear(r.index)
	clear(r.wants)
	r.wants = r.wants[:0]
	slots := c.claims.fair.all.slots
	for _, id := range slices.Sorted(maps.Keys(c.claims.fair.claimants)) {
		w := want{claimant: c.claims.fair.claimants[id]}
		w.account = c.table.accountOf(w.claimant.of.submitter)
		for _, j := range w.claimant.jobs.items {
			if j.room() == 0 || c.table.heldUp(j) != "" {
				continue
			}
			if w.demand = min(slots, w.demand+j.startable()); w.job == nil {
				w.job = j
			}
		}
		r.index[w.claimant] = len(r.wants)
		r.wants = append(r.wants, w)
	}
	for _, h := range c.members.roster.all() {
		running, long := 0, r.contended() && r.long(h)
		for _, l := range h.leases {
			if !l.is(leasing.Open) {
				continue
			}
			w := &r.wants[r.index[l.job.claim]]
			w.demand++
			if running++; running > h.slots {
				w.job = cmp.Or(w.job, l.job)
				if long && l.is(leasing.Recallable) && l.start.Before(c.now) {
					l.take(leasing.AsksBack)
					c.outbox.drop(h.peer, l.taskID(), l.attempt, message.DropRecall)
				}
				continue
			}
			w.running++
			w.leases = append(w.leases, l)
		}
	}
}

// charge counts to each submitter the time for which it had slots. One that comes, or comes
// back, begins with what he had who is there and had least: so nobody saves up turns, and of those
// alike it is his turn who waits longest.
func (r *recalling) charge(before time.Time) {
	now := r.d.c.now
	least := math.Inf(1)
	for k := range r.wants {
		if a := r.wants[k].account; now.Sub(a.seen) <= restedAfter {
			least = min(least, a.used)
		}
	}
	took := min(now.Sub(before), lookEvery).Seconds()
	for k := range r.wants {
		w := &r.wants[k]
		a := w.account
		rested := now.Sub(a.seen)
		if rested > restedAfter && !math.IsInf(least, 1) {
			a.used = max(a.used, least)
		}
		if rested > 2*lookEvery {
			a.short = time.Time{}
		}
		a.seen, a.used = now, a.used+took*float64(w.running)
		if w.claimant.used = a.used; w.claimant.place >= 0 {
			r.d.c.claims.queue.fix(w.claimant.place)
		}
	}
}

// level divides slots among submitters that have spoken, or among the others, until all
// have what they want or the same, and returns how many are left.
func (r *recalling) level(slots float64, heard bool) float64 {
	var who []int
	for k := range r.wants {
		if r.wants[k].account.heard == heard {
			who = append(who, k)
		}
	}
	slices.SortStableFunc(who, func(a, b int) int { return cmp.Compare(r.wants[a].demand, r.wants[b].demand) })
	for n, k := range who {
		w := &r.wants[k]
		w.due = min(float64(w.demand), slots/float64(len(who)-n))
		slots -= w.due
	}
	return slots
}

// noteShort notes since when who lacks slots.
func (r *recalling) noteShort(before time.Time) {
	for k := range r.wants {
		switch w := &r.wants[k]; {
		case !w.account.heard || w.lacks() == 0:
			w.account.short = time.Time{}
		case w.account.short.IsZero():
			w.account.short = before
		}
	}
}
