package scheduler

import (
	"slices"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A lease is one attempt given to a host, from when it is given until its result is
// accepted or it is given up. Package leasing has its states.
type lease struct {
	job     *job
	task    *liveTask
	attempt message.Attempt
	host    *host
	state   leasing.State // only take changes it
	start   time.Time
	shown   grant
	expires time.Time
	reason  string   // why there
	portion *portion // of the chunk that it was given in; nil for none, and when its run is over

	ending *message.Ending // its result, when its run is over
	fails  int             // how often the outputs could not be fetched
	result *task.Result    // its result, when it counts; nil before
	lag    time.Duration   // AttemptLog's
	saved  savedStates

	move    *move       // the order to go elsewhere; nil for none
	movedTo task.PeerID // where it went
	tries   handOvers   // to hand it over that failed
	fixed   bool        // its worker cannot save it
	stay    obstacle    // why it stays though it should move
	seen

	// after is the attempt that was handed over to it; zero for none. While it awaits
	// that, arriveBy is until when: see orphan.
	after    message.Attempt
	arriveBy time.Time

	// patience is how long it may take, by the placement policy's, from its start on;
	// 0 is forever. stoodBefore is how long its host had stood still, in all, then.
	patience    time.Duration
	stoodBefore time.Duration
}

// A seen is what the leader makes of a lease by what it has seen.
type seen struct {
	begun   bool      // it has a slot of its member's, or had one: see begun.go
	slotAt  time.Time // it got that slot after it had waited for one; zero if it did not wait
	doubted bool      // its task is run elsewhere as well: see doubts.go
}

// A grant is what the worker of a lease can show.
type grant struct {
	since   int64         // when the first lease was given that it goes on with, in Unix ms; 0 unknown
	receipt *task.Receipt // that this coordinator signed with it; nil for none
	reads   []byte        // names what its worker was told to read, where that is checked; nil for not known
}

// savedStates are the states of a lease's guest that were saved.
type savedStates struct {
	// from is the checkpoint that it was given to go on from; nil for none. began and
	// base are the fuel, and the CPU time, that the state stands for that it began with.
	from  *message.Checkpoint
	began uint64
	base  time.Duration
	line  lineage // of a task that has replicas

	fetching uint64              // fuel of the checkpoint being fetched from its worker; 0 for none
	next     *message.Checkpoint // to be fetched after that; nil for none
	told     uint64              // fuel of the newest that its worker named; 0 for none
	refused  uint64              // fuel of one that was not believed; 0 for none

	// heldAt is when the newest that is held here was asked for, zero for none, and asked
	// when the one being fetched was. stood is how long its host had stood still, in all,
	// at heldAt, or when the lease was given if that is zero; askedStood at asked.
	heldAt, asked     time.Time
	stood, askedStood time.Duration
}

// handOvers are those of a lease that failed: how many, the attempt of the last, and
// when the next may begin.
type handOvers struct {
	failed    int
	last      message.Attempt
	notBefore time.Time
}

// An obstacle is why a lease stays that should move: in full, "" if it need not move,
// and what of that stands in the way; listed says that it is in migration.stays.
type obstacle struct {
	why, but string
	listed   bool
}

// is reports whether all of the traits hold of the lease.
func (l *lease) is(t leasing.Trait) bool { return l.state.Is(t) }

// take has an event happen to the lease, and reports whether it could. It is the one
// place where a lease changes its state.
func (l *lease) take(e leasing.Event) bool {
	to := l.state.Next(e)
	if to == leasing.Refused {
		return false
	}
	if l.is(leasing.AskedBack) {
		l.host.recalls--
	}
	if l.state = to; l.is(leasing.AskedBack) {
		l.host.recalls++
	}
	if e == leasing.Starts && slices.Contains(l.host.leases, l) {
		l.leavesAhead()
	}
	return true
}

// isOpen reports whether its run is not over.
func (l *lease) isOpen() bool { return l.is(leasing.Open) }

func (l *lease) taskID() task.TaskID { return task.TaskID{Job: l.job.id, Index: l.task.index} }

// log is the lease as its task's row notes it, while it lives.
func (l *lease) log() message.AttemptLog {
	a := message.AttemptLog{Attempt: l.attempt, Worker: l.host.peer, Start: task.At(l.start), Reason: l.reason,
		MovedTo: l.movedTo}
	a.From, a.Saved, a.Lag = l.saved.began, l.saved.base, l.lag
	return a
}

// addLease books a lease and notes it in the task's row.
func (c *Coordinator) addLease(j *job, h *host, i uint64, a message.Attempt, reason string,
	ending *message.Ending) *lease {
	return j.startOf(i, a, h.peer, ending).book(c, j, h, i, a, reason, ending)
}

// book is addLease, of one that begins so.
func (s start) book(c *Coordinator, j *job, h *host, i uint64, a message.Attempt, reason string,
	ending *message.Ending) *lease {
	t := j.live[i]
	if t == nil {
		t = &liveTask{index: i}
		j.live[i] = t
		j.ahead++
	}
	l := &lease{
		job: j, task: t, attempt: a, host: h, state: leasing.Placed,
		start: c.now, expires: c.now.Add(c.cfg.LeaseTTL), reason: reason,
		ending: ending, saved: savedStates{from: s.from, line: s.line, stood: h.stoodBy(c.now)},
		stoodBefore: h.stoodBy(c.now),
	}
	if ending != nil {
		l.state = leasing.Fetching
	} else if j.replicated() && (s.from == nil || len(s.from.With) > 0) {
		j.meetings[i].forget(h.peer)
	}
	t.leases = append(t.leases, l)
	c.leaseChanged(j, i)
	row := j.row(i)
	again := c.reports.beganAt(l, row)
	n := len(row.Log)
	if rerun := n > 0 && row.Log[n-1].Outcome != ledger.Moved; row.Note(l.log()) && rerun && !again {
		j.reruns++
	}
	c.attach(l)
	c.touch(j)
	return l
}

// attach books a new lease on its host.
func (c *Coordinator) attach(l *lease) {
	c.members.given++
	l.host.leases = append(l.host.leases, l)
	if l.is(leasing.Open) {
		l.host.load++
		l.host.memoryUsed += l.memory()
		c.claims.holds(l.job, l.host, 1)
		c.members.alarm(l.host, l.expires)
	}
	l.attached()
	c.members.settleHost(l.host)
}

// detach takes a lease off its host, which may then take another.
func (c *Coordinator) detach(l *lease) {
	h := l.host
	if i := slices.Index(h.leases, l); i >= 0 {
		h.leases = slices.Delete(h.leases, i, i+1)
		c.members.given--
	}
	c.unload(l, leasing.Ends)
	l.detached()
	c.members.touchHost(h)
}

// unload frees the slot of a lease whose run is over by an event, which happens to it.
func (c *Coordinator) unload(l *lease, over leasing.Event) {
	c.chunks.cameBack(l)
	if l.is(leasing.Open) {
		l.host.load--
		l.host.memoryUsed -= l.memory()
		c.claims.holds(l.job, l.host, -1)
	}
	l.leavesAhead()
	l.take(over)
}

// removeLease takes a lease off the books and notes how it ended.
func (c *Coordinator) removeLease(l *lease, outcome, reason string) {
	j, t := l.job, l.task
	c.leaseChanged(j, t.index)
	c.transfers.freeMove(l)
	if k := slices.Index(t.leases, l); k >= 0 {
		t.leases = slices.Delete(t.leases, k, k+1)
	}
	if len(t.leases) == 0 {
		delete(j.live, t.index)
	}
	if !l.is(leasing.Awaits) { // else it was none yet
		log := l.log()
		log.End, log.Outcome, log.Reason = task.At(c.now), outcome, reason
		log.CPU, log.Lost = c.reports.spent(l, l.result, outcome)
		c.reports.note(j, t.index, log)
	}
	c.detach(l)
	if len(t.leases) == 0 {
		j.ahead--
	}
	c.touch(j)
}

// endLeases ends every lease of a task that is over.
func (c *Coordinator) endLeases(j *job, i uint64, reason string) {
	delete(j.meetings, i)
	t := j.live[i]
	if t == nil {
		return
	}
	for _, l := range slices.Clone(t.leases) {
		if l.is(leasing.Open) {
			c.outbox.drop(l.host.peer, l.taskID(), l.attempt, reason)
		}
		c.removeLease(l, "superseded", reason)
	}
}

// leaseChanged has followers told who runs a task.
func (c *Coordinator) leaseChanged(j *job, i uint64) {
	takes, known := j.durationOf(i)
	c.replicas.LeaseChanged(task.TaskID{Job: j.id, Index: i}, takes, known)
}

// movingTo returns the lease that is being handed over to the host as that
// attempt, or nil.
func (j *job) movingTo(h *host, i uint64, a message.Attempt) *lease {
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			if m := l.move; m != nil && m.to == h && m.handsOver() && m.as == a {
				return l
			}
		}
	}
	return nil
}

// leaseAt returns the lease of that attempt, wherever it is, or nil.
func (j *job) leaseAt(i uint64, a message.Attempt) *lease {
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			if l.attempt == a {
				return l
			}
		}
	}
	return nil
}

// A move is a running task on its way to another member, where a slot is kept for
// it. Between workers that both can, it is handed over while it runs: see
// handovers.go. Otherwise its worker is told to stop it with its state;
// it is leased to the destination from that state, when the worker has answered
// and the state is held here. Until then the lease is as any other: if the task
// completes, that counts, and if its worker is lost, the task waits again. A
// move is in memory alone: followers hear of hand-overs, and the next leader sees
// what the workers report.
type move struct {
	to    *host     // whose slot is kept; nil when it is gone, or nobody takes the task
	why   string    // it leaves
	there string    // why to there
	by    time.Time // when its worker must have answered
	// as is the destination's attempt in a hand-over; zero where there is none.
	as      message.Attempt
	begun   time.Time
	awaited bool // the destination has said that it waits for it
	// root is the root of the task's line, and line what that is at the destination of a
	// hand-over; empty before the move is taken off its lease.
	root task.PeerID
	line lineage
}

func (m *move) handsOver() bool { return m.as != (message.Attempt{}) }
