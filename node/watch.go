package node

import (
	"cmp"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// A watcher is told that a job's status is worth reading again.
type watcher struct {
	C    chan struct{} // has at most one token: changes since the last read are one
	Over chan struct{} // closed when the job's status has become final since Watch
	job  task.JobID
	d    *driver
	over bool // Over is closed; of the loop
}

// Watch returns a watcher of one job. Close it.
func (d *driver) Watch(id task.JobID) *watcher {
	w := &watcher{C: make(chan struct{}, 1), Over: make(chan struct{}), job: id, d: d}
	d.post(post{call: func() { d.watchers.all[w] = true }})
	return w
}

// Close ends the watching.
func (w *watcher) Close() {
	w.d.post(post{call: func() { delete(w.d.watchers.all, w) }})
}

// watchers are those that there are, and what they are still to be told. The loop owns
// them.
type watchers struct {
	all     map[*watcher]bool
	changed map[task.JobID]bool // since they were last told; true of one that is over
}

// notify tells of the jobs that have changed, after the effects that changed them.
func (ws *watchers) notify() {
	if len(ws.changed) == 0 {
		return
	}
	for w := range ws.all {
		over, changed := ws.changed[w.job]
		if !changed {
			continue
		}
		select {
		case w.C <- struct{}{}:
		default:
		}
		if over && !w.over {
			w.over = true
			close(w.Over)
		}
	}
	clear(ws.changed)
}

// ofOwn is what the coordinator says of a job of this node, with what nobody knows better than
// the node itself: what it holds of it, and whether it is over.
func ofOwn(led, own message.JobStatus) message.JobStatus {
	led.Held, led.Reason, led.Final, led.Failures = own.Held, own.Reason, own.Final, own.Failures
	if !message.FinalState(own.State) && message.FinalState(led.State) {
		led.State = own.State
	}
	if led.Removed = own.Removed; own.Removed > 0 { // the coordinator counts what it knows no end of as done
		c := &led.Tasks
		n := min(c.Done, own.Removed)
		c.Done, c.Failed = c.Done-n, c.Failed+n
	}
	led.Stages, led.Adds, led.Added, led.Trials = own.Stages, own.Adds, own.Added, own.Trials
	if led.Taken = own.Taken; len(own.Taken) > 0 { // of which the leader hears at the end
		c := &led.Tasks
		c.Done, c.Failed = max(c.Done, own.Tasks.Done), max(c.Failed, own.Tasks.Failed)
		c.Waiting = c.Total - min(c.Total, c.Done+c.Failed+c.Running)
	}
	return ofLoans(led, own.Loans)
}

// ofLoans is what a coordinator says of a job, to which tasks that other cells have are held.
func ofLoans(led message.JobStatus, loans []message.LoanStatus) message.JobStatus {
	led.Loans = loans
	for i := range loans {
		n := min(loans[i].Tasks, led.Tasks.Done)
		runs := min(loans[i].Running, n)
		led.Tasks.Done -= n
		led.Tasks.Running += runs
		led.Tasks.Waiting += n - runs
	}
	if led.State == message.JobDone && led.Tasks.Done < led.Tasks.Total {
		led.State = message.JobRunning
	}
	return led
}

// mergeJobs joins what the coordinator and this node know, newest first. Of a
// job that both know the coordinator's word holds unless this node has
// everything already.
func mergeJobs(led, own []message.JobStatus) []message.JobStatus {
	byID := map[task.JobID]message.JobStatus{}
	for _, j := range led {
		byID[j.ID] = j
	}
	for _, j := range own {
		if l, known := byID[j.ID]; known && !j.Final {
			j = ofOwn(l, j)
		}
		byID[j.ID] = j
	}
	out := make([]message.JobStatus, 0, len(byID))
	for _, j := range byID {
		out = append(out, j)
	}
	slices.SortFunc(out, func(a, b message.JobStatus) int {
		return cmp.Or(b.Submitted.Compare(a.Submitted), cmp.Compare(a.ID, b.ID))
	})
	return out
}
