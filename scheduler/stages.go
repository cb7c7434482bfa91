package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Of a job with stages a task is released when all that it reads is there, task by task. What its lease
// names is made from the rows of those tasks: the submitter says that it holds one of them only when all
// that comes of it is held, so that their rows are here, and at followers, for as long as they are read.

// A flowing job is one with stages.
type flowing struct {
	flow  *ledger.Flow
	takes []times // by stage
	// theirs are tasks that the submitter holds, and others read: their outputs need not be kept here, and
	// they are not brought again. In kept are those of them of which an end is here.
	theirs ledger.Set
	kept   []uint64
	// made is what the submitter told of tasks of theirs, and untold are those of which nothing is known: see made.go.
	made   map[uint64]message.MadeTask
	untold ledger.Set
	// own are those of theirs of which the submitter's word stands in place of all results here.
	own ledger.Set
	// same are tasks whose results were made of what those that they read came to: see readings.go.
	same ledger.Set
}

// flows makes what is kept of a job with stages; nil of one without.
func flows(spec *task.Job) *flowing {
	if len(spec.Stages) == 0 {
		return nil
	}
	return &flowing{flow: ledger.NewFlow(spec), takes: make([]times, len(spec.Stages)),
		made: map[uint64]message.MadeTask{}}
}

// ready reports whether a task may run.
func (j *job) mayRun(i uint64) bool {
	return j.flowing == nil || j.flow.Ready(i) == ledger.Ready
}

// comesTo is what a task has come to: also by its submitter's word, and failed, too, if that holds that it
// never runs.
func (j *job) comesTo(i uint64) ledger.Verdict {
	v := j.ledger.Verdict(i)
	if v != ledger.Open && !j.own.Contains(i) || !j.theirs.Contains(i) {
		return v
	}
	switch made, told := j.made[i]; {
	case told && !made.Failed:
		return ledger.Done
	case told, j.flow.Ready(i) == ledger.Never:
		return ledger.Failed
	}
	return ledger.Open
}

// settle takes in what a task has come to, and releases those that waited for that.
func (t *jobTable) settle(j *job, i uint64) {
	if j.flowing == nil {
		return
	}
	t.reread(j, i) // it may have come with another copy of the ledger
	v := j.comesTo(i)
	if v != ledger.Open && j.untold.Contains(i) {
		j.untold = j.untold.Minus(ledger.Set{{From: i, To: i + 1}})
	}
	for _, r := range j.flow.Set(i, v) {
		ready := j.flow.Of(r)
		if ready == ledger.Waits {
			j.same = j.same.Minus(ledger.Set{{From: r.From, To: r.To}})
		}
		for d := r.From; d < r.To && ready != ledger.Waits; d++ {
			if ready == ledger.Ready {
				t.reread(j, d)
				t.release(j, d)
			} else if j.theirs.Contains(d) {
				t.settle(j, d)
			}
		}
	}
}

// release has a task wait for a worker, if it may run.
func (t *jobTable) release(j *job, i uint64) {
	if j.wants(i) == 0 || j.wait.queued[i] {
		return
	}
	if j.isTouched(i) {
		t.c.reports.waitAgain(j, i)
		return
	}
	j.wait.queued[i] = true
	byIndex.Push(&j.wait.released, i)
	if j.state == jobOpen {
		t.c.claims.enqueue(j)
		t.c.claims.sumUp(j)
		t.c.dispatch.widened = true
	}
}

// settleAll is settle of all tasks of a set.
func (t *jobTable) settleAll(j *job, set ledger.Set) {
	if j.flowing == nil {
		return
	}
	for _, r := range set {
		for i := r.From; i < r.To; i++ {
			t.settle(j, i)
		}
	}
}

// settleAnew counts a job's ends from the beginning.
func (t *jobTable) settleAnew(j *job) {
	if j.flowing == nil {
		return
	}
	j.flow, j.same = ledger.NewFlow(j.spec), nil
	t.settleAll(j, j.ledger.Facts.Held())
	t.settleAll(j, j.theirs)
	for _, i := range slices.Sorted(maps.Keys(j.ledger.Rows)) {
		t.settle(j, i)
	}
}

// skipped returns which of some tasks, in growing order, that the submitter came to hold never ran: some of
// what they read failed.
func (j *job) skipped(news ledger.Set) ledger.Set {
	var out ledger.Set
	if j.flowing == nil {
		return nil
	}
	for _, r := range news {
		for i := r.From; i < r.To; i++ {
			if j.ledger.Verdict(i) != ledger.Open {
				continue
			}
			if j.made[i].Failed || j.flow.Ready(i) == ledger.Never {
				out.Add(i)
				j.flow.Set(i, ledger.Failed)
			}
			delete(j.made, i)
		}
	}
	return out
}

// takes takes in which tasks the submitter holds that others still read.
func (t *jobTable) takes(j *job, taken, own []message.Range) {
	set, err := ledger.MakeSet(taken)
	if j.flowing == nil || err != nil || len(set) > 0 && set[len(set)-1].To > j.total {
		return
	}
	news, gone := set.Minus(j.theirs), j.theirs.Minus(set).Minus(j.ledger.Facts.Held())
	j.theirs = set
	news.Union(owns(j, own))
	takesUp(t, j, news)
	t.settleAll(j, news)
	takesBack(t, j, gone)
	take := func(i uint64) bool {
		if !set.Contains(i) || j.ledger.Delivered(i) || j.ledger.Verdict(i) == ledger.Open {
			return false
		}
		t.unweigh(j, i)
		t.c.replicas.ForgetHold(message.HoldName{Task: task.TaskID{Job: j.id, Index: i}, Kind: message.HoldOutputs})
		j.kept = append(j.kept, i)
		return true
	}
	if len(set) > 0 {
		j.sent, j.ready = slices.DeleteFunc(j.sent, take), slices.DeleteFunc(j.ready, take)
	}
}

// keptTasks are those of which the submitter holds an end that is here.
func (j *job) keptTasks() []uint64 {
	if j.flowing == nil {
		return nil
	}
	return j.kept
}

// reads returns what a task reads of others, as its lease names it; nil where it reads nothing, and not ok
// where the ledger does not have it.
func (j *job) reads(i uint64) (r *message.Reads, ok bool) {
	if j.flowing == nil || i < j.spec.Roots() {
		return nil, true
	}
	var all reading
	for n, members := range j.spec.Needed(i) {
		if len(n.Reads) == 0 {
			continue
		}
		for u := range members.All() {
			if j.comesTo(u) == ledger.Failed {
				continue
			}
			outputs, by, ok := j.outputsOf(u, i)
			if !ok {
				return nil, false
			}
			for _, f := range j.spec.FilesOf(n, u, outputs) {
				all = append(all, madeFile{f, by})
			}
		}
	}
	return all.reads(), true
}

// reading is what a task reads, each file with who made it.
type reading []madeFile

type madeFile struct {
	file task.Output
	by   task.PeerID
}

// reads makes of it what a lease says.
func (all reading) reads() *message.Reads {
	if n := len(all); n > task.MaxReads {
		return message.TooManyReads(n)
	}
	slices.SortFunc(all, func(a, b madeFile) int { return cmp.Compare(a.file.Name, b.file.Name) })
	r := new(message.Reads)
	at := map[task.PeerID]uint16{}
	for _, f := range all {
		k, known := at[f.by]
		if !known && len(r.Sources) < message.MaxSources {
			k = uint16(len(r.Sources))
			r.Sources = append(r.Sources, f.by)
			at[f.by], known = k, true
		}
		if !known {
			k = message.MaxSources
		}
		r.Files, r.Makers = append(r.Files, f.file), append(r.Makers, k)
	}
	return r
}

// whyHeldBack says what a task waits for of its job; "" if for nothing.
func (j *job) whyHeldBack(i uint64) string {
	if j.flowing == nil {
		return ""
	}
	switch j.flow.Ready(i) {
	case ledger.Never:
		if u, ok := j.flow.Failure(i); ok {
			return fmt.Sprintf("it never runs: it needs task %d, %s, which failed; its submitter has not said so yet", u,
				j.spec.TaskName(u))
		}
	case ledger.Waits:
		n, first := j.flow.Missing(i)
		if n == 1 {
			return fmt.Sprintf("it waits for task %d, %s", first, j.spec.TaskName(first))
		}
		return fmt.Sprintf("it waits for %d tasks: the first is %d, %s", n, first, j.spec.TaskName(first))
	}
	return ""
}
