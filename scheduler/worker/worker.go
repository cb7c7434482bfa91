// Package worker is the machine that runs tasks for whoever leads an overlay: it takes
// leases, says what came of them, and keeps results until a leader has them.
package worker

import (
	"slices"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/timer"
	"godwit/task"
)

// maxHeld bounds the leases that a worker takes: slots, and tasks ahead.
const maxHeld = overlay.MaxSlots + 1024

// A Worker runs tasks for the leader of an overlay. It obeys one leader at a
// time, and never a lower epoch than it has seen. It keeps results, over
// restarts, until a leader has made them durable.
type Worker struct {
	unsaid bool  // a lease has a checkpoint that was not reported
	born   int64 // time of the first Step; see Report.Born
	self   task.PeerID
	timing message.Timing
	cfg    Config
	leader task.PeerID
	epoch  uint64 // highest seen
	owner  message.OwnerState

	jobs    map[task.JobID]*workerJob
	held    map[task.TaskID]*heldLease
	queue   []*heldLease // of held, those not started, by attempt
	running int          // of held, those started; started+queued = len(held)
	memory  int64        // that the running ones may need together

	endings      []*unacked // oldest first
	kept         int        // of endings, the first so many are durable here
	unackedBytes int64      // sum of endings' bytes
	spoiled      []string   // durable keys that Restore could not read

	refusals []message.Refusal // to be sent with the next report
	unmoved  []message.Unmoved // likewise
	orphans  []arrivedState    // oldest first
	untold   int               // of endings, those since the last report
	toTell   time.Time         // until when they may be held back; zero for not at all
	lastEnd  time.Time         // when the last task ended
	greeted  bool              // the leader has acknowledged a report of ours
	urgent   bool              // a full report is due at once
	reported time.Time         // last full report
	timers   timer.Queue[task.JobID]
	now      time.Time
	effects  []message.Effect
}

// A workerJob is a job that this worker was given tasks of.
type workerJob struct {
	id       task.JobID
	spec     *task.Job // nil until prepared
	leases   int       // of held
	idle     time.Time // since when leases is 0
	released bool
}

// A heldLease is a lease that has not ended.
type heldLease struct {
	task    task.TaskID
	attempt message.Attempt // the newest that names it
	started message.Attempt // the one it was started as, by which Ended names it
	job     *workerJob
	from    *message.Checkpoint // state it begins with; nil for none
	left    time.Duration       // work from there to its end, as its lease says; 0 unknown
	holders []task.PeerID       // of from
	saved   *message.Checkpoint // the newest taken here; nil for none
	told    bool                // saved has been reported
	taken   time.Time           // here
	begun   time.Time           // its guest was to run; zero before
	running bool
	dropped bool // stopped by the leader: its end is news only if it completed
	moving  bool // stopped by the leader, with its state
	fixed   bool // its state cannot be saved

	// As the destination of a hand-over. While expected, running says that it has
	// its slot: the guest does not run yet.
	await    *message.Await  // who brings its state; nil if it starts by itself, or has arrived
	after    message.Attempt // that was handed over to it; zero for none
	expected bool            // Expect was not answered
	back     string          // why it is given back once it is not expected any more
	next     *message.Lease  // to be taken then; nil for none
	// As the source of one.
	going   *message.MoveOrder // under way; nil for none
	unmoved *message.Unmoved   // the last that came to nothing; nil for none
}

// New returns a worker that has no leader and no slots: LeaderChanged
// and OwnerState give it both. timing and cfg must be valid.
func New(self task.PeerID, timing message.Timing, cfg Config) *Worker {
	return &Worker{
		self: self, timing: timing, cfg: cfg,
		owner: message.OwnerState{State: overlay.Unavailable, Reason: "the node is starting"},
		jobs:  map[task.JobID]*workerJob{}, held: map[task.TaskID]*heldLease{},
	}
}

// Step advances the machine; now never decreases. It keeps neither ev nor the
// returned slice.
func (w *Worker) Step(now time.Time, ev message.Event) []message.Effect {
	w.now, w.effects = now, nil
	if w.born == 0 {
		w.born = now.UnixNano()
		w.deleteSpoiled()
	}
	switch ev := ev.(type) {
	case message.Received:
		w.receive(ev.From, &ev.Message)
	case message.LeaderChanged:
		w.follow(ev)
	case message.Prepared:
		w.prepared(ev)
	case message.Ended:
		w.ended(ev)
	case message.Arrived:
		w.arrived(ev)
	case message.NotArrived:
		w.notArrived(ev)
	case message.NotHanded:
		w.notHanded(ev)
	case message.Checkpointed:
		w.checkpointed(ev)
	case message.NotSaved:
		w.notSaved(ev)
	case message.OwnerState:
		w.ownerChanged(ev)
	}
	w.releaseIdle()
	w.startQueued()
	w.report()
	w.keepUnacked()
	return w.effects
}

// NextWake says when time alone will make the worker do something.
func (w *Worker) NextWake() (time.Time, bool) {
	at, ok := w.timers.Next()
	at, ok = timer.Earlier(at, ok, w.nextReport(), w.leader != "")
	due, keep := w.nextKeep()
	at, ok = timer.Earlier(at, ok, due, keep)
	return timer.Earlier(at, ok, w.toTell, w.leader != "" && w.untold > 0 && !w.toTell.IsZero())
}

// Leader returns whom the worker obeys, and the highest epoch it has seen.
func (w *Worker) Leader() (task.PeerID, uint64) { return w.leader, w.epoch }

// Leases returns how many leases it has that have not ended.
func (w *Worker) Leases() int { return len(w.held) }

// Load returns how many leases it runs, how many wait for a slot here, and how
// many results no leader has acknowledged.
func (w *Worker) Load() (running, queued, unacked int) {
	return w.running, len(w.queue), len(w.endings)
}

func (w *Worker) emit(e message.Effect) { w.effects = append(w.effects, e) }

func (w *Worker) receive(from task.PeerID, m *message.Message) {
	if from != w.leader {
		return
	}
	switch {
	case m.Place != nil && m.Place.Epoch >= w.epoch:
		w.epoch = m.Place.Epoch
		w.place(m.Place)
	case m.Ack != nil && m.Ack.Epoch >= w.epoch:
		w.epoch = m.Ack.Epoch
		w.acknowledged(m.Ack)
	}
}

// follow obeys a leader. A new term gets a full report, from which the leader
// learns what runs here. A leader of an older term than was seen gets one too:
// it has lost its disk, learns from the report's epoch what it must outrun, and
// until then none of its leases is taken.
func (w *Worker) follow(ev message.LeaderChanged) {
	if ev.Leader == w.leader && ev.Epoch <= w.epoch {
		return
	}
	w.leader, w.epoch = ev.Leader, max(w.epoch, ev.Epoch)
	w.greeted, w.urgent = false, w.leader != ""
	for _, u := range w.endings {
		u.sent = time.Time{}
	}
}

// place takes leases. The job of the first is prepared once for all.
func (w *Worker) place(p *message.Place) {
	done := w.completed()
	for _, l := range p.Leases {
		h := w.held[l.Task]
		reason, retry := w.cannotTake()
		switch {
		case w.renewed(done, &l):
		case h != nil && h.awaits():
			w.instead(h, &l, p.Holders[l.Task.Job])
		case h != nil && w.owner.Slots > 0:
			w.renumber(h, l.Attempt)
		case reason != "":
			w.refuse(l.Task, l.Attempt, reason, retry)
		default:
			w.take(&l, p.Holders[l.Task.Job])
		}
	}
}

// take queues a lease that is new here.
func (w *Worker) take(l *message.Lease, holders []task.PeerID) {
	j := w.job(l.Task.Job, holders)
	h := &heldLease{task: l.Task, attempt: l.Attempt, job: j, from: l.From, left: l.Left, holders: holders,
		await: l.Await, taken: w.now}
	if l.Await != nil {
		h.after = l.Await.Attempt
	}
	j.leases++
	w.held[l.Task] = h
	w.enqueue(h)
}

// cannotTake says why a lease is refused, or "", and when to try again.
func (w *Worker) cannotTake() (reason string, retry time.Duration) {
	switch reason := w.tooMuchKept(); {
	case w.owner.Slots <= 0:
		return ownerReason(w.owner), w.ownerRetry()
	case reason != "":
		return reason, w.timing.RefusalPause
	case len(w.held) >= maxHeld:
		return "the worker holds as many tasks as it can", w.timing.RefusalPause
	}
	return "", 0
}

// ownerRetry is when to ask again while the owner allows nothing: at the end of
// the state, if it is known, but not so late that an owner who changes his mind
// is not noticed.
func (w *Worker) ownerRetry() time.Duration {
	if left := w.owner.Until.Sub(w.now); left > 0 {
		return min(left, w.timing.RetryMax)
	}
	return w.timing.RefusalPause
}

func ownerReason(o message.OwnerState) string {
	if o.Reason != "" {
		return o.Reason
	}
	return "the member is " + o.State.String()
}

// renumber takes over a later attempt of a task that is here already, so that
// it need not be run twice. The same attempt again changes nothing.
func (w *Worker) renumber(h *heldLease, a message.Attempt) {
	if !h.attempt.Less(a) {
		return
	}
	h.attempt, h.dropped = a, false
	if !h.running {
		w.unqueue(h)
		w.enqueue(h)
	}
	w.urgent = true
}

func (w *Worker) enqueue(h *heldLease) {
	i, _ := slices.BinarySearchFunc(w.queue, h.attempt,
		func(q *heldLease, a message.Attempt) int { return q.attempt.Compare(a) })
	w.queue = slices.Insert(w.queue, i, h)
}

func (w *Worker) unqueue(h *heldLease) {
	if i := slices.Index(w.queue, h); i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	}
}

// job returns the job, and has it prepared if it is new.
func (w *Worker) job(id task.JobID, holders []task.PeerID) *workerJob {
	j := w.jobs[id]
	if j == nil {
		j = &workerJob{id: id}
		w.jobs[id] = j
		w.emit(message.Prepare{Job: id, Holders: slices.Clone(holders)})
	}
	return j
}

// prepared lets the job's leases start, or gives them back.
func (w *Worker) prepared(ev message.Prepared) {
	j := w.jobs[ev.ID]
	if j == nil || j.spec != nil {
		return
	}
	if ev.Err == "" && ev.Job != nil {
		j.spec = ev.Job
		w.idleSince(j)
		return
	}
	for _, h := range slices.Clone(w.queue) {
		if h.job == j {
			w.giveBack(h, "preparing the job failed: "+ev.Err, w.timing.RefusalPause)
		}
	}
	delete(w.jobs, j.id)
}

// startQueued starts what slots and memory allow, oldest attempt first. A job
// that is still being prepared does not hold up another.
func (w *Worker) startQueued() {
	if reason := w.tooMuchKept(); reason != "" {
		for _, h := range slices.Clone(w.queue) {
			w.giveBack(h, reason, w.timing.RefusalPause)
		}
		return
	}
	kept := w.queue[:0]
	for _, h := range w.queue {
		if w.running >= w.owner.Slots || !w.startable(h) {
			kept = append(kept, h)
			continue
		}
		h.running, h.started = true, h.attempt
		w.running++
		w.memory += h.job.spec.Memory
		if a := h.await; a != nil {
			h.expected = true
			w.emit(message.Expect{Task: h.task, Attempt: h.attempt, From: a.Worker, FromAttempt: a.Attempt, Holders: h.holders,
				Left: h.left})
			continue
		}
		h.begun = w.now
		w.emit(message.Start{Task: h.task, Attempt: h.attempt, From: h.from, Holders: h.holders, Left: h.left})
	}
	clear(w.queue[len(kept):])
	w.queue = kept
}

func (w *Worker) startable(h *heldLease) bool {
	return h.job.spec != nil && (w.owner.Memory == 0 || w.memory+h.job.spec.Memory <= w.owner.Memory)
}

// ended takes the result of a started attempt and reports it.
func (w *Worker) ended(ev message.Ended) {
	h := w.held[ev.Task]
	if h == nil || !h.running || h.started != ev.Attempt {
		return
	}
	w.running--
	w.memory -= h.job.spec.Memory
	w.forget(h)
	if h.dropped && ev.Result.Outcome != task.Completed {
		w.urgent = true // its slot is free
		return
	}
	u := newUnacked(message.Ending{Attempt: h.attempt, Result: ev.Result, Handed: h.handedOver(&ev)}, w.now)
	u.taken, u.begun = h.taken, h.begun
	if ev.Result.Outcome != task.Completed && u.ending.Handed == nil {
		u.saved, u.took = h.newest(), h.saved
	}
	w.add(u)
	w.mayWait(u)
}

// forget takes a lease out of held.
func (w *Worker) forget(h *heldLease) {
	delete(w.held, h.task)
	h.job.leases--
	w.idleSince(h.job)
}

// giveBack refuses a lease that has not started.
func (w *Worker) giveBack(h *heldLease, reason string, retry time.Duration) {
	w.unqueue(h)
	w.forget(h)
	w.refuse(h.task, h.attempt, reason, retry)
}

func (w *Worker) refuse(id task.TaskID, a message.Attempt, reason string, retry time.Duration) {
	w.refusals = append(w.refusals, message.Refusal{Task: id, Attempt: a, Reason: task.ClipMessage(reason),
		RetryAfter: retry})
}

// ownerChanged obeys the machine's owner before anybody else: with no slots
// left, what has not started is given back at once.
func (w *Worker) ownerChanged(o message.OwnerState) {
	o.Slots = min(max(o.Slots, 0), overlay.MaxSlots)
	before := w.owner
	before.Until = o.Until       // of which the leader is not told
	before.Withheld = o.Withheld // and of which it is told in time
	w.owner = o
	if o == before {
		return
	}
	w.urgent = true
	if o.Slots > 0 {
		return
	}
	for _, h := range slices.Clone(w.queue) {
		w.giveBack(h, ownerReason(o), w.ownerRetry())
	}
}

// acknowledged forgets what the leader has made durable and ends what it drops.
func (w *Worker) acknowledged(a *message.Ack) {
	w.greeted = true
	if len(a.Ended) > 0 {
		durable := make(map[message.AttemptName]bool, len(a.Ended))
		for _, n := range a.Ended {
			n.Reason = ""
			durable[n] = true
		}
		w.forgetEndings(func(u *unacked) bool {
			return durable[message.AttemptName{Task: u.ending.Result.Task, Attempt: u.ending.Attempt}]
		})
	}
	for _, n := range a.Drop {
		w.drop(n)
	}
	for i := range a.Moves {
		w.moveTo(&a.Moves[i])
	}
}

func (w *Worker) drop(n message.AttemptName) {
	h := w.held[n.Task]
	switch {
	case h == nil || h.attempt != n.Attempt || h.dropped:
	case !h.running && (n.Reason == message.DropRecall || n.Reason == message.DropMoved):
		w.giveBack(h, n.Reason, w.timing.RefusalPause) // the leader waits for the word that it did not start
	case !h.running:
		w.unqueue(h)
		w.forget(h)
	case h.expected && n.Reason == message.DropMoved:
		w.stopExpecting(h, n.Reason)
	case n.Reason == message.DropRecall: // too late: it runs
		w.urgent = true
	case n.Reason == message.DropMoved:
		w.move(h)
	default:
		h.dropped = true
		w.emit(message.Stop{Task: h.task, Attempt: h.started, Reason: n.Reason})
	}
}

// move stops a lease with its state. It is held, and reported, until its end.
func (w *Worker) move(h *heldLease) {
	switch {
	case h.fixed:
		w.urgent = true
	case !h.moving:
		h.moving = true
		w.emit(message.Stop{Task: h.task, Attempt: h.started, Reason: message.DropMoved, Save: true})
	}
}

// notSaved notes that a lease's state cannot be saved, and tells the leader if
// that waits for it.
func (w *Worker) notSaved(ev message.NotSaved) {
	h := w.held[ev.Task]
	if h == nil || !h.running || h.started != ev.Attempt {
		return
	}
	w.urgent = w.urgent || h.moving || h.going != nil
	h.fixed, h.moving, h.going = true, false, nil
}

func (w *Worker) idleSince(j *workerJob) {
	if j.leases == 0 {
		j.idle = w.now
		w.timers.Set(w.now.Add(w.cfg.KeepJob), j.id)
	}
}

// releaseIdle lets go of jobs that had no task here for long.
func (w *Worker) releaseIdle() {
	for {
		id, ok := w.timers.Due(w.now)
		if !ok {
			return
		}
		j := w.jobs[id]
		if j != nil && j.spec != nil && j.leases == 0 && !w.now.Before(j.idle.Add(w.cfg.KeepJob)) {
			delete(w.jobs, id)
			w.emit(message.Release{Job: id})
		}
	}
}
