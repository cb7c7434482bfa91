package replication

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// LeaseChanged has followers told who runs a task: at once where its job's tasks take so
// long that it is worth it, or nobody knows, else at the next tick. What they do not know of
// when the leader dies may be given twice.
func (r *Replicas) LeaseChanged(id task.TaskID, takes time.Duration, known bool) {
	if len(r.followers) == 0 {
		return
	}
	r.leased[id] = true
	if !known || takes >= longTask {
		r.urgent = true
	}
}

// Delivered has followers told at the next tick that a submitter has got results of a job.
func (r *Replicas) Delivered(id task.JobID) {
	if len(r.followers) > 0 {
		r.owed[id] = true
	}
}

// ShareUrgent shares what is not to wait for the tick.
func (r *Replicas) ShareUrgent() {
	if r.urgent {
		r.urgent = false
		r.shareLeases()
	}
}

// shareLeases tells of the leases that were given since the last tick and are
// still live, and of those told of that are not.
func (r *Replicas) shareLeases() {
	if len(r.leased) == 0 {
		return
	}
	for _, id := range message.SortedTasks(r.leased) {
		runs := len(r.book.Live(id)) > 0
		if !runs && !r.shared[id] {
			continue
		}
		r.Changed(Key{id.Job, id.Index, live})
		if runs {
			r.shared[id] = true
		} else {
			delete(r.shared, id)
		}
	}
	clear(r.leased)
}

// shareDelivered tells what submitters have got since the last tick. It may wait:
// whoever takes over meanwhile hears it from them.
func (r *Replicas) shareDelivered() {
	if len(r.owed) == 0 {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(r.owed)) {
		r.Changed(Key{Job: id, Kind: Facts})
	}
	clear(r.owed)
}

// Leases counts the tasks of whose leases followers were told, and those whose leases have
// changed since.
func (r *Replicas) Leases() (told, changed int) { return len(r.shared), len(r.leased) }
