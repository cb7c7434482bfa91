package scheduler

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/place"
	"godwit/task"
)

// waiting are a job's waiting tasks: those never touched, as a cursor over the
// sweep, and those that came back, in a heap. A sweep is never listed.
type waiting struct {
	cursor uint64 // the first that was never taken; total at the end
	back   indexHeap
	queued map[uint64]bool // what back has
}

// A job in the queue comes before another by priority, then by arrival.
func comesBefore(a, b *job) int {
	return cmp.Or(-cmp.Compare(a.spec.Priority, b.spec.Priority), cmp.Compare(a.arrival, b.arrival))
}

// enqueue puts a job with waiting tasks in the queue.
func (c *Coordinator) enqueue(j *job) {
	if j.queued || j.state != jobOpen || !j.hasWaiting() || !j.askedUntil.IsZero() {
		return
	}
	j.queued = true
	i, _ := slices.BinarySearchFunc(c.queue, j, comesBefore)
	c.queue = slices.Insert(c.queue, i, j)
}

// dequeue takes out a job that has none left.
func (c *Coordinator) dequeue(j *job) {
	if !j.queued {
		return
	}
	j.queued = false
	if i := slices.Index(c.queue, j); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
	}
}

func (j *job) hasWaiting() bool { return len(j.wait.back) > 0 || j.wait.cursor < j.total }

// comeBack makes task i wait again. Once is enough.
func (j *job) comeBack(i uint64) {
	if j.wait.queued[i] || i >= j.wait.cursor && !j.isTouched(i) {
		return // it waits already, or the cursor will come to it
	}
	j.wait.queued[i] = true
	heap.Push(&j.wait.back, i)
}

// takeBack takes the first task that came back.
func (j *job) takeBack() uint64 {
	i := heap.Pop(&j.wait.back).(uint64)
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
	for i < j.total {
		if next := j.ledger.Facts.Failed.NextMissing(j.ledger.Facts.Done.NextMissing(i)); next > i {
			i = next
			continue
		}
		if !j.isTouched(i) && !j.wait.queued[i] {
			break
		}
		i++
	}
	j.wait.cursor = min(i, j.total)
}

// isTouched says whether a task has a row, as every task has that was ever
// placed: if it waits, it does so in the heap, and the cursor passes it by.
func (j *job) isTouched(i uint64) bool { return j.ledger.Rows[i] != nil }

// row returns the row of task i, made if there is none. The cursor, if it has
// come to the task, moves on: what is touched waits in the heap or not at all.
func (j *job) row(i uint64) *ledger.Row {
	row := j.ledger.Row(i)
	if j.wait.cursor == i {
		j.moveCursor(i)
	}
	return row
}

// backWindow is how many tasks that came back a policy is shown of a job
// before fresh ones. Those in front may all be waiting for a worker that has
// not run them; fresh ones never are.
const backWindow = 32

// queueView shows the queue to a policy. It takes tasks out as it shows them;
// rest puts back what was not placed.
type queueView struct {
	c     *Coordinator
	hosts []*host // that placements are for
	jobs  []*job  // not yet shown, in order
	shown []*liveRef
	back  int // tasks shown of the first job that had come back
	begun bool
}

type liveRef struct {
	job    *job
	index  uint64
	placed bool
}

// Next implements place.Queue.
func (q *queueView) Next() (place.Task, bool) {
	for len(q.jobs) > 0 {
		j := q.jobs[0]
		if !q.begun && (!q.useful(j) || q.c.heldUp(j) != "") {
			q.SkipJob()
			continue
		}
		q.begun = true
		var i uint64
		switch {
		case len(j.wait.back) > 0 && q.back < backWindow:
			i = j.takeBack()
			q.back++
			if j.wants(i) == 0 {
				continue // taken up from a report since it came back
			}
		case j.wait.cursor < j.total:
			i = j.takeNext()
		default:
			q.SkipJob()
			continue
		}
		q.shown = append(q.shown, &liveRef{job: j, index: i})
		work, _ := j.duration()
		return place.Task{ID: task.TaskID{Job: j.id, Index: i}, Memory: j.spec.Memory, Work: work, Avoid: q.avoid(j, i)}, true
	}
	return place.Task{}, false
}

// SkipJob implements place.Queue.
func (q *queueView) SkipJob() {
	if len(q.jobs) > 0 {
		q.jobs, q.back, q.begun = q.jobs[1:], 0, false
	}
}

// useful says whether any host could run a task of the job.
func (q *queueView) useful(j *job) bool {
	return slices.ContainsFunc(q.hosts, func(h *host) bool {
		_, paused := h.paused[j]
		return !paused && h.memory >= j.spec.Memory
	})
}

// avoid lists who must not run the task.
func (q *queueView) avoid(j *job, i uint64) []task.PeerID {
	avoid := j.workersOf(i)
	for _, h := range q.hosts {
		if _, paused := h.paused[j]; paused {
			avoid = append(avoid, h.peer)
		}
	}
	return avoid
}

// workersOf lists the workers that run the task or have completed it.
func (j *job) workersOf(i uint64) []task.PeerID {
	var peers []task.PeerID
	if t := j.live[i]; t != nil {
		for _, l := range t.leases {
			peers = append(peers, l.host.peer)
		}
	}
	if row := j.ledger.Rows[i]; row != nil {
		for k := range row.Results {
			peers = append(peers, row.Results[k].Worker)
		}
	}
	return peers
}

// rest puts back what was shown and still wants a placement.
func (q *queueView) rest() {
	for _, r := range q.shown {
		if !r.placed || r.job.wants(r.index) > 0 {
			r.job.comeBack(r.index)
		}
	}
}

// wants returns how many more placements task i needs now: enough that, if all
// go well, Replicas results agree.
func (j *job) wants(i uint64) int {
	if j.ledger.Verdict(i) != ledger.Open {
		return 0
	}
	want := j.spec.Replicas
	if row := j.ledger.Rows[i]; row != nil {
		want -= len(row.Agreed())
	}
	if t := j.live[i]; t != nil {
		want -= len(t.leases)
	}
	return max(want, 0)
}

// duration returns how long a task of the job takes, as far as is known: what
// was measured, else what its owner guessed.
func (j *job) duration() (d time.Duration, known bool) {
	if j.measured {
		return j.mean, true
	}
	return j.spec.Work, j.spec.Work > 0
}

// meanWeight is the weight of a new duration in the running mean: about the
// last ten count.
const meanWeight = 10

func (j *job) measure(d time.Duration) {
	if !j.measured {
		j.mean, j.measured = d, true
		return
	}
	j.mean += (d - j.mean) / meanWeight
}

type indexHeap []uint64

func (h indexHeap) Len() int           { return len(h) }
func (h indexHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h indexHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexHeap) Push(x any)        { *h = append(*h, x.(uint64)) }
func (h *indexHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
