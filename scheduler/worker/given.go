package worker

import (
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A leader may say that it has made results durable, and bring them to nobody. Of that their worker sees nothing, but
// their submitter does, to which nothing is brought: it asks the members who ran tasks of its job. So a worker keeps
// results that were acknowledged for a while longer, in memory, and answers. An honest leader's are never asked for.

const (
	// keepGiven is for how long a result is kept that was acknowledged: a submitter asks within half an hour where
	// nothing comes, and each two hours where something does.
	keepGiven = 4 * time.Hour
	// Beyond so many results, bytes that were signed, or bytes of outputs, the oldest go: what a node of a busy swarm
	// spends on it.
	mostGiven        = 4096
	mostGivenBytes   = 8 << 20
	mostGivenOutputs = 256 << 20
)

// given are results that a leader says it has.
type given struct {
	all     []givenResult // oldest first
	bytes   int64         // that were signed
	outputs int64         // of their outputs
}

type givenResult struct {
	result    task.Result
	submitter task.PeerID
	at        time.Time // when it was acknowledged
	outputs   int64
}

// add takes in a result that was acknowledged, if somebody may ask for it: not one of a task that goes on elsewhere.
func (g *given) add(u *unacked, now time.Time) {
	r := &u.ending.Result
	if u.submitter == "" || !tells(u) || u.bytes > mostGivenOutputs || message.ResultBytes(r) > mostGivenBytes {
		return
	}
	g.all = append(g.all, givenResult{*r, u.submitter, now, u.bytes})
	g.bytes += int64(message.ResultBytes(r))
	g.outputs += u.bytes
	g.expire(now)
}

// tells reports whether a result tells how its task ended.
func tells(u *unacked) bool {
	o := u.ending.Result.Outcome
	return u.ending.Handed == nil && (o == task.Completed || o.OwnFault())
}

// expire forgets what was kept for long enough, and the oldest of too many.
func (g *given) expire(now time.Time) {
	n := 0
	for ; n < len(g.all); n++ {
		old := &g.all[n]
		if now.Sub(old.at) < keepGiven && len(g.all)-n <= mostGiven && g.bytes <= mostGivenBytes &&
			g.outputs <= mostGivenOutputs {
			break
		}
		g.drop(old)
	}
	g.all = slices.Delete(g.all, 0, n)
}

func (g *given) drop(r *givenResult) {
	g.bytes -= int64(message.ResultBytes(&r.result))
	g.outputs -= r.outputs
}

// HasResults reports whether results of a job are here, for who may ask for them.
func (w *Worker) HasResults(id task.JobID) bool {
	return slices.ContainsFunc(w.results.given.all, func(g givenResult) bool { return g.result.Task.Job == id }) ||
		slices.ContainsFunc(w.results.all, func(u *unacked) bool { return u.ending.Result.Task.Job == id })
}

// bring answers a submitter that asks for results of its job, with what it does not hold: whether a leader took them
// or not. What it holds needs nobody here any more.
func (r *results) bring(from task.PeerID, g *message.Got, w *Worker) {
	held, err := ledger.MakeSet(g.Have)
	if err != nil {
		return
	}
	has := func(of *task.Result, submitter task.PeerID) bool {
		return submitter == from && of.Task.Job == g.Job && (g.Final || held.Contains(of.Task.Index))
	}
	r.forget(w.now, func(u *unacked) bool { return tells(u) && has(&u.ending.Result, u.submitter) })
	r.given.all = slices.DeleteFunc(r.given.all, func(x givenResult) bool {
		needless := has(&x.result, x.submitter)
		if needless {
			r.given.drop(&x)
		}
		return needless
	})
	r.given.expire(w.now)
	if g.Final {
		return
	}
	r.sign(r.all)
	a := answer{Progress: message.Progress{Job: g.Job, Made: true}, at: map[uint64]int{}}
	for i := range r.given.all {
		if x := &r.given.all[i]; x.submitter == from {
			a.tell(&x.result)
		}
	}
	for _, u := range r.all { // of one from before a restart nobody knows whose it is: it is no secret among members
		if tells(u) && (u.submitter == from || u.submitter == "" && !held.Contains(u.ending.Result.Task.Index)) {
			a.tell(&u.ending.Result)
		}
	}
	if len(a.Tasks) > 0 {
		a.Summary.State = message.JobRunning
		w.emit(message.Send{To: from, Message: message.Message{Progress: &a.Progress}})
	}
}

// An answer is what a submitter is told.
type answer struct {
	message.Progress
	at   map[uint64]int // of the tasks, where each is
	size int            // in bytes
}

// tell adds a result, while there is room: of a task the newest that completed, or all that failed.
func (a *answer) tell(r *task.Result) {
	i := r.Task.Index
	k, again := a.at[i]
	switch {
	case r.Task.Job != a.Job:
		return
	case again && r.Outcome == task.Completed:
		a.Tasks[k].Failed, a.Tasks[k].Results = false, []task.Result{*r}
		return
	case again && !a.Tasks[k].Failed, len(a.Tasks) == message.MaxProgress,
		len(a.Tasks) > 0 && a.size+message.ResultBytes(r) > message.BatchBytes:
		return
	}
	a.size += message.ResultBytes(r)
	if again {
		a.Tasks[k].Results = append(a.Tasks[k].Results, *r)
		return
	}
	a.at[i] = len(a.Tasks)
	a.Tasks = append(a.Tasks, message.TaskSummary{Index: i, Failed: r.Outcome != task.Completed,
		Results: []task.Result{*r}})
}
