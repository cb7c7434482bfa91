package scheduler

import (
	"slices"

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

// waits reports whether there is a row of a task.
func (u *unread) waits(id task.TaskID) bool { return u.rows[id.Job][id.Index] != nil }

// cut forgets rows of a job, of the tasks that which names, and returns these in order.
func (u *unread) cut(id task.JobID, which func(i uint64) bool) (gone []uint64) {
	for i := range u.rows[id] {
		if which(i) {
			gone = append(gone, i)
		}
	}
	slices.Sort(gone)
	for _, i := range gone {
		u.take(task.TaskID{Job: id, Index: i})
	}
	return gone
}
