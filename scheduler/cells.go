package scheduler

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// What a leader says of its cell, and what it does when its cell was half of another.

// A Load is what the members of a coordinator lend, and what waits for them.
type Load struct {
	Members int // those that may be given tasks
	Slots   int // of these
	Idle    int // of the slots, those without a task
	Waiting int // tasks that wait and may be placed
}

// LoadOf tells how much the members of a coordinator have to do.
func LoadOf(c *Coordinator) (l Load) {
	for _, h := range c.members.roster.all() {
		if h.there {
			l.Members++
			l.Slots += h.slots
			l.Idle += max(0, h.slots-h.load)
		}
	}
	for _, j := range c.table.jobs {
		if j.state == jobOpen && !j.divided {
			l.Waiting += int(j.total - min(j.total, j.done+j.failed+uint64(len(j.live))))
		}
	}
	return l
}

// Submitters returns the peers that have a job at a coordinator which is not over.
func Submitters(c *Coordinator) map[task.PeerID]bool {
	out := map[task.PeerID]bool{}
	for _, j := range c.table.jobs {
		if j.state != jobOver {
			out[j.submitter] = true
		}
	}
	return out
}

// Divided says that a coordinator leads a half of a cell, or a cell whose half has gone:
// of jobs whose submitters are elsewhere it places nothing until they say what they want.
// What runs goes on, and its results are brought. The submitters' own cells have the jobs;
// without this each half would run all of them.
func Divided(c *Coordinator, elsewhere func(submitter task.PeerID) bool) {
	for _, id := range slices.Sorted(maps.Keys(c.table.jobs)) {
		j := c.table.jobs[id]
		if j.state == jobOpen && elsewhere(j.submitter) {
			j.divided, j.asked, j.credit = true, true, true // it hears that this cell has the job
			c.claims.dequeue(j)
			c.touch(j)
			c.timers.Set(c.now.Add(dividedEvery), reminder{divided: j.id})
		}
	}
}

// dividedEvery is how often a leader says again what it runs of a job whose submitter is in another cell:
// that one may not know yet that anybody leads here.
const dividedEvery = 10 * time.Second

// tellDivided says again what runs of such a job, until its submitter has spoken or nothing does.
func (t *jobTable) tellDivided(j *job) {
	if j == nil || j.state != jobOpen || !j.divided {
		return
	}
	j.sent, j.ready = nil, append(j.sent, j.ready...) // who knew no leader here did not hear it
	j.asked, j.credit = true, true
	t.c.touch(j)
	t.c.timers.Set(t.c.now.Add(dividedEvery), reminder{divided: j.id})
}

// runs lists the tasks of a job that have a lease.
func (j *job) runs() (out ledger.Set) {
	for _, i := range slices.Sorted(maps.Keys(j.live)) {
		if out.Add(i); len(out) > message.MaxRuns {
			return out[:message.MaxRuns]
		}
	}
	return out
}

// wanted says that the submitter of a job has offered it to this cell: with that it says
// what it wants here. That it holds some results says nothing of the others.
func (t *jobTable) wanted(j *job) {
	if j.divided {
		j.divided = false
		t.c.claims.enqueue(j)
		t.c.dispatch.widened = true
	}
}
