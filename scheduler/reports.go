package scheduler

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"godwit/overlay"
	"godwit/scheduler/durable"
	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// report takes in what a worker says.
func (b *reports) report(from task.PeerID, r *message.Report) {
	b.c.term.outrun(from, r.Epoch)
	h := b.c.members.host(from)
	h.reported, h.lost = true, time.Time{}
	h.slots, h.state, h.withheld = min(max(r.Slots, 0), overlay.MaxSlots), overlay.State(r.State), min(max(r.Withheld, 0),
		100)
	h.hands = r.Hands
	h.standsStill(b.c.now)
	b.c.migration.heedNotice(h)
	if !h.shut() {
		b.c.members.readmit(h)
	}
	if r.Full {
		b.c.outbox.ack(from) // so that the worker knows it is heard
		if !h.member {
			b.c.members.alarm(h, b.c.now.Add(b.c.cfg.LeaseTTL))
		}
	}
	for i := range r.Saved { // before the ends of the attempts that saved them
		b.savedBy(h, &r.Saved[i])
	}
	for i := range r.Ended {
		b.ended(h, &r.Ended[i])
	}
	b.c.chunks.toldOfRuns()
	for i := range r.Refused {
		b.takeRefusal(h, &r.Refused[i])
	}
	for i := range r.Unmoved {
		b.c.transfers.unmoved(h, &r.Unmoved[i])
	}
	for i := range r.Held {
		b.heldBy(h, &r.Held[i])
	}
	if r.Full {
		reborn := h.born != 0 && h.born != r.Born
		h.born = r.Born
		b.missing(h, r, reborn)
	}
	b.c.members.touchHost(h)
}

// heldBy renews a lease, takes up one that a former term gave or that was
// given up too soon, or has it dropped.
func (b *reports) heldBy(h *host, held *message.Held) {
	b.c.term.neverGiven(h.peer, held.Attempt)
	j := b.current(held.Task)
	if j == nil {
		if b.knowsAll() {
			b.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropUnknown)
		}
		return
	}
	if l := leaseOf(j, h, held.Task.Index, held.Attempt); l != nil {
		b.renew(l, held)
		return
	}
	if b.c.transfers.renumbered(j, h, held) || b.c.transfers.heldAhead(j, h, held) ||
		b.c.transfers.backFromLost(j, h, held) || b.c.transfers.isHandingOver(j, held) {
		return
	}
	switch {
	case j.ledger.Facts.Cancelled():
		b.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropCancelled)
	case held.Awaiting:
		if !b.c.transfers.awaitedBefore(j, h, held) {
			b.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropSuperseded)
		}
	case b.mayAdopt(j, h, held):
		b.replace(j, held.Task.Index)
		if l := b.adopt(j, h, held.Task.Index, held.Attempt, nil); held.Running {
			l.take(leasing.Starts)
		}
	default:
		b.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropSuperseded)
	}
}

// newGroupGrace is how long a coordinator lets workers keep what they have of
// jobs that it does not know. It may be of a group that is wholly new, and their
// submitters offer them again: those that are there within RetryMax, which is a
// minute, and one whose machine starts anew within a few.
const newGroupGrace = 5 * time.Minute

// knowsAll reports whether a job that this coordinator does not know is nobody's.
func (b *reports) knowsAll() bool { return !b.c.now.Before(b.c.term.since.Add(newGroupGrace)) }

func (b *reports) renew(l *lease, held *message.Held) {
	l.expires = b.c.now.Add(b.c.cfg.LeaseTTL)
	if held.Running {
		b.c.transfers.settleOrphan(l)
		l.take(leasing.Starts)
	}
	switch {
	case held.Fixed:
		b.c.transfers.heldFixed(l)
	case l.is(leasing.Moves):
		b.c.transfers.remindMove(l, held)
	}
}

// mayAdopt reports whether a lease that is not on the books should be: when the
// task needs the run, or when it runs there already while its replacement has
// not started, as far as is known: that is given up then.
func (b *reports) mayAdopt(j *job, h *host, held *message.Held) bool {
	i := held.Task.Index
	if j.state != jobOpen || j.ledger.Verdict(i) != ledger.Open || slices.Contains(j.workersOf(i), h.peer) ||
		j.hasEnd(i, held.Attempt) {
		return false
	}
	if j.wants(i) > 0 {
		return true
	}
	t := j.live[i]
	return held.Running && t != nil && slices.ContainsFunc(t.leases,
		func(l *lease) bool { return l.is(leasing.Replaceable) })
}

// replace takes a lease that has not started off a task that has no want of
// another.
func (b *reports) replace(j *job, i uint64) {
	if j.wants(i) > 0 {
		return
	}
	t := j.live[i]
	k := slices.IndexFunc(t.leases, func(l *lease) bool { return l.is(leasing.Replaceable) })
	l := t.leases[k]
	b.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
	b.c.removeLease(l, "superseded", "the attempt before it runs still")
}

// adopt books a lease that this coordinator did not give, or had given up.
func (b *reports) adopt(j *job, h *host, i uint64, a message.Attempt, ending *message.Ending) *lease {
	l := b.c.addLease(j, h, i, a, "taken up from the worker's report", ending)
	b.c.decided(task.TaskID{Job: j.id, Index: i}, "adopted", h.peer, l.reason)
	return l
}

// missing gives up the leases that a worker should have and does not. One
// given a moment ago may have crossed the report on its way, unless the worker
// has restarted since.
func (b *reports) missing(h *host, r *message.Report, reborn bool) {
	if len(h.leases)+len(h.coming) == 0 {
		return
	}
	type name struct {
		id task.TaskID
		a  message.Attempt
	}
	listed := make(map[name]bool, len(r.Held)+len(r.Ended))
	for i := range r.Held {
		listed[name{r.Held[i].Task, r.Held[i].Attempt}] = true
	}
	for i := range r.Ended {
		listed[name{r.Ended[i].Result.Task, r.Ended[i].Attempt}] = true
	}
	for _, l := range slices.Clone(h.leases) {
		young := b.c.now.Before(l.start.Add(2 * b.c.cfg.ReportEvery))
		if (!young || reborn) && l.is(leasing.Expires) && !listed[name{l.taskID(), l.attempt}] {
			if l.is(leasing.Hearsay) && !l.diedWithWorker() {
				l.take(leasing.Unstarts) // it never did there, or what it did was told to a leader before
			}
			b.giveUp(l, "lost", "the worker does not have it any more")
		}
	}
	b.c.transfers.missingAhead(h, reborn, func(id task.TaskID, a message.Attempt) bool { return listed[name{id, a}] })
}

// takeRefusal takes a lease back unrun.
func (b *reports) takeRefusal(h *host, r *message.Refusal) {
	j := b.current(r.Task)
	if j == nil {
		return
	}
	if b.c.transfers.refusedAhead(j, h, r) {
		return
	}
	l := leaseOf(j, h, r.Task.Index, r.Attempt)
	if l == nil || !l.is(leasing.Open) {
		return
	}
	l.take(leasing.Unstarts) // whatever was supposed: only what has not started is refused
	if l.is(leasing.AskedBack) || r.Reason == message.DropRecall {
		b.giveUp(l, "superseded", message.DropRecall)
		return
	}
	if l.is(leasing.Moves) {
		b.c.transfers.refusedMove(l)
		return
	}
	b.c.members.pauseJob(h, j, r.RetryAfter, task.ClipMessage("it refused: "+r.Reason))
	b.giveUp(l, "refused", task.ClipMessage(r.Reason))
}

// ended takes in a result. It is acknowledged once it is durable, or of no use.
func (b *reports) ended(h *host, e *message.Ending) {
	r := &e.Result
	if r.Worker != h.peer {
		return
	}
	b.c.term.neverGiven(h.peer, e.Attempt)
	j := b.current(r.Task)
	if j == nil {
		if b.knowsAll() {
			b.thank(h, e)
		}
		return
	}
	i := r.Task.Index
	if ahead := j.movingTo(h, i, e.Attempt); ahead != nil {
		b.c.transfers.arrivedAt(ahead) // it has run there
	}
	l := leaseOf(j, h, i, e.Attempt)
	if l != nil {
		b.c.transfers.settleOrphan(l)
		l.begins(e, b.c.now)
		if r.Outcome != task.Interrupted && r.Outcome != task.HostError {
			b.c.chunks.ranOne(l)
		}
	}
	if e.Handed != nil && (l == nil || l.is(leasing.Open)) && b.c.transfers.handedOver(h, j, l, e) {
		return
	}
	if l == nil && r.Outcome == task.Interrupted && b.c.table.fetches[stateKey(r.Task, e.Attempt)] != nil {
		return // it is repeated; until then its worker keeps the state
	}
	if l != nil && !l.is(leasing.Open) {
		if l.take(leasing.Fetches) { // else that is under way
			b.fetchOutputs(l)
		}
		return
	}
	b.count(h, j, l, e)
}

// count has a result that was not heard before count, once all that it names is held here.
func (b *reports) count(h *host, j *job, l *lease, e *message.Ending) {
	r, i := &e.Result, e.Result.Task.Index
	if j.state != jobOpen || j.ledger.Verdict(i) != ledger.Open || j.hasEnd(i, e.Attempt) {
		known := j.hasEnd(i, e.Attempt) // and counted
		if l != nil {
			l.take(leasing.Unstarts) // nothing is to be estimated
			b.c.removeLease(l, r.Outcome.String(), "the result was known")
			b.waitAgain(j, i)
		}
		if !known {
			b.tooLate(j, e)
		}
		b.thank(h, e)
		return
	}
	if err := r.Verify(); err != nil {
		b.spoiled(h, j, l, e, err.Error())
		return
	}
	if b.c.transfers.awaitsState(l, r) {
		b.c.unload(l, leasing.Brings)
		l.ending = e
		b.c.members.touchHost(h)
		return
	}
	if r.Outcome != task.Completed || len(message.RemoteOutputs(r)) == 0 {
		b.accept(h, j, l, e)
		return
	}
	if l == nil {
		l = b.adopt(j, h, i, e.Attempt, e)
	} else {
		b.c.unload(l, leasing.Fetches)
		l.ending = e
		b.c.transfers.freeMove(l)
		b.c.members.touchHost(h)
	}
	b.fetchOutputs(l)
}

// fetchOutputs brings the outputs of a lease's result here before it counts:
// a result must not vanish with its worker.
func (b *reports) fetchOutputs(l *lease) {
	key := durable.TaskKey(coordinatorPrefix+"o/", l.taskID()) + "/" + strconv.FormatUint(l.attempt.Epoch, 10) + "." +
		strconv.FormatUint(l.attempt.Seq, 10)
	b.c.table.fetch(&fetching{key: key, job: l.job, lease: l}, message.RemoteOutputs(&l.ending.Result),
		[]task.PeerID{l.host.peer})
}

// spoiled ends an attempt whose result is no good.
func (b *reports) spoiled(h *host, j *job, l *lease, e *message.Ending, why string) {
	b.thank(h, e)
	b.c.members.pauseJob(h, j, b.c.cfg.RefusalPause, why)
	if l != nil {
		b.giveUp(l, "refused", why)
	}
}

// maxFetches is how often the outputs of one result are fetched before the
// task is rather run again. The worker's reports space the tries.
const maxFetches = 5

// outputsFetched goes on with a result whose outputs are here, or could not be
// had. In the latter case the worker, if it still is there, reports the result
// again, and it is tried again.
func (b *reports) outputsFetched(l *lease, failure string) {
	if t := l.job.live[l.task.index]; t == nil || !slices.Contains(t.leases, l) {
		return // the task ended in the meantime
	}
	e := l.ending
	if failure != "" {
		l.fails++
		if here := b.c.members.hosts[l.host.peer] == l.host; here && l.fails < maxFetches {
			l.take(leasing.Stalls)
			l.expires = b.c.now.Add(b.c.cfg.LeaseTTL)
			b.c.members.alarm(l.host, l.expires)
			return
		}
		b.spoiled(l.host, l.job, l, e, task.ClipMessage("fetching the outputs failed: "+failure))
		return
	}
	b.accept(l.host, l.job, l, e)
}

// accept makes a result a fact and draws the conclusion.
func (b *reports) accept(h *host, j *job, l *lease, e *message.Ending) {
	i, r := e.Result.Task.Index, &e.Result
	row := j.row(i)
	row.AddResult(e.Attempt, *r)
	sealed := l != nil && l.move != nil && r.Outcome == task.Interrupted && l.savedAll()
	gone := b.c.transfers.departs(l, r)
	if l != nil {
		l.result = r
	}
	switch {
	case gone != nil:
		b.c.removeLease(l, ledger.Moved, gone.why)
		j.migrations++
		b.c.transfers.leaseThere(j, i, gone)
	case l != nil:
		b.c.removeLease(l, r.Outcome.String(), cmp.Or(r.Message, l.reason))
	default:
		b.note(j, i, unleased(row, h.peer, e, b.c.now))
	}
	if r.Outcome == task.Completed {
		j.measure(r.Wall)
		j.learnWork(l, r)
		b.c.learnt.learnFrom(j, h, l, r)
	}
	b.conclude(j, i, row)
	b.c.table.persistRow(j, i)
	if n := (message.HoldName{Task: r.Task, Kind: message.HoldOutputs}); len(message.RemoteOutputs(r)) > 0 &&
		b.c.hasBlocks(n) {
		b.c.replicas.Hold(n, true)
	}
	b.thank(h, e)
	switch {
	case gone != nil:
		b.c.members.pauseJob(h, j, b.c.cfg.RefusalPause, "a task of the job has just moved away from there")
	case sealed: // its member did as it was told
	case r.Outcome == task.Interrupted || r.Outcome == task.HostError:
		b.c.members.pauseJob(h, j, b.c.cfg.RefusalPause, "the last task of the job ended there as "+r.Outcome.String())
	}
	b.c.touch(j)
	b.c.table.endIfOver(j)
}

// conclude ends a task whose results say so, and lets it wait for another run
// otherwise.
func (b *reports) conclude(j *job, i uint64, row *ledger.Row) {
	id := task.TaskID{Job: j.id, Index: i}
	switch row.Verdict(j.ledger.Rule()) {
	case ledger.Open:
		b.waitAgain(j, i)
		return
	case ledger.Done:
		j.done++
		b.c.decided(id, "done", "", "")
	case ledger.Failed:
		j.failed++
		b.c.decided(id, "failed", "", row.Why(j.ledger.Rule()))
	}
	b.c.endLeases(j, i, message.DropSuperseded)
	useful, wasted := costOfResults(row)
	j.useful, j.wasted = j.useful+useful, j.wasted+wasted
	j.ready = append(j.ready, i)
}
