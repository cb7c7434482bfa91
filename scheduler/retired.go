package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// retiredKey is where it is kept that a job's copy is retired.
	retiredKey = coordinatorPrefix + "x/"
	// retiredLife is how long after its deadline a retired copy is kept: as long as its
	// submitter remembers a job that its owner dropped, and so can say that it is over.
	retiredLife = 7 * 24 * time.Hour
	// retiredSides is how many leaders' ledgers retired copies may take, as many as two sides
	// of a split have: of jobs MaxJobs each, of bytes MaxUndelivered each.
	retiredSides = 2
)

// A retirement is what a replica knows of the copies that a leader has told it to forget.
// That leader's word alone erases nothing: a retired copy is kept, and told to the leaders
// that follow, until the job is over by its submitter's signature, or its deadline is long
// past, or another of the group has the same or later.
type retirement struct {
	jobs  map[task.JobID]retiree
	since map[task.JobID]int64 // when copies that are current now were first retired
	group []task.PeerID        // of the present leader, without it, by rank
	asking
}

// A retiree is the copy of one job that was told to be forgotten. It is in the ledger of the
// replica.
type retiree struct {
	Since int64       `cbor:"1,keyasint"` // Unix milliseconds
	By    task.PeerID `cbor:"2,keyasint"` // who told so
}

// retire keeps the copy of a job that the leader says can be forgotten, unless nobody needs
// it any more.
func (r *Replica) retire(id task.JobID) {
	j := r.ledger.Jobs[id]
	switch {
	case j == nil:
		return
	case r.needless(j) != "":
		r.forget(id)
		return
	}
	r.vetJob(id)
	e, known := r.retired.jobs[id]
	if known && e.By == r.leader {
		return
	}
	if since, before := r.retired.since[id]; before {
		e.Since = since
	} else if !known {
		e.Since = r.now.UnixMilli()
	}
	e.By = r.leader
	r.retired.jobs[id] = e
	if value, err := task.Encode(&e); err == nil { // of a number and a name
		r.emit(message.Persist{Key: retiredKey + string(id), Value: value})
	}
}

// needless says why no copy of a job is needed any more, or "": by what its submitter signed,
// and this node's clock.
func (r *Replica) needless(j *ledger.Job) string {
	f := &j.Facts
	whole := f.Held().Count() >= j.Spec.Tasks()
	if at, ok := deadlineOf(j.Spec); ok && !r.now.Before(at.Add(retiredLife)) {
		return "its deadline is long past"
	}
	switch {
	case f.Cancelled():
		return "its submitter has ended it"
	case whole && (len(f.Signed) > 0 || !r.cfg.Signed):
		return "its submitter holds all of it"
	}
	return ""
}

// retireAll keeps the whole copy as retired: the leader says that it has what is in it.
func (r *Replica) retireAll() {
	n := len(r.ledger.Jobs)
	for _, id := range slices.Sorted(maps.Keys(r.ledger.Jobs)) {
		r.retire(id)
	}
	if n > 0 {
		r.emit(message.Decided{Action: "retired", Peer: r.leader, Reason: fmt.Sprintf("this node is not of the group of "+
			"coordinators: of the %d jobs of its copy it keeps %d until another of the group has them", n,
			len(r.retired.jobs))})
	}
	r.makeRoom()
	clear(r.live)
	r.holds = nil
	clear(r.newer)
	r.askSoon()
}

// makeRoom forgets retired copies beyond what may be kept, and says so: of jobs that are over
// by anybody's word those first that were retired first, then those that were retired last,
// so that a flood goes before what was there.
func (r *Replica) makeRoom() {
	size := 0
	order := slices.SortedFunc(maps.Keys(r.retired.jobs), func(a, b task.JobID) int {
		x, y := r.retired.jobs[a], r.retired.jobs[b]
		over := r.ledger.Jobs[a].Over()
		if over != r.ledger.Jobs[b].Over() {
			if over {
				return -1
			}
			return 1
		}
		c := cmp.Compare(x.Since, y.Since)
		if !over {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a, b))
	})
	for _, id := range order {
		size += bytesOf(r.ledger.Jobs[id])
	}
	most := retiredSides * int(r.cfg.MaxUndelivered)
	for left := len(order); left > 0 && (left > retiredSides*r.cfg.MaxJobs || size > most); left-- {
		id := order[len(order)-left]
		size -= bytesOf(r.ledger.Jobs[id])
		r.emit(message.Decided{Task: task.TaskID{Job: id}, Action: "forgotten", Peer: r.retired.jobs[id].By,
			Reason: fmt.Sprintf("a copy that nobody else has confirmed: this node keeps no more than %d such, of %s",
				retiredSides*r.cfg.MaxJobs, task.FormatSize(int64(most)))})
		r.forget(id)
	}
}

// unretire makes the copies current again: the leader has this replica follow.
func (r *Replica) unretire() {
	for _, id := range slices.Sorted(maps.Keys(r.retired.jobs)) {
		r.wantedAgain(id)
	}
	r.retired.asking = asking{}
}

// wantedAgain makes the copy of a job current, if it was retired.
func (r *Replica) wantedAgain(id task.JobID) {
	if e, retired := r.retired.jobs[id]; retired {
		r.retired.since[id] = e.Since
		delete(r.retired.jobs, id)
		r.emit(message.Persist{Key: retiredKey + string(id)})
	}
}

// has reports whether the copy of a job is retired.
func (t *retirement) has(id task.JobID) bool { _, ok := t.jobs[id]; return ok }

// without returns the part of a ledger that is not retired: what the leader has its replica keep.
func (t *retirement) without(whole *ledger.Ledger) *ledger.Ledger {
	if len(t.jobs) == 0 {
		return whole
	}
	l := ledger.New()
	for id, j := range whole.Jobs {
		if !t.has(id) {
			l.Jobs[id] = j
		}
	}
	return l
}

// restoreRetired reads that the copy of a job is retired; one of which that cannot be read is
// current, and told like any.
func (r *Replica) restoreRetired(id task.JobID, value []byte) {
	var e retiree
	if task.Decode(value, &e) == nil && r.ledger.Jobs[id] != nil {
		r.retired.jobs[id] = e
	}
}
