package measure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"godwit/lab/table"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A event is something that happened in a run: a job came, the leader decided,
// a worker began or ended, a server went or came, something broke.
type event struct {
	At     time.Time
	Event  string // one of the event constants
	Job    task.JobID
	Task   string // its index; "" of events that are of no one task
	Class  string
	Server string
	Reason string // for people
}

// The events. Of an attempt there is its placing, its beginning where that is known,
// and one end.
const (
	eventSubmitted  = "submitted"  // a job was handed in: the reason says what it brings
	eventPlaced     = "placed"     // a lease was given
	eventStarted    = "started"    // the worker began
	eventDone       = "done"       // it completed
	eventMoved      = "moved"      // it goes on elsewhere with its state
	eventTimedOut   = "timed out"  // it took too long
	eventRequeued   = "requeued"   // it was lost, refused or stopped: the task waits again
	eventSuperseded = "superseded" // it was not needed any more
	eventFailed     = "failed"     // the task failed by itself
	eventUp         = "up"         // a server came
	eventDown       = "down"       // a server went
	eventFault      = "fault"      // something went wrong beside the scenario
)

// eventsOf lists what happened from a run's From to its Until, in the order of time;
// at one time in that of the constants. Reasons of placements that an end has taken
// the place of are not known any more.
func eventsOf(r *Run, tasks []TaskTimes) (out []event) {
	measured := map[task.JobID]bool{}
	for i := range tasks {
		measured[tasks[i].Job] = true
	}
	name := r.serverNames()
	for i := range r.Jobs {
		if j := &r.Jobs[i]; measured[j.Status.ID] {
			out = append(out, event{At: j.Status.Submitted, Event: eventSubmitted, Job: j.Status.ID, Class: j.Class,
				Reason: fmt.Sprintf("tasks: %d, with %s s of work each", j.Status.Tasks.Total, decimals(j.Work.Seconds()))})
			for _, one := range j.Status.TasksList {
				out = append(out, attemptEvents(j, one, name)...)
			}
		}
	}
	for _, s := range r.Servers {
		for _, u := range s.Up {
			out = append(out, event{At: u.From, Event: eventUp, Server: s.Name})
			if u.To.Before(r.Until) { // else it is there at the end
				out = append(out, event{At: u.To, Event: eventDown, Server: s.Name})
			}
		}
	}
	for _, f := range r.Faults {
		out = append(out, event{At: f.At, Event: eventFault, Reason: f.What})
	}
	out = slices.DeleteFunc(out, func(e event) bool { return e.At.IsZero() || e.At.Before(r.From) || e.At.After(r.Until) })
	slices.SortStableFunc(out, func(a, b event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(eventRank[a.Event], eventRank[b.Event]))
	})
	return out
}

// eventRank orders what happens at one time.
var eventRank = func() map[string]int {
	rank := map[string]int{}
	for i, e := range []string{eventUp, eventSubmitted, eventDone, eventMoved, eventTimedOut, eventRequeued,
		eventSuperseded, eventFailed, eventPlaced, eventStarted, eventFault, eventDown} {
		rank[e] = i
	}
	return rank
}()

// attemptEvents tells of each attempt of a task.
func attemptEvents(j *Job, one message.TaskStatus, name func(task.PeerID) string) (out []event) {
	for k := range one.Attempts {
		a := &one.Attempts[k]
		e := event{Job: j.Status.ID, Task: strconv.FormatUint(one.Index, 10), Class: j.Class, Server: name(a.Worker)}
		add := func(at time.Time, event, reason string) {
			e.At, e.Event, e.Reason = at, event, reason
			out = append(out, e)
		}
		end, whyPlaced, whyEnded := endEvent(a), "", a.Reason
		if end == eventDone || a.End.IsZero() { // then the reason is that of the placement
			whyPlaced, whyEnded = a.Reason, ""
		}
		add(a.Start, eventPlaced, whyPlaced)
		add(a.Began, eventStarted, "")
		if end == eventMoved {
			whyEnded = "to " + name(a.MovedTo) + table.Because(a.Reason)
		}
		add(a.End, end, whyEnded)
	}
	return out
}

// endEvent is what the end of an attempt is called.
func endEvent(a *message.AttemptStatus) string {
	var outcome task.Outcome
	known := outcome.UnmarshalText([]byte(a.Outcome)) == nil
	switch {
	case a.Outcome == task.Completed.String():
		return eventDone
	case a.Outcome == ledger.Moved:
		return eventMoved
	case timedOut(a):
		return eventTimedOut
	case a.Outcome == OutcomeSuperseded:
		return eventSuperseded
	case known && outcome.OwnFault():
		return eventFailed
	}
	return eventRequeued
}

// eventLines are those of events.csv.
func (r *Run) eventLines(events []event) [][]string {
	rows := [][]string{{"at_s", "event", "job", "task", "class", "server", "reason"}}
	for _, e := range events {
		rows = append(rows, []string{r.instant(e.At), e.Event, string(e.Job), e.Task, e.Class,
			e.Server, e.Reason})
	}
	return rows
}
