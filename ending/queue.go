package ending

import (
	"math"
	"math/rand/v2"
	"time"

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
	w       *world
	offers  []offer
	skipped []bool // by job
	holds   []int  // runs of each job, with what was shown
}

// any says whether anything waits.
func (q *queue) any() bool {
	for _, j := range q.w.jobs {
		if j.waits() {
			return true
		}
	}
	return false
}

func (q *queue) begin() {
	q.offers, q.skipped, q.holds = q.offers[:0], q.skipped[:0], q.holds[:0]
	for _, j := range q.w.jobs {
		q.skipped, q.holds = append(q.skipped, false), append(q.holds, j.running)
	}
}

// Next implements place.Queue.
func (q *queue) Next() (place.Task, bool) {
	best := -1
	for i, j := range q.w.jobs {
		if !q.skipped[i] && j.waits() && (best < 0 || q.holds[i] < q.holds[best]) {
			best = i
		}
	}
	if best < 0 {
		return place.Task{}, false
	}
	j := q.w.jobs[best]
	q.holds[best]++
	o := offer{job: j}
	t := place.Task{ID: task.TaskID{Job: j.job.ID, Index: uint64(len(q.offers))}, Memory: j.job.Memory,
		Work: seconds(j.work.mean())}
	if len(j.pieces) > 0 {
		o.piece = j.pieces[0]
		j.pieces = j.pieces[1:]
		t.Left = seconds(max(o.piece.total-o.piece.did, leastWork))
	} else {
		o.tasks = max(1, uint64(float64(j.waiting)/(groupsPerSlot*max(1, q.w.slots))))
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

// seconds is a time in the policy's terms.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, MaxAhead.Seconds()) * float64(time.Second))
}

// place asks the policy, if there is anything to place and room for it.
func (w *world) place() {
	if !w.dirty || !w.queue.any() {
		return
	}
	w.dirty = false
	if w.room = w.offer(w.room[:0]); len(w.room) == 0 {
		return
	}
	if w.traits.Situate != nil {
		w.traits.Situate(place.Situation{Waiting: w.waiting(), Detect: seconds(w.detect), Saves: w.jobs[0].save > 0})
	}
	w.queue.begin()
	got := w.policy.Place(w.time(), &w.queue, w.room, w, rand.New(rand.NewPCG(w.rng.Uint64(), 0)))
	for _, p := range got {
		o := &w.queue.offers[p.Task.Index]
		i, known := w.index[p.Peer]
		if !known || o.placed {
			continue
		}
		o.placed = true
		o.job.running++
		if o.tasks == 0 {
			w.start(run{job: o.job, host: i, tasks: 1, total: o.piece.total, did: o.piece.did, base: o.piece.did})
			continue
		}
		w.start(run{job: o.job, host: i, tasks: o.tasks, total: o.job.work.group(o.tasks, w.rng)})
	}
	w.queue.restore()
	if w.traits.Again > 0 && w.asked == 0 && w.queue.any() && len(got) < len(w.room) {
		w.asked = w.now + w.traits.Again.Seconds()
		w.at(w.asked, asks, 0, 0)
	}
}

func (w *world) waiting() int {
	sum := 0.0
	for _, j := range w.jobs {
		sum += float64(j.waiting) + float64(len(j.pieces))
	}
	return int(min(sum, math.MaxInt32))
}

// offer lists the hosts with room.
func (w *world) offer(out []place.Host) []place.Host {
	for i := range w.hosts {
		h := &w.hosts[i]
		m := &h.habit.Member
		free := m.Slots - len(h.running)
		if !h.there || free <= 0 {
			continue
		}
		p := place.Host{Peer: h.peer, Slots: m.Slots, Running: len(h.running), Free: free, Memory: m.Memory,
			MemoryFree: m.Memory - h.memory, Speed: m.Speed, Since: m.Since}
		if !h.session {
			p.Since = w.c.now.Add(seconds(h.since))
		}
		if len(h.running) == 0 {
			p.IdleFor = seconds(w.now - h.idle)
		}
		out = append(out, p)
	}
	return out
}

// Stay implements place.Forecast: what is drawn from is what is foretold.
func (w *world) Stay(peer task.PeerID, _ time.Time, d time.Duration) (float64, bool) {
	i, ok := w.index[peer]
	if !ok {
		return 1, false
	}
	h := &w.hosts[i]
	if h.session {
		return h.habit.session().within(w.now/w.pace[0], d.Seconds()/w.pace[0]), true
	}
	return h.habit.fresh(h.since).within((w.now-h.since)/w.pace[0], d.Seconds()/w.pace[0]), true
}
