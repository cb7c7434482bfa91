package scheduler

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/replication"
	"godwit/task"
)

func (t *jobTable) newJob(id task.JobID, l *ledger.Job) *job {
	t.arrived++
	j := &job{
		id: id, spec: l.Spec, ledger: l, submitter: l.Submitter, arrival: t.arrived, total: l.Spec.Tasks(),
		live: map[uint64]*liveTask{}, delivery: delivery{weights: map[uint64]int{}, credit: true},
	}
	j.class = t.c.learnt.Class(l.Spec.Class)
	j.wait.queued, j.place = map[uint64]bool{}, -1
	j.flowing, j.wait.end = flows(l.Spec), l.Spec.Roots()
	j.priority = t.c.claims.priorityOf(j)
	t.jobs[id] = j
	t.bookJob(j)
	return j
}

// reopen makes a job of a restored ledger current again.
func (t *jobTable) reopen(id task.JobID, l *ledger.Job) {
	j := t.newJob(id, l)
	f := &l.Facts
	j.useful, j.wasted, j.reruns, j.migrations = max(0, f.UsefulCPU), max(0, f.WastedCPU), f.Reruns, f.Migrations
	j.done, j.failed = f.Done.Count(), f.Failed.Minus(f.Done).Count()
	for _, i := range slices.Sorted(maps.Keys(l.Rows)) {
		t.reopenTask(j, i)
	}
	j.state = jobOpen
	j.moveCursor(0)
	t.settleAnew(j)
	switch {
	case f.Cancelled() || f.Expired || j.done+j.failed == j.total:
		j.state = jobOver
		// Who holds every end knows that it is over; others are told.
		if j.told = f.Done.Count()+f.Failed.Minus(f.Done).Count() == j.total; !j.told {
			j.asked = true
			t.c.touch(j)
		}
	default:
		t.c.term.recovering = true
		j.asked = true // its submitter may know that it is over
		t.armDeadline(j)
		t.c.claims.enqueue(j)
		isEnding(t, j)
		t.c.touch(j)
	}
}

func (t *jobTable) reopenTask(j *job, i uint64) {
	row := j.ledger.Rows[i]
	t.c.learnt.learnRow(j, i)
	if j.ledger.Delivered(i) { // its cost is in the facts
		t.kept = append(t.kept, task.TaskID{Job: j.id, Index: i})
		return
	}
	j.reruns, j.migrations = j.reruns+row.Reruns(), j.migrations+row.Moves()
	useful, wasted := costOfLog(row)
	j.took(useful, wasted)
	switch row.Verdict(j.ledger.Rule()) {
	case ledger.Done:
		j.done++
		j.ready = append(j.ready, i)
	case ledger.Failed:
		j.failed++
		j.ready = append(j.ready, i)
	default:
		j.comeBack(i)
		return
	}
	t.weigh(j, i, rowBytes(row))
	useful, wasted = costOfResults(row)
	j.took(useful, wasted)
}

// elsewhere says why a job of another overlay is refused: its signed record names that.
const elsewhere = "the job was handed to another overlay"

// ours reports whether a job was handed to the overlay of this configuration.
func (c *Config) ours(spec *task.Job) bool { return c.Overlay == "" || spec.Overlay == c.Overlay }

// submit takes in a job, or answers what is known of it.
func (t *jobTable) submit(from task.PeerID, s *message.Submit) {
	id, submitter := t.c.cfg.Opened.Names(&s.Record)
	if j := t.jobs[id]; j != nil {
		if j.state != jobFetching && from == j.submitter {
			t.heardFrom(j)
			t.answered(j)
			t.wanted(j)
			t.offeredAgain(j, holding{s.Have, s.Delivery, s.Signature, s.Again, s.Taken, s.Own})
			t.refuse(j, s.Refused)
		}
		return
	}
	refuse := func(reason string, retry time.Duration) {
		t.c.emit(message.Send{To: from, Message: message.Message{Accepted: &message.Accepted{Job: id, Error: reason,
			RetryAfter: retry}}})
		t.c.decided(task.TaskID{Job: id}, "refused", from, reason)
	}
	spec, err := t.c.cfg.Opened.Open(&s.Record)
	switch {
	case err != nil:
		refuse(err.Error(), 0)
	case !t.c.cfg.ours(spec):
		refuse(elsewhere, 0)
	case !s.Accepted && t.c.cfg.Rules.lessThan(spec) != "":
		refuse(t.c.cfg.Rules.lessThan(spec), 0)
	case submitter != from:
		refuse("only its submitter may offer a job", 0)
	default:
		size := recordBytes(&s.Record)
		if why := cmp.Or(t.beyond(spec, from, size, 1), t.full(from, size)); why != "" {
			refuse(why, t.c.cfg.RetryMax)
			return
		}
		l := &ledger.Job{Record: s.Record, Spec: spec, Submitter: from, Rows: map[uint64]*ledger.Row{}}
		j := t.newJob(id, l)
		t.heardFrom(j)
		j.came = t.c.now
		t.fetch(&fetching{key: coordinatorPrefix + ledger.JobKey(id), job: j,
			holds: holding{s.Have, s.Delivery, s.Signature, s.Again, s.Taken, s.Own}}, durable.JobBlocks(id, spec),
			[]task.PeerID{from})
	}
}

// open makes a job durable, acknowledges it and lets its tasks go.
func (t *jobTable) open(j *job, h holding) {
	j.state = jobOpen
	t.c.ledger.Jobs[j.id] = j.ledger
	t.persistRecord(j)
	t.c.replicas.Hold(message.HoldName{Task: task.TaskID{Job: j.id}, Kind: message.HoldJob}, true)
	t.offeredAgain(j, h)
	j.moveCursor(0)
	t.c.learnt.Arrived(j.class, t.c.now, j.total-min(j.total, j.done+j.failed), j.spec.MeanWork())
	t.armDeadline(j)
	t.c.claims.enqueue(j)
	t.c.dispatch.widened = true
	t.c.claims.fair.came = append(t.c.claims.fair.came, j)
	t.endIfOver(j)
}

// offeredAgain acknowledges a job and starts bringing its results from where
// the submitter says it is. What a submitter says it holds of its own job is
// done, even if this copy of the ledger never heard of it.
func (t *jobTable) offeredAgain(j *job, h holding) {
	held, later := t.heardHeld(j, h)
	t.c.replicas.Accept(j.id, j.submitter, later)
	if held != nil {
		t.bar(j, h.again)
		t.holds(j, held, true)
		t.runAgain(j)
	}
	t.takes(j, h.taken, h.own)
	// Whatever was on its way may be lost: begin anew with what it lacks.
	j.sent, j.ready = nil, append(j.sent, j.ready...)
	j.credit, j.asked = true, true
	t.c.touch(j)
}

// got notes what the submitter holds.
func (t *jobTable) got(from task.PeerID, g *message.Got) {
	j := t.jobs[g.Job]
	if j == nil || j.state == jobFetching || from != j.submitter {
		return
	}
	held, _ := t.heardHeld(j, holding{g.Have, g.Delivery, g.Held, g.Again, g.Taken, g.Own})
	t.heardFrom(j)
	t.answered(j)
	if held != nil {
		if len(g.Again) > 0 {
			t.bar(j, g.Again)
		}
		t.holds(j, held, false)
		t.runAgain(j)
	}
	t.takes(j, g.Taken, g.Own)
	if g.Final {
		t.finalAt(j, g.Signature)
		return
	}
	t.c.seeker.lacking(j, g.Lacking)
	t.refuse(j, g.Refused)
	t.reject(j, g.Rejected)
	j.credit = true
	t.c.touch(j)
}

// deliver notes in the facts what the row of a task says beside its end: the
// row may go now.
func (t *jobTable) deliver(j *job, i uint64) {
	t.unweigh(j, i)
	t.c.replicas.ForgetHold(message.HoldName{Task: task.TaskID{Job: j.id, Index: i}, Kind: message.HoldOutputs})
	row := j.ledger.Rows[i]
	if row == nil {
		return
	}
	useful, wasted := cost(row)
	f := &j.ledger.Facts
	f.UsefulCPU, f.WastedCPU = addTime(f.UsefulCPU, useful), addTime(f.WastedCPU, wasted)
	f.Reruns, f.Migrations = f.Reruns+row.Reruns(), f.Migrations+row.Moves()
}

// compactShare is the part of KeepRows by which it may be exceeded. The facts are
// written once for so many rows, not for each: they name every gap in what is
// delivered, and a wide sweep has hundreds.
const compactShare = 16

// compact forgets the rows of delivered tasks beyond KeepRows, the oldest
// first. The facts that replace them are written before they go.
func (t *jobTable) compact(j *job) {
	over := len(t.kept) - t.c.cfg.KeepRows
	if over <= t.c.cfg.KeepRows/compactShare {
		if j.state == jobOver {
			t.persistFacts(j)
		}
		return
	}
	rewritten := map[*job]bool{j: true}
	var keys []string
	for _, id := range t.kept[:over] {
		owner := t.jobs[id.Job]
		if owner.ledger.Rows[id.Index] == nil {
			continue
		}
		delete(owner.ledger.Rows, id.Index)
		rewritten[owner] = true
		keys = append(keys, coordinatorPrefix+ledger.RowKey(id))
	}
	t.kept = slices.Delete(t.kept, 0, over)
	for _, owner := range slices.SortedFunc(mapKeys(rewritten),
		func(a, b *job) int { return int(a.arrival) - int(b.arrival) }) {
		t.persistFacts(owner)
	}
	for _, key := range keys {
		t.c.emit(message.Persist{Key: key})
	}
}

// cancel ends a job whose submitter says so, at once or when what runs of it has ended.
func (t *jobTable) cancel(m *message.Cancel) {
	j := t.jobs[m.Job]
	if j == nil || j.state == jobFetching || !task.VerifyCancel(m.Job, j.ledger.Record.PublicKey, m.Signature) {
		return
	}
	switch {
	case j.state != jobOpen:
	case m.Soon:
		stopGiving(t, j, m.Signature)
	default:
		j.ledger.Facts.Merge(&ledger.Facts{Cancel: m.Signature})
		t.persistFacts(j)
		t.end(j, message.DropCancelled)
		t.c.decided(task.TaskID{Job: j.id}, "cancelled", j.submitter, "its submitter asked for it")
	}
	j.asked, j.credit = true, true
	t.c.touch(j)
}

func (t *jobTable) checkDeadline(j *job) {
	at, ok := j.deadline()
	if !ok || t.c.now.Before(at) {
		return
	}
	j.ledger.Facts.Expired = true
	t.persistFacts(j)
	t.end(j, message.DropExpired)
	t.c.decided(task.TaskID{Job: j.id}, "expired", "", message.DropExpired)
}

// endIfOver ends a job of which every task has ended.
func (t *jobTable) endIfOver(j *job) {
	if j.state == jobOpen && j.done+j.failed >= j.total {
		t.end(j, message.DropSuperseded)
		t.c.decided(task.TaskID{Job: j.id}, j.summary().State, j.submitter, "every task has ended")
	}
}

// end takes a job out of work.
func (t *jobTable) end(j *job, reason string) {
	for _, i := range slices.Sorted(maps.Keys(j.live)) {
		t.c.endLeases(j, i, reason)
	}
	j.state = jobOver
	t.c.chunks.endChunks(j)
	t.c.claims.dequeue(j)
	j.wait.back, j.wait.released, j.wait.queued = nil, nil, map[uint64]bool{}
	for _, h := range t.c.members.roster.all() {
		delete(h.paused, j)
	}
	t.c.touch(j)
}

// forget drops a job that is over, here and at followers.
func (t *jobTable) forget(j *job) {
	for _, i := range slices.Sorted(maps.Keys(j.ledger.Rows)) {
		t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.RowKey(task.TaskID{Job: j.id, Index: i})})
	}
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.FactsKey(j.id)})
	t.c.emit(message.Persist{Key: coordinatorPrefix + ledger.JobKey(j.id)})
	t.c.replicas.Changed(replication.Key{Job: j.id, Kind: replication.Gone})
	t.kept = slices.DeleteFunc(t.kept, func(id task.TaskID) bool { return id.Job == j.id })
	t.forgetJob(j)
	delete(t.c.ledger.Jobs, j.id)
}

// mapKeys returns a map's keys in no order: sort them.
func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

func (t *jobTable) inOrder() []*job {
	var jobs []*job
	for _, id := range slices.Sorted(maps.Keys(t.jobs)) {
		if j := t.jobs[id]; j.state != jobFetching {
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *job) int { return int(a.arrival) - int(b.arrival) })
	return jobs
}
