package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// Priorities are strict, so a job can starve below others. The parameter aging of the policy of fairness prevents that:
// the priority of a job rises by one for each such interval in which none of its tasks is placed, and falls back with
// the next placement. KOALA promotes a job to the next placement queue after a number of failed tries (Grundeken 2009,
// section 2.2.3). Time takes the place of tries here, because a leader tries whenever anything changes.

// agingLooks is the number of looks at all jobs in an aging interval. A priority rises late by up to one look.
const agingLooks = 8

// agingEvery returns the aging interval, 0 if jobs do not age. They do not where priorities are void.
func (cs *claims) agingEvery() time.Duration {
	if r := &cs.c.cfg.Rules; r.Open && !r.Priorities {
		return 0
	}
	return cs.fair.terms.Aging
}

// raised returns the number by which a job's priority is raised now.
func (cs *claims) raised(j *job) int {
	every := cs.agingEvery()
	if every <= 0 || !j.queued || j.unserved.IsZero() {
		return 0
	}
	return int(min(cs.c.now.Sub(j.unserved)/every, 2*task.MaxPriority))
}

// served notes that a task of a job was placed. The priority falls back at the end of the placements: see settleAged.
func (cs *claims) served(j *job) {
	j.unserved = cs.c.now
	if j.priority != cs.priorityOf(j) {
		cs.fallen = append(cs.fallen, j)
	}
}

// settleAged lowers the priorities of jobs that were served in this Step.
func (cs *claims) settleAged() {
	for _, j := range cs.fallen {
		cs.rank(j)
	}
	clear(cs.fallen)
	cs.fallen = cs.fallen[:0]
}

// age raises the priorities of jobs that wait. A job that is held up for another reason does not age.
func (cs *claims) age() {
	cs.aging = false
	for _, id := range slices.Sorted(maps.Keys(cs.c.table.jobs)) {
		j := cs.c.table.jobs[id]
		if !j.queued {
			continue
		}
		if j.room() == 0 || cs.c.table.heldUp(j) != "" {
			j.unserved = cs.c.now
		}
		cs.rank(j)
	}
}

// armAging arranges the next look while jobs wait.
func (cs *claims) armAging() {
	every := cs.agingEvery()
	if every <= 0 || cs.aging || cs.queue.len() == 0 {
		return
	}
	cs.aging = true
	cs.c.timers.Set(cs.c.now.Add(every/agingLooks), reminder{aging: true})
}

// whyAged returns what aging changed about a job's priority, "" if nothing.
func (cs *claims) whyAged(j *job) string {
	own := cs.ownPriority(j)
	if j.priority <= own {
		return ""
	}
	return fmt.Sprintf("none of its tasks was placed for %v, so its priority has risen from %d to %d",
		cs.c.now.Sub(j.unserved).Round(time.Second), own, j.priority)
}
