package worker

import (
	"slices"
	"strconv"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// maxUnacked is how many results a worker keeps that no leader has
// acknowledged. With more it starts nothing new: work must not be done only
// to be forgotten.
const maxUnacked = 4096

// results are those that no coordinator has taken.
type results struct {
	all     []*unacked // oldest first
	kept    int        // of all, the first so many are durable here
	bytes   int64      // sum of theirs
	spoiled []string   // durable keys that restore could not read
	// completed are those of all that need no other run, by task: of several the newest.
	completed map[task.TaskID]*unacked
	twice     bool // of some task there are several
	given     given
	signing   Signing
	out       *effects
}

// An unacked result waits for a leader to make it durable.
type unacked struct {
	ending message.Ending
	since  time.Time           // when it came
	taken  time.Time           // its lease; zero: not known, like begun
	begun  time.Time           // its run
	sent   time.Time           // zero: not yet
	key    string              // of its durable form; "" while it has none
	bytes  int64               // what it takes of MaxUnackedBytes
	saved  *message.Checkpoint // where it stopped without completing: what to go on from
	took   *message.Checkpoint // the same, if it was taken here: it is told with the result
	// submitter is whose job it is of; "" where that is not known.
	submitter task.PeerID
}

// newUnacked returns a result that no leader has seen.
func newUnacked(e message.Ending, since time.Time) *unacked {
	u := &unacked{ending: e, since: since}
	for i := range e.Result.Outputs {
		u.bytes += max(0, e.Result.Outputs[i].Size)
	}
	return u
}

// tell is a result as a report has it that is sent now.
func (u *unacked) tell(now time.Time) message.Ending {
	e := u.ending
	e.Begun = nil
	if !u.begun.IsZero() {
		e.Begun = &message.Begun{
			Queued: min(max(0, u.begun.Sub(u.taken)), task.MaxDuration),
			Ago:    min(max(0, now.Sub(u.begun)), task.MaxDuration),
		}
	}
	return e
}

// add takes in a result to be reported until it is acknowledged.
func (r *results) add(u *unacked) {
	r.all = append(r.all, u)
	r.bytes += u.bytes
	r.index(u)
}

// index notes a result that is of all.
func (r *results) index(u *unacked) {
	if u.ending.Result.Outcome != task.Completed {
		return
	}
	if r.completed == nil {
		r.completed = map[task.TaskID]*unacked{}
	}
	r.twice = r.twice || r.completed[u.ending.Result.Task] != nil
	r.completed[u.ending.Result.Task] = u
}

// tooMany says why nothing new may be started, or "": there are as many results as may
// be kept, or they take most bytes.
func (r *results) tooMany(most int64) string {
	if len(r.all) < maxUnacked && r.bytes < most {
		return ""
	}
	return "the worker keeps " + strconv.Itoa(len(r.all)) + " results of " + task.FormatSize(r.bytes) +
		" that no coordinator has taken"
}

// forget drops the results for which acknowledged is true, and remembers for a while that they were.
func (r *results) forget(now time.Time, acknowledged func(*unacked) bool) {
	r.all = slices.DeleteFunc(r.all, func(u *unacked) bool {
		if !acknowledged(u) {
			return false
		}
		if id := u.ending.Result.Task; r.completed[id] == u {
			delete(r.completed, id)
		}
		r.bytes -= u.bytes
		r.given.add(u, now)
		if u.key != "" {
			r.kept--
		}
		r.unkeep(u)
		return true
	})
	if r.twice { // an older one may be the newest now
		clear(r.completed)
		r.twice = false
		for _, u := range r.all {
			r.index(u)
		}
	}
}

// unkeep forgets a result's durable form.
func (r *results) unkeep(u *unacked) {
	if u.key != "" {
		r.out.emit(message.Persist{Key: u.key})
	}
}

// next returns a batch of results that were never sent or, if again is set, that were
// sent so long ago, after, that the answer must be lost. saved are the checkpoints that
// those attempts stopped at: their tasks go on from there.
func (r *results) next(now time.Time, again bool, after time.Duration) (batch []message.Ending,
	saved []message.SavedState) {
	size := 0
	// New results are last, after those that only wait for their answer; a
	// look at the last one tells whether there are any.
	if n := len(r.all); n == 0 || !again && !r.all[n-1].sent.IsZero() {
		return nil, nil
	}
	var told []*unacked
	for _, u := range r.all {
		if !u.sent.IsZero() && !(again && !now.Before(u.sent.Add(after))) {
			continue
		}
		size += message.ResultBytes(&u.ending.Result)
		if len(told) == message.MaxEndings || len(told) > 0 && size > message.BatchBytes {
			break
		}
		told = append(told, u)
	}
	r.sign(told)
	batch = make([]message.Ending, 0, len(told))
	for _, u := range told {
		batch = append(batch, u.tell(now))
		if u.took != nil {
			saved = append(saved, message.SavedState{Task: u.ending.Result.Task, Attempt: u.ending.Attempt, Checkpoint: *u.took})
		}
		u.sent = now
	}
	return batch, saved
}
