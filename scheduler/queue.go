package scheduler

import (
	"math"
	"slices"

	"godwit/internal/heap"
	"godwit/scheduler/place"
	"godwit/task"
)

// waiting are a job's waiting tasks: those never touched, as a cursor over the
// sweep, and those that came back, in a heap. A sweep is never listed.
type waiting struct {
	cursor uint64          // the first that was never taken; total at the end
	back   []uint64        // ordered byIndex
	queued map[uint64]bool // what back has, and released
	// released are tasks of a job with stages that were never taken and may run, in the order of back;
	// end is where the cursor stops: with stages those come then that read others.
	released []uint64
	end      uint64
}

// nextInTurn is the job that a round begins with; the queue must not be empty.
func (cs *claims) nextInTurn() *job { return cs.queue.items[0].top() }

// enqueue puts a job with waiting tasks in the queue.
func (cs *claims) enqueue(j *job) {
	if j.queued || j.state != jobOpen || !j.hasWaiting() || !j.askedUntil.IsZero() || j.divided ||
		j.ledger.Facts.IsEnding() {
		return
	}
	j.queued, j.unserved = true, cs.c.now
	cs.joins(j)
	cs.sumUp(j)
	cs.byClass.add(j)
}

// joins has a job's claimant claim for it.
func (cs *claims) joins(j *job) {
	cl := cs.claimOf(j)
	cl.jobs.push(j)
	if cl.place < 0 {
		cs.queue.push(cl)
	} else {
		cs.queue.fix(cl.place)
	}
}

// dequeue takes out a job that has none left.
func (cs *claims) dequeue(j *job) {
	if !j.queued {
		return
	}
	j.queued = false
	cs.rests(j)
	cs.sumUp(j)
	cs.byClass.remove(j)
	if cs.agingEvery() > 0 {
		j.priority = cs.priorityOf(j) // a job that does not wait has no raised priority
	}
	cs.unclaim(j)
}

// rests takes a job from those that its claimant claims for.
func (cs *claims) rests(j *job) {
	if j.place >= 0 {
		j.claim.jobs.remove(j.place)
		cs.settleClaim(j.claim)
	}
}

// sumUp keeps the sum of what waits.
func (cs *claims) sumUp(j *job) {
	n := 0
	if j.queued {
		n = j.waitingCount()
	}
	cs.waits += n - j.counted
	j.counted = n
}

// waitingCount is how many tasks of the job wait, at most share.Unbounded.
func (j *job) waitingCount() int {
	return int(min(math.MaxInt32, uint64(len(j.wait.back)+len(j.wait.released))+
		min(math.MaxInt32, j.wait.end-j.wait.cursor)))
}

func (j *job) hasWaiting() bool {
	return len(j.wait.back)+len(j.wait.released) > 0 || j.wait.cursor < j.wait.end
}

// comeBack makes task i wait again. Once is enough.
func (j *job) comeBack(i uint64) {
	if j.wait.queued[i] || i < j.wait.end && i >= j.wait.cursor && !j.isTouched(i) || !j.mayRun(i) {
		return // it waits already, or the cursor will come to it
	}
	j.wait.queued[i] = true
	byIndex.Push(&j.wait.back, i)
}

// takeBack takes the first task that came back.
func (j *job) takeBack() uint64 {
	i := byIndex.Pop(&j.wait.back)
	delete(j.wait.queued, i)
	return i
}

// takeReleased takes the first task that was released.
func (j *job) takeReleased() uint64 {
	i := byIndex.Pop(&j.wait.released)
	delete(j.wait.queued, i)
	return i
}

// takeNext takes the task under the cursor and moves the cursor on to the next
// that was never touched.
func (j *job) takeNext() uint64 {
	i := j.wait.cursor
	j.moveCursor(i + 1)
	return i
}

func (j *job) moveCursor(i uint64) {
	for i < j.wait.end {
		if next := j.ledger.Facts.Failed.NextMissing(j.ledger.Facts.Done.NextMissing(i)); next > i {
			i = next
			continue
		}
		if !j.isTouched(i) && !j.wait.queued[i] && !j.holdsEnd(i) {
			break
		}
		i++
	}
	j.wait.cursor = min(i, j.wait.end)
}

// isTouched reports whether a task has a row, as every task has that was ever
// placed: if it waits, it does so in the heap, and the cursor passes it by.
func (j *job) isTouched(i uint64) bool { return j.ledger.Rows[i] != nil }

// backWindow is how many tasks that came back a policy is shown of a job
// before fresh ones. Those in front may all be waiting for a worker that has
// not run them; fresh ones never are.
const backWindow = 32

// queueView shows the queue to a policy. It takes tasks out as it shows them;
// rest puts back what was not placed. A coordinator has one, for its memory.
type queueView struct {
	c       *Coordinator
	hosts   []*host // that placements are for
	pausing []*host // of these, those that get nothing of some jobs for now
	most    int64   // memory of the one that lends most
	parts   []part  // of the round: the jobs shown, in order, and how many of each
	at      int     // in parts, what is shown now
	left    int     // of that
	shown   []liveRef
	back    int // tasks shown of the first job that had come back
	passing
	begun  bool
	paused []task.PeerID   // of pausing, those that get nothing of the first job
	names  []task.PeerID   // memory of paused and of what tasks avoid
	next   int             // in shown, the one after the last found
	places map[liveKey]int // in shown; made when placements are in another order
}

type liveRef struct {
	job    *job
	index  uint64
	part   int // in parts
	placed bool
}

type liveKey struct {
	job   *job
	index uint64
}

// begin shows of some jobs their parts, for placements on these hosts.
func (q *queueView) begin(c *Coordinator, hosts []*host, parts []part) {
	q.c, q.parts, q.at, q.next = c, parts, 0, 0
	q.shown, q.names, q.paused = q.shown[:0], q.names[:0], nil
	q.back, q.begun = 0, false
	clear(q.places)
	q.open(hosts)
}

// open notes the hosts that placements are for.
func (q *queueView) open(hosts []*host) {
	q.hosts, q.most, q.pausing = hosts, 0, q.pausing[:0]
	for _, h := range hosts {
		q.most = max(q.most, h.memory)
		if len(h.paused) > 0 || h.denied != nil {
			q.pausing = append(q.pausing, h)
		}
	}
}

// Next implements place.Queue.
func (q *queueView) Next() (place.Task, bool) {
	for ; q.at < len(q.parts); q.SkipJob() {
		if t, ok := q.here(); ok {
			return t, true
		}
	}
	return place.Task{}, false
}

// here returns the next task of the part shown now, and false at its end.
func (q *queueView) here() (place.Task, bool) {
	p := &q.parts[q.at]
	j := p.job
	if !q.begun && (!q.useful(j) || q.c.table.heldUp(j) != "") {
		return place.Task{}, false
	}
	if !q.begun {
		p.n = min(p.n, j.room())
		q.begun, q.left = true, min(p.n, q.c.table.slotsLeft(j))
		q.beginJob(j)
	}
	for {
		i, ok := q.take(j)
		if !ok {
			return place.Task{}, false
		}
		if j.wants(i) == 0 {
			continue // taken up from a report since it came back
		}
		q.shown = append(q.shown, liveRef{job: j, index: i, part: q.at})
		if q.passes(j, i) {
			continue
		}
		avoid := q.avoid(j, i)
		if p.n != whole && !q.anyBut(avoid) {
			continue // it waits for somebody else, and does not use up what its job was given
		}
		q.left--
		work, _ := j.durationOf(i)
		return place.Task{
			ID: task.TaskID{Job: j.id, Index: i}, Memory: j.spec.MemoryOf(i), Work: work,
			Left: q.c.dispatch.taskLeft(j, i), State: j.stateOf(), Avoid: avoid, Class: j.spec.Class, Age: q.c.dispatch.age(j),
		}, true
	}
}

// take takes the next task of a job; ok is false when its part, or the job, is at its
// end.
func (q *queueView) take(j *job) (i uint64, ok bool) {
	switch {
	case q.left == 0:
		return 0, false
	case len(j.wait.back) > 0 && q.back < backWindow:
		q.back++
		return j.takeBack(), true
	case len(j.wait.released) > 0:
		return j.takeReleased(), true
	case j.wait.cursor < j.wait.end:
		return j.takeNext(), true
	}
	return 0, false
}

// SkipJob implements place.Queue.
func (q *queueView) SkipJob() {
	if !q.passing.skips(q) {
		q.at, q.back, q.begun, q.passing = q.at+1, 0, false, passing{}
	}
}

// anyBut reports whether any host is none of those.
func (q *queueView) anyBut(avoid []task.PeerID) bool {
	return len(avoid) == 0 || slices.ContainsFunc(q.hosts, func(h *host) bool { return !slices.Contains(avoid, h.peer) })
}

// useful reports whether any host could run a task of the job.
func (q *queueView) useful(j *job) bool {
	if len(q.pausing) == 0 {
		return len(q.hosts) > 0 && leastMemory(j.spec) <= q.most
	}
	return slices.ContainsFunc(q.hosts, func(h *host) bool {
		return !h.keptFrom(j) && h.memory >= leastMemory(j.spec)
	})
}

// beginJob notes which hosts get nothing of the job for now.
func (q *queueView) beginJob(j *job) {
	n := len(q.names)
	for _, h := range q.pausing {
		if h.keptFrom(j) {
			q.names = append(q.names, h.peer)
		}
	}
	q.paused = slices.Clip(q.names[n:])
}

// avoid lists who must not run the task of the first job.
func (q *queueView) avoid(j *job, i uint64) []task.PeerID {
	n := len(q.names)
	q.names = j.barred[i].appendOthers(q.names, q.hosts)
	if q.names = q.c.table.bars(q.names, j, i); len(q.names) == n {
		return q.paused
	}
	q.names = append(q.names, q.paused...)
	return slices.Clip(q.names[n:])
}

// find returns a task that was shown, or nil. Policies mostly place tasks in the
// order in which they are shown.
func (q *queueView) find(id task.TaskID) *liveRef {
	for ; q.next < len(q.shown) && len(q.places) == 0; q.next++ {
		if r := &q.shown[q.next]; r.index == id.Index && r.job.id == id.Job {
			q.next++
			return r
		}
	}
	if len(q.places) == 0 {
		if q.places == nil {
			q.places = make(map[liveKey]int, len(q.shown))
		}
		for k := range q.shown {
			q.places[liveKey{q.shown[k].job, q.shown[k].index}] = k
		}
	}
	if k, ok := q.places[liveKey{q.c.table.jobs[id.Job], id.Index}]; ok {
		return &q.shown[k]
	}
	return nil
}

// workersOf lists the workers that run the task or have completed it with a result that is not void, of replicas those
// that have done so from its beginning, or are not to have it.
func (j *job) workersOf(i uint64) []task.PeerID { return j.appendWorkers(nil, i) }

// appendWorkers is workersOf in the memory of peers, to which it appends.
func (j *job) appendWorkers(peers []task.PeerID, i uint64) []task.PeerID {
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			peers = append(peers, l.host.peer)
		}
	}
	if row := j.ledger.Rows[i]; row != nil {
		for k := range row.Results {
			if r := &row.Results[k]; !row.IsVoid(r) && j.hasRun(r) && !j.barred[i].asks(r.Worker) {
				peers = append(peers, r.Worker)
			}
		}
	}
	return append(peers, j.barred[i].not...)
}

// worksOn reports whether a worker is one of workersOf.
func (j *job) worksOn(i uint64, peer task.PeerID) bool {
	if t := j.live[i]; t != nil && slices.ContainsFunc(t.leases, func(l *lease) bool { return l.host.peer == peer }) {
		return true
	}
	if j.barred[i].bars(peer) {
		return true
	}
	row := j.ledger.Rows[i]
	return row != nil && slices.ContainsFunc(row.Results, func(r task.Result) bool {
		return r.Worker == peer && !row.IsVoid(&r) && j.hasRun(&r) && !j.barred[i].asks(peer)
	})
}

// hasRun reports whether the worker of a result need not run its task again: of replicas one that
// has run it from another's state may, from the beginning, if there are no others. One that has run it on other files
// of tasks before it may run it on these.
func (j *job) hasRun(r *task.Result) bool {
	if !j.replicated() {
		return !task.SignsReads(j.spec, r.Task.Index)
	}
	by, whole := r.AnsweredBy()
	return whole && len(by) == 1
}

// rest puts back what was shown and still wants a placement.
func (q *queueView) rest() {
	for k := range q.shown {
		r := &q.shown[k]
		if !r.placed || r.job.wants(r.index) > 0 {
			r.job.comeBack(r.index)
		}
	}
}

// byIndex is the order of tasks that came back.
var byIndex = heap.Order[uint64]{Before: func(a, b *uint64) bool { return *a < *b }}

// bars appends the workers that are given no lease of a task for now. These are the workers that run it or have ended
// it, for replicas those that answer for another replica, those on which the task failed a moment ago by what it does,
// and those whose results are void. If that is every member, only the first are barred: the others start again from the
// beginning, so that a job needs no more members than replicas, however often its tasks moved.
func (t *jobTable) bars(peers []task.PeerID, j *job, i uint64) []task.PeerID {
	n := len(peers)
	peers = j.appendWorkers(peers, i)
	if j.replicated() {
		peers = j.appendDestinations(peers, i, nil)
	}
	hard := len(peers)
	if j.replicated() {
		peers = append(peers, j.taken(i)...)
	}
	peers = append(peers, failedOn(j, i, t.c.now)...)
	peers = append(peers, voidOn(j, i)...)
	if len(peers) == hard || anotherMay(t, j, i, peers[n:]) {
		return peers
	}
	return peers[:hard]
}
