package ending

import (
	"godwit/scheduler/place"
	"godwit/task"
)

// groupsPerSlot is how many groups a slot gets, at least, of the tasks that are left:
// the work of what is not placed yet tells how large the next group is, so that the last
// are single tasks.
const groupsPerSlot = 4

// An offer is a task, or a group of them, that the policy was shown.
type offer struct {
	job    *job
	tasks  uint64
	piece  piece
	placed bool
}

// A queue shows the policy what waits: the job with the fewest runs first.
type queue struct {
	jobs    []*job
	most    float64 // runs of the first job at once; 0 for no limit
	parts   int     // of jobs, those that are one: its stages
	slots   float64 // of hosts that are there at the beginning
	offers  []offer
	skipped []bool // by job
	holds   []int  // runs of each job, with what was shown; those of stages under the first
}

// any says whether anything waits.
func (q *queue) any() bool {
	for _, j := range q.jobs {
		if j.waits() {
			return true
		}
	}
	return false
}

func (q *queue) begin() {
	q.offers, q.skipped, q.holds = q.offers[:0], q.skipped[:0], q.holds[:0]
	for _, j := range q.jobs {
		q.skipped, q.holds = append(q.skipped, false), append(q.holds, 0)
		q.holds[q.claim(j.number)] += j.running
	}
}

// claim is the number of the job under which the runs of one are counted.
func (q *queue) claim(number int) int {
	if number < q.parts {
		return 0
	}
	return number
}

// full reports whether a job has as many runs as it may have at once.
func (q *queue) full(number int) bool {
	return q.most > 0 && q.claim(number) == 0 && float64(q.holds[0]) >= q.most
}

// Next implements place.Queue.
func (q *queue) Next() (place.Task, bool) {
	best := -1
	for i, j := range q.jobs {
		if !q.skipped[i] && j.waits() && !q.full(i) && (best < 0 || q.holds[q.claim(i)] < q.holds[q.claim(best)]) {
			best = i
		}
	}
	if best < 0 {
		return place.Task{}, false
	}
	j := q.jobs[best]
	q.holds[q.claim(best)]++
	o := offer{job: j}
	t := place.Task{ID: task.TaskID{Job: j.job.ID, Index: uint64(len(q.offers))}, Memory: j.job.Memory,
		Work: seconds(j.work.mean())}
	if len(j.pieces) > 0 {
		o.piece = j.pieces[0]
		j.pieces = j.pieces[1:]
		t.Left = seconds(max(o.piece.total-o.piece.did, leastWork))
	} else {
		slots := q.slots
		if q.most > 0 && q.claim(best) == 0 {
			slots = min(slots, q.most)
		}
		o.tasks = max(1, uint64(float64(j.waiting)/(groupsPerSlot*max(1, slots))))
		j.waiting -= o.tasks
	}
	q.offers = append(q.offers, o)
	return t, true
}

// SkipJob implements place.Queue.
func (q *queue) SkipJob() {
	if n := len(q.offers); n > 0 {
		q.skipped[q.offers[n-1].job.number] = true
	}
}

// restore puts back what was not placed, in the order in which it was.
func (q *queue) restore() {
	for i := len(q.offers) - 1; i >= 0; i-- {
		switch o := &q.offers[i]; {
		case o.placed:
		case o.tasks > 0:
			o.job.waiting += o.tasks
		default:
			o.job.pieces = append([]piece{o.piece}, o.job.pieces...)
		}
	}
}
