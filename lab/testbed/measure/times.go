// Package measure tells of a run of nodes when its tasks waited and ran, by class and server, and exports that as
// files.
package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Run describes a run of real nodes that is measured as a test-bed of schedulers
// is (Kokaly 2008, sections 5.1.4 and B.3): what came, who was there, and what was
// to be expected. Instants are of this machine's clock, which all nodes share.
type Run struct {
	Policy string
	Seed   uint64
	// From and Until bound what is measured: tasks that were submitted before From
	// are left out, and what ends after Until has not ended.
	From, Until time.Time
	// Scale is how many seconds of the scenario a real one is; above 0. All figures
	// are told in the scenario's time.
	Scale float64
	// Unit is the time that rates are of, in the scenario's time; zero: a second.
	Unit    time.Duration
	Classes []Class
	Servers []Server
	Jobs    []Job
	// Faults are what went wrong beside the scenario, in any order.
	Faults []Fault
}

// A Class is a class of tasks.
type Class struct {
	Name    string
	Arrival float64 // tasks in a Unit that were to come; 0: not known
	Work    float64 // mean of a task, in seconds of the reference core in the scenario's time; 0: not known
}

// A Server is a node that runs tasks.
type Server struct {
	Name string
	Peer task.PeerID
	// Rates are the tasks of each of the run's classes that it was made to do in a
	// Unit; nil: none were imposed.
	Rates []float64
	// Availability is the part of its CPU that tasks were to have, above 0 and at
	// most 1; zero: all.
	Availability float64
	// Up are the times that it was there, in order; nil: always.
	Up []Span
}

// An Span is a real time. A zero To is that of the run's Until.
type Span struct{ From, To time.Time }

// A Job is one arrival, and what became of it.
type Job struct {
	Class  string
	Work   time.Duration // of a task, on the reference core, in the scenario's time
	Status message.JobStatus
}

// A Fault is something that went wrong: a message, a file, a process.
type Fault struct {
	At   time.Time
	What string
}

// A TaskTimes is one task, and the four instants that its times are between
// (Kokaly 2008, requirements R4 to R6):
//
//   - Submitted: its job was handed to a node.
//   - Sent: the leader gave the lease that counted. If it moved with its state, that
//     is the first of the leases that led to the last one.
//   - Started: the worker began that attempt, as message.AttemptStatus.Began has it.
//   - Done: the leader had its result. The way back is part of the execution.
//
// Of a task that has not ended Done is zero; of one that waits, Sent and Started too.
// Started is zero as well where no worker's word of the attempt is left.
// Submitted <= Sent <= Started <= Done, of those that are known.
type TaskTimes struct {
	Job    task.JobID
	Name   string // of the job
	Task   uint64
	Class  string
	Work   time.Duration // in the scenario's time; 0: not known
	Server task.PeerID   // of the attempt that ended it, else of the newest; "" while it was never sent
	State  string        // TaskDone, TaskFailed, TaskRunning or taskWaiting, at the run's Until

	Submitted, Sent, Started, Done time.Time

	Attempts int // leases given, those that were refused or recalled unrun not counted
	TimedOut int // of those, how many took too long
	Moves    int // of those, how many went on elsewhere with their state
	// Lost is the real time that servers had the task in attempts that led to
	// nothing, less what their checkpoints saved of it. It lies within the waiting, but
	// for that of copies that ran beside the one that counted.
	Lost time.Duration
}

// The states of a measured task.
const (
	TaskDone    = "done"
	TaskFailed  = "failed"
	TaskRunning = "running"
	taskWaiting = "waiting"
)

// clockResolution is how far instants of one machine's clock that two processes
// read may be out of order: a step of the clock is more.
const clockResolution = time.Millisecond

// waiting is from submission to sending; false if it was not sent.
func (t *TaskTimes) waiting() (time.Duration, bool) { return between(t.Submitted, t.Sent) }

// communication is from sending to the worker's beginning: the network, the queue
// and the preparations there; false if that is not known.
func (t *TaskTimes) communication() (time.Duration, bool) { return between(t.Sent, t.Started) }

// execution is from beginning to end; false if one of them is not known.
func (t *TaskTimes) execution() (time.Duration, bool) { return between(t.Started, t.Done) }

// response is from submission to end: the sum of the three; false if there is none.
func (t *TaskTimes) response() (time.Duration, bool) { return between(t.Submitted, t.Done) }

func between(from, to time.Time) (time.Duration, bool) {
	if from.IsZero() || to.IsZero() {
		return 0, false
	}
	return to.Sub(from), true
}

// Tasks measures every task of the run's jobs that something is known of and
// that was submitted in its time, by submission, job and index. It fails for the
// first task whose instants are out of order by more than clockResolution, or whose
// parts do not add up to its response; those within it are put in order.
func Tasks(b *Run) ([]TaskTimes, error) {
	var out []TaskTimes
	for i := range b.Jobs {
		j := &b.Jobs[i]
		if j.Status.Submitted.Before(b.From) || !j.Status.Submitted.Before(b.Until) {
			continue
		}
		for _, one := range j.Status.TasksList {
			t := TaskTimes{Job: j.Status.ID, Name: j.Status.Name, Task: one.Index, Class: j.Class, Work: j.Work,
				Submitted: plainTime(j.Status.Submitted)}
			t.measure(one, b.Until)
			out = append(out, t)
		}
		out = append(out, untouched(j)...)
	}
	slices.SortFunc(out, func(a, b TaskTimes) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Task, b.Task))
	})
	for i := range out {
		if err := out[i].check(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// untouched are the tasks of a job that nothing is known of: they wait.
func untouched(j *Job) (out []TaskTimes) {
	known := map[uint64]bool{}
	for _, one := range j.Status.TasksList {
		known[one.Index] = true
	}
	for i := range j.Status.Tasks.Total {
		if !known[i] {
			out = append(out, TaskTimes{Job: j.Status.ID, Name: j.Status.Name, Task: i, Class: j.Class, Work: j.Work,
				Submitted: plainTime(j.Status.Submitted), State: taskWaiting})
		}
	}
	return out
}

// plainTime takes the monotonic reading away, so that differences of instants are
// those of what is written.
func plainTime(t time.Time) time.Time { return t.Round(0).UTC() }

// measure reads what became of a task until then.
func (t *TaskTimes) measure(one message.TaskStatus, until time.Time) {
	attempts := slices.Clone(one.Attempts)
	slices.SortStableFunc(attempts, func(a, b message.AttemptStatus) int { return a.Start.Compare(b.Start) })
	attempts = slices.DeleteFunc(attempts, func(a message.AttemptStatus) bool {
		return a.Start.After(until) ||
			unrun(&a)
	})
	for k := range attempts {
		attempts[k] = attemptBy(attempts[k], until)
	}
	t.Attempts, t.State = len(attempts), taskWaiting
	last := countedAttempt(attempts)
	if last < 0 {
		return
	}
	first := last
	for from := movedFrom(attempts, first); from >= 0; from = movedFrom(attempts, first) {
		first = from
		t.Moves++
	}
	a, z := &attempts[first], &attempts[last]
	t.Server = z.Worker
	switch {
	case z.Outcome == task.Completed.String():
		t.State, t.Done = TaskDone, plainTime(z.End)
	case z.End.IsZero():
		t.State = TaskRunning
	case one.State == TaskFailed && last == len(attempts)-1:
		t.State, t.Done = TaskFailed, plainTime(z.End)
	}
	if t.State == taskWaiting {
		t.addLost(attempts, len(attempts), until)
		return
	}
	t.Sent = plainTime(a.Start)
	if !a.Began.IsZero() {
		t.Started = plainTime(a.Began)
	}
	t.addLost(attempts, first, until)
}

// attemptBy is an attempt that was given by then, as it was known then.
func attemptBy(a message.AttemptStatus, then time.Time) message.AttemptStatus {
	if a.End.After(then) {
		a.End, a.Outcome, a.MovedTo = time.Time{}, "", ""
	}
	if a.Began.After(then) {
		a.Began = time.Time{}
	}
	return a
}

// unrun says whether an attempt ended before its worker began it: what is superseded has
// run only if its task ended elsewhere, or its job was ended.
func unrun(a *message.AttemptStatus) bool {
	switch a.Outcome {
	case OutcomeRefused:
		return true
	case OutcomeSuperseded:
		return a.Reason != message.DropSuperseded && a.Reason != message.DropCancelled &&
			a.Reason != message.DropExpired
	}
	return false
}

// countedAttempt is the attempt that a task's end is of: the first to complete, else the
// newest that runs, else the newest; -1 if there is none. Of a task that is run more than
// once, so that results can be compared, the others are copies.
func countedAttempt(attempts []message.AttemptStatus) int {
	best := len(attempts) - 1
	for k := range attempts {
		a, b := &attempts[k], &attempts[best]
		done, ahead := a.Outcome == task.Completed.String(), b.Outcome == task.Completed.String()
		switch {
		case done && (!ahead || a.End.Before(b.End)):
			best = k
		case !done && !ahead && a.End.IsZero():
			best = k
		}
	}
	return best
}

// movedFrom is the attempt whose state went on as the k-th, which does not end before
// it; -1 if there is none.
func movedFrom(attempts []message.AttemptStatus, k int) int {
	there, end := attempts[k].Worker, attempts[k].End
	for i := k - 1; i >= 0; i-- {
		switch a := &attempts[i]; {
		case a.Outcome == ledger.Moved && a.MovedTo == there && (end.IsZero() || !end.Before(a.End)):
			return i
		case a.Worker == there: // what was moved there before ended with that
			return -1
		}
	}
	return -1
}

// addLost counts what attempts came to nothing: those that did not lead to the end,
// which attempts from the first on did. Without such first is their number.
func (t *TaskTimes) addLost(attempts []message.AttemptStatus, first int, until time.Time) {
	led := map[int]bool{}
	for k := countedAttempt(attempts); k >= first; k = movedFrom(attempts, k) {
		led[k] = true
	}
	for k := range attempts {
		a := &attempts[k]
		if timedOut(a) {
			t.TimedOut++
		}
		if led[k] || a.End.IsZero() && t.Done.IsZero() {
			continue
		}
		end := a.End
		if end.IsZero() {
			end = until
		}
		t.Lost += max(0, end.Sub(a.Start))
	}
	if first < len(attempts) { // what it went on from was not lost
		t.Lost -= min(t.Lost, time.Duration(attempts[first].SavedCPU*float64(time.Second)))
	}
}

// timedOut says whether an attempt was given up for the time that it took: by the
// leader, whose policy has patience, or by its job's limit.
func timedOut(a *message.AttemptStatus) bool {
	return a.Outcome == ledger.Overdue || a.Outcome == task.TimedOut.String()
}

// check puts the instants in order, and fails if they are not or the parts do not
// add up.
func (t *TaskTimes) check() error {
	before, name := t.Submitted, "submitted"
	for _, at := range []struct {
		name string
		at   *time.Time
	}{{"sent", &t.Sent}, {"started", &t.Started}, {"done", &t.Done}} {
		if at.at.IsZero() {
			continue
		}
		if early := before.Sub(*at.at); early > clockResolution {
			return fmt.Errorf("task %s/%d was %s %v before it was %s: was this machine's clock set?", t.Job, t.Task, at.name,
				early, name)
		} else if early > 0 {
			*at.at = before
		}
		before, name = *at.at, at.name
	}
	w, sent := t.waiting()
	c, started := t.communication()
	e, ended := t.execution()
	if r, ok := t.response(); ok && sent && started && ended && w+c+e != r {
		return fmt.Errorf("task %s/%d waited %v, communicated %v and executed %v, and its response is %v", t.Job, t.Task, w,
			c, e, r)
	}
	return nil
}

// How the ledger calls attempts whose worker is gone, did not want them, or has
// not begun them when they were wanted elsewhere.
const (
	OutcomeLost       = "lost"
	OutcomeRefused    = "refused"
	OutcomeSuperseded = "superseded"
)
