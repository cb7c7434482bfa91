package scheduler

import (
	"bytes"
	"slices"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Where the results of a job with stages are checked, a worker signs which files of other tasks its run read. What
// those tasks come to may change: a result of theirs is found wrong, and another stands in its place. Then what was
// made of it runs again, and what was made of the same files stays. So a result counts, and its submitter hears of it,
// only while its worker's word is what the job says that the task reads. The submitter has the last word about
// results that it holds.

// readName names what a task reads of others, as a lease would; not ok where that is not known.
func readName(j *job, i uint64) (name []byte, ok bool) {
	r, ok := j.reads(i)
	return r.Name(), ok
}

// nameOfReads is readName where it counts what a task reads; else it is always known, and nothing.
func nameOfReads(j *job, i uint64) (name []byte, ok bool) {
	if !task.SignsReads(j.spec, i) {
		return nil, true
	}
	return readName(j, i)
}

// A readAs says whether a result was made of what its task reads.
type readAs uint8

const (
	readSame    readAs = iota // it was, or that is not asked
	readOther                 // of something else
	readUnknown               // it is not known yet what it reads
)

// readBy looks at what a worker says that its run read.
func readBy(j *job, r *task.Result) readAs {
	i := r.Task.Index
	if !task.SignsReads(j.spec, i) || r.Outcome != task.Completed && !r.Outcome.OwnFault() {
		return readSame
	}
	switch j.flow.Ready(i) {
	case ledger.Never:
		return readOther
	case ledger.Waits:
		return readUnknown
	}
	name, ok := readName(j, i)
	switch {
	case !ok:
		return readUnknown
	case !bytes.Equal(name, r.Reads):
		return readOther
	}
	j.same.Add(i)
	return readSame
}

// misread gives back an attempt whose result was made of other files than the task reads: they are others now, or
// its worker did not read what its lease says. Nobody can tell which, so nobody is named.
func (r *reports) misread(h *host, j *job, l *lease, e *message.Ending) {
	const why = "its worker read other files than those of the tasks before it"
	r.thank(h, e)
	r.c.members.pauseJob(h, j, r.c.cfg.RefusalPause, why)
	if l != nil {
		r.giveUp(l, "refused", why)
		return
	}
	r.waitAgain(j, e.Result.Task.Index)
}

// reread looks at what is here of a task again, all that it reads being there: it may read other files than before. A
// result that was made of others is void, a state is forgotten, and whoever runs the task on others is
// stopped. What its submitter holds is for that to say.
func (t *jobTable) reread(j *job, i uint64) {
	row := j.ledger.Rows[i]
	if !task.SignsReads(j.spec, i) || j.same.Contains(i) || j.theirs.Contains(i) || j.ledger.Delivered(i) ||
		row == nil && j.live[i] == nil || j.flow.Ready(i) != ledger.Ready {
		return
	}
	name, ok := readName(j, i)
	if !ok {
		return
	}
	dropOthers(t, j, i, name)
	if row == nil {
		return
	}
	changed := row.Best != nil && !task.MadeOf(j.spec, i, row.Best.Chain(), name)
	if changed {
		row.Best = nil
	}
	was := row.Verdict(j.ledger.Rule())
	if other := func(r task.Result) bool { return !bytes.Equal(r.Reads, name) }; was == ledger.Done &&
		slices.ContainsFunc(row.Agreed(), other) && row.Void() {
		t.c.decided(task.TaskID{Job: j.id, Index: i}, "void", "", "what it was made of is another now")
		t.c.concludeAnew(j, i, was)
		changed = true
	}
	was = row.Verdict(j.ledger.Rule())
	if row.VoidRuns(func(r *task.Result) bool { return !bytes.Equal(r.Reads, name) && failedBy(was, r) }) {
		if was == ledger.Failed {
			t.c.concludeAnew(j, i, was)
		}
		changed = true
	}
	if changed {
		t.persistRow(j, i)
	}
	if row.Verdict(j.ledger.Rule()) != ledger.Open {
		j.same.Add(i)
	}
}

// dropOthers ends the leases of a task that are known to be of other files.
func dropOthers(t *jobTable, j *job, i uint64, name []byte) {
	live := j.live[i]
	if live == nil {
		return
	}
	for _, l := range slices.Clone(live.leases) {
		if l.shown.reads != nil && !bytes.Equal(l.shown.reads, name) && l.is(leasing.Open) {
			t.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
			t.c.reports.giveUp(l, "superseded", "what it reads is another now")
		}
	}
}

// owns takes in of which tasks the submitter's word stands in place of results, of those that it holds, and returns
// those of which that is new.
func owns(j *job, ranges []message.Range) (news ledger.Set) {
	set, err := ledger.MakeSet(ranges)
	if err != nil {
		return nil
	}
	set = set.Minus(set.Minus(j.theirs))
	news, gone := set.Minus(j.own), j.own.Minus(set)
	j.own = set
	for _, changed := range []ledger.Set{news, gone} {
		for _, r := range changed {
			for i := r.From; i < r.To; i++ {
				delete(j.made, i)
			}
		}
	}
	news.Union(gone)
	return news
}

// holdBack takes those of the ended tasks that are not told yet out of ready of which it is not known whether they
// were made of what the tasks before them came to.
func holdBack(j *job) (held []uint64) {
	if j.flowing == nil || j.spec.Verify == nil {
		return nil
	}
	j.ready = slices.DeleteFunc(j.ready, func(i uint64) bool {
		if !task.SignsReads(j.spec, i) || j.same.Contains(i) {
			return false
		}
		held = append(held, i)
		return true
	})
	return held
}
