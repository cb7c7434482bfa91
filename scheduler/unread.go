package scheduler

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// unread are rows that a replica's leader told and nobody has opened here: they are on the disk
// as they came, and most are delivered, and forgotten, before anything here depends on what is in
// them. The copy holds a row here only where it has no other of the task; each is marked as
// unvetted, so it is read when its time has come, and before the copy is told, led with or answered
// from.
type unread struct {
	rows  map[task.JobID]map[uint64][]byte
	count int
	bytes int // of all values
}

// add keeps a row as it came. It reports false where there is another of the task.
func (u *unread) add(id task.TaskID, value []byte) bool {
	of := u.rows[id.Job]
	if of == nil {
		of = map[uint64][]byte{}
		u.rows[id.Job] = of
	}
	if of[id.Index] != nil {
		return false
	}
	of[id.Index] = value
	u.count++
	u.bytes += len(value)
	return true
}

// take returns the row of a task and has it no more; nil for none.
func (u *unread) take(id task.TaskID) []byte {
	of := u.rows[id.Job]
	value := of[id.Index]
	if value == nil {
		return nil
	}
	delete(of, id.Index)
	if len(of) == 0 {
		delete(u.rows, id.Job)
	}
	u.count--
	u.bytes -= len(value)
	return value
}

// has reports whether there is a row of a task.
func (u *unread) has(id task.TaskID) bool { return u.rows[id.Job][id.Index] != nil }

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
		r.refused(p.Key, id, err)
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

// whole returns the copy with everything read, for who asks outside a Step: the next gives out
// what follows.
func (r *Replica) whole() *ledger.Ledger {
	if r.unread.count > 0 {
		within := r.effects
		r.effects = r.before
		r.readAll()
		r.before, r.effects = r.effects, within
	}
	return r.ledger
}

// drop forgets rows of a job that nobody has read: of the tasks that which names.
func (r *Replica) drop(id task.JobID, which func(i uint64) bool) {
	var gone []uint64
	for i := range r.unread.rows[id] {
		if which(i) {
			gone = append(gone, i)
		}
	}
	slices.Sort(gone)
	for _, i := range gone {
		t := task.TaskID{Job: id, Index: i}
		r.unread.take(t)
		r.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(t)})
	}
}

// refused says that something that the leader told is not in the copy.
func (r *Replica) refused(key string, of task.TaskID, err error) {
	r.emit(message.Decided{Task: of, Action: "refused", Peer: r.leader,
		Reason: task.ClipMessage(fmt.Sprintf("copying %s: %v", key, err))})
}

// persistUnless makes a part of the copy durable, unless the same is durable already.
func (r *Replica) persistUnless(durable []byte, key string, v interface{ Encode() ([]byte, error) }) error {
	value, err := v.Encode()
	if err == nil && (durable == nil || !bytes.Equal(value, durable)) {
		r.emit(message.Persist{Key: coordinatorPrefix + key, Value: value})
	}
	return err
}
