package scheduler

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// vetAfter is how long a replica leaves what its leader told before it looks at the
	// signatures. Results of short tasks are delivered, and forgotten here, a round trip or two
	// after they came: looking at each took a third of the time of three nodes that do nothing
	// else (BenchmarkAccepted).
	vetAfter = 2 * time.Second
	// vetBatch is how many tasks are looked at in one Step: some milliseconds.
	vetBatch = 64
)

// unvetted are tasks of which a replica's leader told results whose signatures nobody has
// looked at here. Until then the copy is the leader's word. All of it is looked at before it
// is more: before this node leads, follows or tells another leader, or says to another member
// that it has it.
//
// Invariants: queue has an entry for each task that is marked, the first of it first; an entry
// of a task that is not marked has no meaning.
type unvetted struct {
	marked map[task.TaskID]bool
	// restored are those of which the disk has a row with states, which may not have been read
	// before this replica stopped: nobody has looked at the word for them either.
	restored map[task.TaskID]bool
	queue    []unvettedTask
	checked  task.Checked // of results and receipts alike
}

type unvettedTask struct {
	id task.TaskID
	at time.Time // when it was told
}

func (u *unvetted) mark(id task.TaskID, at time.Time) {
	if !u.marked[id] {
		u.marked[id] = true
		u.queue = append(u.queue, unvettedTask{id, at})
	}
}

// due returns when the first task is to be looked at.
func (u *unvetted) due() (time.Time, bool) {
	if len(u.queue) == 0 {
		return time.Time{}, false
	}
	return u.queue[0].at.Add(vetAfter), true
}

// postpone keeps a row unread, where the copy has no other of the task, and makes it durable. It
// reports whether it did.
func (r *Replica) postpone(id task.TaskID, j *ledger.Job, p message.Pair) bool {
	if len(p.Value) == 0 || len(p.Value) > ledger.MaxPairBytes || j.Rows[id.Index] != nil || !r.unread.add(id, p.Value) {
		return false
	}
	r.emit(message.Persist{Key: coordinatorPrefix + p.Key, Value: p.Value})
	r.unvetted.mark(id, r.now)
	return true
}

// read opens the row of a task that is unread, if it is, and merges it. What cannot be read is
// taken off the disk as well.
func (r *Replica) read(id task.TaskID) {
	value := r.unread.take(id)
	j := r.ledger.Jobs[id.Job]
	if value == nil || j == nil {
		return
	}
	p := message.Pair{Key: ledger.RowKey(id), Value: value}
	if err := r.mergeRow(id, j, p, value); err != nil {
		r.notTaken(p.Key, id, err)
	}
	if j.Rows[id.Index] == nil {
		r.emit(message.Persist{Key: coordinatorPrefix + p.Key})
	}
}

// readJob reads all of a job.
func (r *Replica) readJob(id task.JobID) {
	for _, i := range slices.Sorted(maps.Keys(r.unread.rows[id])) {
		r.read(task.TaskID{Job: id, Index: i})
	}
}

// readAll reads all there is.
func (r *Replica) readAll() {
	for _, id := range slices.Sorted(maps.Keys(r.unread.rows)) {
		r.readJob(id)
	}
}

// allRead returns the copy with everything read, for who asks outside a Step: the next gives out
// what follows.
func (r *Replica) allRead() *ledger.Ledger {
	if r.unread.count > 0 {
		within := r.effects
		r.effects = r.before
		r.readAll()
		r.before, r.effects = r.effects, within
	}
	return r.ledger
}

// vetDue looks at the tasks that have been left long enough, so many at once. Those that are
// delivered by now go at once: most do, so time alone seldom wakes a follower for this.
func (r *Replica) vetDue() {
	u := &r.unvetted
	for n := 0; n < vetBatch; {
		at, any := u.due()
		if !any {
			return
		}
		id := u.queue[0].id
		j := r.ledger.Jobs[id.Job]
		if unread := j != nil && r.unread.waits(id) && !j.Delivered(id.Index); !unread && r.unsettled(id) == nil {
			delete(u.marked, id)
			u.queue = u.queue[1:]
			continue
		}
		if at.After(r.now) {
			return
		}
		u.queue = u.queue[1:]
		r.vetTask(id)
		n++
	}
}

// unsettled returns the row of a task that is marked; nil for one that is not, or that was
// delivered or forgotten.
func (r *Replica) unsettled(id task.TaskID) *ledger.Row {
	j := r.ledger.Jobs[id.Job]
	if !r.unvetted.marked[id] || j == nil || j.Delivered(id.Index) {
		return nil
	}
	return j.Rows[id.Index]
}

// vetAll looks at all tasks.
func (r *Replica) vetAll() {
	for _, t := range r.unvetted.queue {
		r.vetTask(t.id)
	}
	r.unvetted.queue = nil
}

// vetJob looks at the tasks of a job.
func (r *Replica) vetJob(id task.JobID) {
	r.readJob(id)
	if j := r.ledger.Jobs[id]; j != nil && len(r.unvetted.marked) > 0 {
		for _, i := range slices.Sorted(maps.Keys(j.Rows)) {
			r.vetTask(task.TaskID{Job: id, Index: i})
		}
	}
}

// vetTask looks at the signatures in the row of a task, if it is marked, and takes out what
// does not verify.
func (r *Replica) vetTask(id task.TaskID) {
	r.read(id)
	row := r.unsettled(id)
	delete(r.unvetted.marked, id)
	restored := r.unvetted.restored[id]
	delete(r.unvetted.restored, id)
	if row == nil {
		return
	}
	if restored && r.cfg.Key != nil {
		row.Bad = slices.Clone(row.Bad)
		r.vet(id, row, nil)
	}
	j, why := r.ledger.Jobs[id.Job], error(nil)
	bad := func(res *task.Result) bool {
		err := verifyResult(res, j.Spec, r.cfg.Key != nil, &r.unvetted.checked)
		if why == nil {
			why = err
		}
		return err != nil
	}
	row.Results = slices.DeleteFunc(slices.Clone(row.Results), func(res task.Result) bool { return bad(&res) })
	row.Failures = slices.DeleteFunc(slices.Clone(row.Failures), func(f ledger.Failure) bool { return bad(&f.Result) })
	if why != nil {
		r.notTaken(ledger.RowKey(id), id, why)
	}
	if why != nil || restored {
		if err := r.persistUnless(nil, ledger.RowKey(id), row); err != nil {
			r.emit(message.Decided{Task: id, Action: "not kept", Reason: task.ClipMessage(err.Error())})
		}
	}
}
