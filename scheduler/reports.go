package scheduler

import (
	"cmp"
	"errors"
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
func (r *reports) report(from task.PeerID, told *message.Report) {
	r.c.term.outrun(from, told.Epoch)
	h := r.c.members.host(from)
	h.reported, h.lost = true, time.Time{}
	h.claim.slots, h.state = min(max(told.Slots, 0), overlay.MaxSlots), overlay.State(told.State)
	r.c.members.heed(h)
	h.withheld = min(max(told.Withheld, 0), 100)
	h.hands = told.Hands
	h.standsStill(r.c.now)
	r.c.migration.heedNotice(h)
	if !h.shut() {
		r.c.members.readmit(h)
	}
	if told.Full {
		r.c.outbox.ack(from) // so that the worker knows it is heard
	}
	if !h.member {
		r.c.members.alarm(h, r.c.now.Add(r.c.cfg.LeaseTTL))
	}
	for i := range told.Saved { // before the ends of the attempts that saved them
		r.savedBy(h, &told.Saved[i])
	}
	for i := range told.Ended {
		r.ended(h, &told.Ended[i])
	}
	r.c.chunks.toldOfRuns()
	for i := range told.Refused {
		r.takeRefusal(h, &told.Refused[i])
	}
	for i := range told.Unmoved {
		r.c.transfers.unmoved(h, &told.Unmoved[i])
	}
	for i := range told.Held {
		r.heldBy(h, &told.Held[i])
	}
	if told.Full {
		reborn := h.born != 0 && h.born != told.Born
		h.born = told.Born
		r.missing(h, told, reborn)
	}
	r.c.members.refuse(h)
	r.c.members.touchHost(h)
}

// heldBy renews a lease, takes up one that a former term gave or that was
// given up too soon, or has it dropped.
func (r *reports) heldBy(h *host, held *message.Held) {
	if !held.Unproven {
		r.c.term.neverGiven(h.peer, held.Attempt)
	}
	j := r.current(held.Task)
	if j == nil {
		if r.knowsAll() {
			r.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropUnknown)
		}
		return
	}
	if held.Unproven {
		r.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropUnproven)
		r.c.decided(held.Task, "refused", h.peer, message.DropUnproven)
		return
	}
	if held.Bad != nil {
		r.badState(h, j, held)
	}
	if l := leaseOf(j, h, held.Task.Index, held.Attempt); l != nil {
		r.renew(l, held)
		return
	}
	if r.c.transfers.renumbered(j, h, held) || r.c.transfers.heldAhead(j, h, held) ||
		r.c.transfers.backFromLost(j, h, held) || r.c.transfers.isHandingOver(j, held) {
		return
	}
	switch {
	case j.ledger.Facts.Cancelled():
		r.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropCancelled)
	case held.Awaiting:
		if !r.c.transfers.awaitedBefore(j, h, held) {
			r.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropSuperseded)
		}
	case r.mayAdopt(j, h, held):
		r.replace(j, h, held)
		if l := r.adopt(j, h, held.Task.Index, held.Attempt, nil); held.Running {
			l.take(leasing.Starts)
		}
	default:
		r.c.outbox.drop(h.peer, held.Task, held.Attempt, message.DropSuperseded)
	}
}

// newGroupGrace is how long a coordinator lets workers keep what they have of
// jobs that it does not know. It may be of a group that is wholly new, and their
// submitters offer them again: those that are there within RetryMax, which is a
// minute, and one whose machine starts anew within a few.
const newGroupGrace = 5 * time.Minute

// knowsAll reports whether a job that this coordinator does not know is nobody's.
func (r *reports) knowsAll() bool { return !r.c.now.Before(r.c.term.since.Add(newGroupGrace)) }

func (r *reports) renew(l *lease, held *message.Held) {
	l.expires = r.c.now.Add(r.c.cfg.LeaseTTL)
	if l.shown.since == 0 && held.Receipt != nil {
		l.shown.since = held.Receipt.Begun()
	}
	if held.Running {
		r.c.transfers.settleOrphan(l)
		l.take(leasing.Starts)
	}
	switch {
	case held.Fixed:
		r.c.transfers.heldFixed(l)
	case l.is(leasing.Moves):
		r.c.transfers.remindMove(l, held)
	}
}

// mayAdopt reports whether a lease that is not on the books should be: when the
// task needs the run, or when it runs there already while its replacement has
// not started, as far as is known: that is given up then. Not where another replica is on its way to
// the worker: it would have two.
func (r *reports) mayAdopt(j *job, h *host, held *message.Held) bool {
	i := held.Task.Index
	if j.state != jobOpen || j.ledger.Verdict(i) != ledger.Open || slices.Contains(j.workersOf(i), h.peer) ||
		j.hasEnd(i, held.Attempt) || slices.Contains(j.appendDestinations(nil, i, nil), h.peer) {
		return false
	}
	if o := j.leaseOn(i, h.peer, held.Attempt); o != nil {
		return held.Running && o.is(leasing.Replaceable)
	}
	if j.lacks(i) > 0 {
		return true
	}
	t := j.live[i]
	return held.Running && t != nil && slices.ContainsFunc(t.leases,
		func(l *lease) bool { return l.is(leasing.Replaceable) })
}

// replace takes a lease that has not started off a task that has no want of
// another: of replicas the one that was to go on from what the host left.
func (r *reports) replace(j *job, h *host, held *message.Held) {
	i := held.Task.Index
	l := j.leaseOn(i, h.peer, held.Attempt)
	if l == nil && j.lacks(i) > 0 {
		return
	}
	if l == nil {
		t := j.live[i]
		l = t.leases[slices.IndexFunc(t.leases, func(l *lease) bool { return l.is(leasing.Replaceable) })]
	}
	r.c.outbox.drop(l.host.peer, l.taskID(), l.attempt, message.DropSuperseded)
	r.c.removeLease(l, "superseded", "the attempt before it runs still")
}

// adopt books a lease that this coordinator did not give, or had given up.
func (r *reports) adopt(j *job, h *host, i uint64, a message.Attempt, ending *message.Ending) *lease {
	l := r.c.addLease(j, h, i, a, "taken up from the worker's report", ending)
	r.c.decided(task.TaskID{Job: j.id, Index: i}, "adopted", h.peer, l.reason)
	return l
}

// missing gives up the leases that a worker should have and does not. One
// given a moment ago may have crossed the report on its way, unless the worker
// has restarted since.
func (r *reports) missing(h *host, told *message.Report, reborn bool) {
	if len(h.leases)+len(h.coming) == 0 {
		return
	}
	listed := listedIn(told)
	lacks := func(l *lease) bool { return !listed.has(l.taskID(), l.attempt) }
	if slices.ContainsFunc(h.leases, lacks) { // mostly it has all
		for _, l := range slices.Clone(h.leases) {
			young := r.c.now.Before(l.start.Add(2 * r.c.cfg.ReportEvery))
			if (!young || reborn) && l.is(leasing.Expires) && lacks(l) {
				if l.is(leasing.Hearsay) && !l.diedWithWorker() {
					l.take(leasing.Unstarts) // it never did there, or what it did was told to a leader before
				}
				r.giveUp(l, "lost", "the worker does not have it any more")
			}
		}
	}
	r.c.transfers.missingAhead(h, reborn, &listed)
}

// fewListed is up to how many attempts a report is searched for one: of more a set is made.
const fewListed = 8

// A listing says which attempts a report names.
type listing struct {
	told *message.Report
	set  map[message.AttemptName]bool // nil where they are few
}

// listedIn returns the listing of a report.
func listedIn(told *message.Report) listing {
	if len(told.Held)+len(told.Ended) <= fewListed {
		return listing{told: told}
	}
	set := make(map[message.AttemptName]bool, len(told.Held)+len(told.Ended))
	for i := range told.Held {
		set[message.AttemptName{Task: told.Held[i].Task, Attempt: told.Held[i].Attempt}] = true
	}
	for i := range told.Ended {
		set[message.AttemptName{Task: told.Ended[i].Result.Task, Attempt: told.Ended[i].Attempt}] = true
	}
	return listing{told, set}
}

// has reports whether the report names an attempt.
func (l *listing) has(id task.TaskID, a message.Attempt) bool {
	if l.set != nil {
		return l.set[message.AttemptName{Task: id, Attempt: a}]
	}
	for i := range l.told.Held {
		if h := &l.told.Held[i]; h.Attempt == a && h.Task == id {
			return true
		}
	}
	for i := range l.told.Ended {
		if e := &l.told.Ended[i]; e.Attempt == a && e.Result.Task == id {
			return true
		}
	}
	return false
}

// takeRefusal takes a lease back unrun.
func (r *reports) takeRefusal(h *host, refusal *message.Refusal) {
	j := r.current(refusal.Task)
	if j == nil {
		return
	}
	if r.c.transfers.refusedAhead(j, h, refusal) {
		return
	}
	l := leaseOf(j, h, refusal.Task.Index, refusal.Attempt)
	if l == nil || !l.is(leasing.Open) {
		return
	}
	l.take(leasing.Unstarts) // whatever was supposed: only what has not started is refused
	if l.is(leasing.AskedBack) || refusal.Reason == message.DropRecall {
		r.giveUp(l, "superseded", message.DropRecall)
		return
	}
	if l.is(leasing.Moves) {
		r.c.transfers.refusedMove(l)
		return
	}
	r.c.members.pauseJob(h, j, refusal.RetryAfter, task.ClipMessage("it refused: "+refusal.Reason))
	r.giveUp(l, "refused", task.ClipMessage(refusal.Reason))
}

// ended takes in a result. It is acknowledged once it is durable, or of no use.
func (r *reports) ended(h *host, e *message.Ending) {
	result := &e.Result
	if result.Worker != h.peer {
		return
	}
	if !e.Unproven {
		r.c.term.neverGiven(h.peer, e.Attempt)
	}
	j := r.current(result.Task)
	if j == nil {
		if r.knowsAll() {
			r.thank(h, e)
		}
		return
	}
	if e.Unproven { // while it may be of a leader that is still to be heard of, it is to be told again
		if r.knowsAll() {
			r.thank(h, e)
			r.c.decided(result.Task, "refused", h.peer, message.DropUnproven)
		}
		return
	}
	i := result.Task.Index
	if ahead := j.movingTo(h, i, e.Attempt); ahead != nil {
		r.c.transfers.arrivedAt(ahead) // it has run there
	}
	l := leaseOf(j, h, i, e.Attempt)
	if l != nil {
		r.c.transfers.settleOrphan(l)
		l.begins(e, r.c.now)
		if result.Outcome != task.Interrupted && result.Outcome != task.HostError {
			r.c.chunks.ranOne(l)
		}
	}
	if e.Handed != nil && (l == nil || l.is(leasing.Open)) && r.c.transfers.handedOver(h, j, l, e) {
		return
	}
	if l == nil && result.Outcome == task.Interrupted && r.c.table.fetches[stateKey(result.Task, e.Attempt)] != nil {
		return // it is repeated; until then its worker keeps the state
	}
	if l != nil && !l.is(leasing.Open) {
		if l.take(leasing.Fetches) { // else that is under way
			r.fetchOutputs(l)
		}
		return
	}
	r.count(h, j, l, e)
}

// count has a result that was not heard before count, once all that it names is held here.
func (r *reports) count(h *host, j *job, l *lease, e *message.Ending) {
	result, i := &e.Result, e.Result.Task.Index
	if j.state != jobOpen || j.ledger.Verdict(i) != ledger.Open || j.hasEnd(i, e.Attempt) {
		known := j.hasEnd(i, e.Attempt) // and counted
		if l != nil {
			l.take(leasing.Unstarts) // nothing is to be estimated
			r.c.removeLease(l, result.Outcome.String(), "the result was known")
			r.waitAgain(j, i)
		}
		if !known {
			r.tooLate(j, e)
		}
		r.thank(h, e)
		return
	}
	if j.isRefused(h) { // the submitter would reject the result, and the worker could repeat it forever
		r.thank(h, e)
		r.c.decided(result.Task, "refused", h.peer, message.DropRefused)
		if l != nil {
			r.giveUp(l, "refused", message.DropRefused)
		}
		return
	}
	if err := r.vet(j, e); err != nil {
		r.spoiled(h, j, l, e, err.Error())
		return
	}
	switch readBy(j, result) {
	case readOther:
		r.misread(h, j, l, e)
		return
	case readUnknown: // its worker tells it again
		return
	}
	if r.c.transfers.awaitsState(l, result) {
		r.c.unload(l, leasing.Brings)
		l.ending = e
		r.c.members.touchHost(h)
		return
	}
	if result.Outcome != task.Completed || len(message.RemoteOutputs(result)) == 0 {
		r.accept(h, j, l, e)
		return
	}
	if l == nil {
		l = r.adopt(j, h, i, e.Attempt, e)
	} else {
		r.c.unload(l, leasing.Fetches)
		l.ending = e
		r.c.transfers.freeMove(l)
		r.c.members.touchHost(h)
	}
	r.fetchOutputs(l)
}

// vet refuses a result that is not signed, has outputs that the job does not ask for, or that
// the row of its task has no room for. What this node's own worker signed comes from nowhere else.
func (r *reports) vet(j *job, e *message.Ending) error {
	if !e.Signed && e.Result.Worker != r.c.self {
		if err := e.Result.Verify(); err != nil {
			return err
		}
	}
	if err := j.spec.CheckResult(&e.Result); err != nil {
		return err
	}
	if !j.row(e.Result.Task.Index).HasRoom(&e.Result, j.ledger.Rule()) {
		return errors.New("the ledger has no room for another result of the task")
	}
	return nil
}

// fetchOutputs brings the outputs of a lease's result here before it counts:
// a result must not vanish with its worker.
func (r *reports) fetchOutputs(l *lease) {
	key := durable.TaskKey(coordinatorPrefix+"o/", l.taskID()) + "/" + strconv.FormatUint(l.attempt.Epoch, 10) + "." +
		strconv.FormatUint(l.attempt.Seq, 10)
	r.c.table.fetch(&fetching{key: key, job: l.job, lease: l}, message.RemoteOutputs(&l.ending.Result),
		[]task.PeerID{l.host.peer})
}

// spoiled ends an attempt whose result is no good.
func (r *reports) spoiled(h *host, j *job, l *lease, e *message.Ending, why string) {
	r.thank(h, e)
	r.c.members.belied(h)
	r.c.members.pauseJob(h, j, r.c.cfg.RefusalPause, why)
	if l != nil {
		r.giveUp(l, "refused", why)
	}
}

// maxFetches is how often the outputs of one result are fetched before the
// task is rather run again. The worker's reports space the tries.
const maxFetches = 5

// outputsFetched goes on with a result whose outputs are here, or could not be
// had. In the latter case the worker, if it still is there, reports the result
// again, and it is tried again.
func (r *reports) outputsFetched(l *lease, failure string) {
	if t := l.job.live[l.task.index]; t == nil || !slices.Contains(t.leases, l) {
		return // the task ended in the meantime
	}
	e := l.ending
	if failure != "" {
		l.fails++
		if here := r.c.members.hosts[l.host.peer] == l.host; here && l.fails < maxFetches {
			l.take(leasing.Stalls)
			l.expires = r.c.now.Add(r.c.cfg.LeaseTTL)
			r.c.members.alarm(l.host, l.expires)
			return
		}
		r.spoiled(l.host, l.job, l, e, task.ClipMessage("fetching the outputs failed: "+failure))
		return
	}
	r.accept(l.host, l.job, l, e)
}

// accept makes a result a fact and draws the conclusion.
func (r *reports) accept(h *host, j *job, l *lease, e *message.Ending) {
	i, result := e.Result.Task.Index, &e.Result
	row := j.row(i)
	if !row.AddResult(e.Attempt, *result) && result.Outcome == task.Completed && j.replicated() {
		r.c.members.pauseJob(h, j, r.c.cfg.RefusalPause, "it answers with a result that is known, before it may run anew")
	}
	sealed := l != nil && l.move != nil && result.Outcome == task.Interrupted && l.savedAll()
	gone := r.c.transfers.departs(l, result)
	if l != nil {
		l.result = result
	}
	switch {
	case gone != nil:
		r.c.removeLease(l, ledger.Moved, gone.why)
		j.migrations++
		r.c.transfers.leaseThere(j, i, gone)
	case l != nil:
		r.c.removeLease(l, result.Outcome.String(), cmp.Or(result.Message, l.reason))
	default:
		r.note(j, i, unleased(row, h.peer, e, r.c.now))
	}
	if result.Outcome == task.Completed {
		learnTimes(j, i, l, result)
		r.c.learnt.learnFrom(j, h, l, result)
		if l != nil {
			r.c.members.showed(h)
		}
	}
	r.conclude(j, i, row)
	r.c.table.persistRow(j, i)
	if n := (message.HoldName{Task: result.Task, Kind: message.HoldOutputs}); len(message.RemoteOutputs(result)) > 0 &&
		r.c.hasBlocks(n) {
		r.c.replicas.Hold(n, true)
	}
	r.thank(h, e)
	switch {
	case gone != nil:
		r.c.members.pauseJob(h, j, r.c.cfg.RefusalPause, "a task of the job has just moved away from there")
	case sealed: // its member did as it was told
	case result.Outcome == task.Interrupted || result.Outcome == task.HostError:
		r.c.members.pauseJob(h, j, r.c.cfg.RefusalPause, "the last task of the job ended there as "+result.Outcome.String())
	}
	r.c.touch(j)
	r.c.table.endIfOver(j)
}

// conclude ends a task whose results say so, and lets it wait for another run
// otherwise.
func (r *reports) conclude(j *job, i uint64, row *ledger.Row) {
	id := task.TaskID{Job: j.id, Index: i}
	switch row.Verdict(j.ledger.Rule()) {
	case ledger.Open:
		r.endDependent(j, i, row)
		r.waitAgain(j, i)
		return
	case ledger.Done:
		j.done++
		r.c.decided(id, "done", "", "")
	case ledger.Failed:
		j.failed++
		r.c.decided(id, "failed", "", row.Why(j.ledger.Rule()))
	}
	r.c.endLeases(j, i, message.DropSuperseded)
	useful, wasted := costOfResults(row)
	j.took(useful, wasted)
	j.ready = append(j.ready, i)
	r.c.table.settle(j, i)
}
