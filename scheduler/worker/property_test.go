package worker

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A floor is a worker, the leader that it obeys and the driver that runs its tasks: it knows
// of each lease what became of it.
type floor struct {
	t      *rapid.T
	w      *Worker
	now    time.Time
	slots  int
	memory int64
	epoch  uint64
	seq    uint64
	jobs   []*task.Job
	asked  map[task.JobID]bool             // Prepare was emitted, and not answered
	runs   map[task.TaskID]message.Attempt // started, as it was started
	stops  map[task.TaskID]bool            // of runs, told to stop
	given  map[task.TaskID]message.Attempt // the newest lease that has not come back
	ended  map[message.AttemptName]bool    // told of, and not acknowledged
	last   *message.Report

	ready map[task.TaskID]message.Attempt // not begun, as it was to be started
	back  []message.NotBegun              // that the worker is to hear next
	mail  []message.Ended                 // of runs that ended without the worker's knowing yet, in order
}

func newFloor(t *rapid.T) *floor {
	f := &floor{t: t, now: schedtest.Start, epoch: 1, asked: map[task.JobID]bool{},
		runs:  map[task.TaskID]message.Attempt{},
		stops: map[task.TaskID]bool{}, given: map[task.TaskID]message.Attempt{}, ended: map[message.AttemptName]bool{},
		ready: map[task.TaskID]message.Attempt{}}
	for k := range 2 {
		f.jobs = append(f.jobs, &task.Job{Name: "j", Memory: int64(k+1) << 20})
	}
	cfg := Default()
	cfg.Ahead = rapid.IntRange(0, 2).Draw(t, "ahead")
	f.w = New("me", message.DefaultTiming(), cfg)
	f.step(message.LeaderChanged{Leader: "leader", Epoch: 1})
	f.lend(2, 0)
	return f
}

// id names a task: jobs are called by their place.
func (f *floor) id(t *rapid.T) task.TaskID {
	return task.TaskID{Job: []task.JobID{"a", "b"}[rapid.IntRange(0, 1).Draw(t, "job")],
		Index: uint64(rapid.IntRange(0, 4).Draw(t, "task"))}
}

func (f *floor) spec(id task.JobID) *task.Job { return f.jobs[id[0]-'a'] }

func (f *floor) lend(slots int, memory int64) {
	f.slots, f.memory = slots, memory
	state := overlay.Available
	if slots == 0 {
		state = overlay.UserPresent
	}
	f.step(message.OwnerState{State: state, Slots: slots, Memory: memory})
}

// step hands the worker an event and looks at what it does.
func (f *floor) step(ev message.Event) {
	for _, e := range f.w.Step(f.now, ev) {
		switch e := e.(type) {
		case message.Prepare:
			if f.asked[e.Job] {
				f.t.Fatalf("job %s is prepared twice at once", e.Job)
			}
			f.asked[e.Job] = true
		case message.Release: // which ends what prepares it
			if n := f.leasesOf(e.Job); n > 0 {
				f.t.Fatalf("job %s is released with %d leases", e.Job, n)
			}
			delete(f.asked, e.Job)
		case message.Start:
			f.starts(e)
		case message.Ready:
			f.readies(e)
		case message.Begin:
			if f.ready[e.Task] == e.Attempt {
				delete(f.ready, e.Task)
				f.starts(message.Start{Task: e.Task, Attempt: e.Attempt})
			}
		case message.Unready:
			if f.ready[e.Task] == e.Attempt {
				delete(f.ready, e.Task)
				f.back = append(f.back, message.NotBegun{Task: e.Task, Attempt: e.Attempt})
			}
		case message.Stop:
			if f.inMail(e.Task) {
				break // it has ended already
			}
			if f.runs[e.Task] != e.Attempt || e.Attempt == (message.Attempt{}) {
				f.t.Fatalf("%v is to stop as %v, and runs as %v", e.Task, e.Attempt, f.runs[e.Task])
			}
			f.stops[e.Task] = true
		case message.Send:
			f.hears(e)
		}
	}
	for len(f.back) > 0 { // before the worker hears of anything else
		b := f.back[0]
		f.back = f.back[1:]
		f.step(b)
	}
	if running, queued, _ := f.w.Load(); len(f.mail) == 0 && running != len(f.runs) || queued+running != f.w.Leases() {
		f.t.Fatalf("%d run and %d wait, of %d leases; %d were started", running, queued, f.w.Leases(), len(f.runs))
	}
	if at, ok := f.w.NextWake(); !ok && f.w.leader != "" {
		f.t.Fatalf("it never looks again, after %v", at)
	}
}

// leasesOf counts the worker's leases of a job.
func (f *floor) leasesOf(job task.JobID) (n int) {
	for id := range f.w.held {
		if id.Job == job {
			n++
		}
	}
	return n
}

func (f *floor) starts(e message.Start) {
	f.begins(e)
	if f.w.running > f.slots || f.memory > 0 && f.w.memory > f.memory {
		f.t.Fatalf("%d tasks run in %d slots, with %d bytes of %d", f.w.running, f.slots, f.w.memory, f.memory)
	}
}

// begins notes that an attempt runs, for a Start or without.
func (f *floor) begins(e message.Start) {
	if _, twice := f.runs[e.Task]; twice {
		f.t.Fatalf("%v is started twice", e.Task)
	}
	for _, m := range f.mail {
		if m.Task == e.Task {
			f.t.Fatalf("%v is started, and has just ended", e.Task)
		}
	}
	f.runs[e.Task] = e.Attempt
}

// readies notes that an attempt may begin when another ends.
func (f *floor) readies(e message.Ready) {
	_, runs := f.runs[e.Task]
	_, twice := f.ready[e.Task]
	if runs || twice || f.given[e.Task].Less(e.Attempt) {
		f.t.Fatalf("%v is ready as %v: it runs %v, it is so already %v, the leader gave %v", e.Task, e.Attempt, runs, twice,
			f.given[e.Task])
	}
	f.ready[e.Task] = e.Attempt
}

// hand has one that runs end, and one that is ready begin in its place: the worker hears of it with deliver.
func (f *floor) hand(t *rapid.T) {
	f.t = t
	id := f.id(t)
	a, ok := f.runs[id]
	if !ok || f.stops[id] {
		return
	}
	ev := message.Ended{Task: id, Attempt: a, Result: task.Result{Task: id, Worker: "me", Outcome: task.Completed}}
	delete(f.runs, id)
	for _, next := range slices.SortedFunc(maps.Keys(f.ready), func(a, b task.TaskID) int {
		return f.ready[a].Compare(f.ready[b])
	}) {
		if f.spec(next.Job).Memory > f.spec(id.Job).Memory {
			continue
		}
		ev.Then = &message.AttemptName{Task: next, Attempt: f.ready[next]}
		f.begins(message.Start{Task: next, Attempt: f.ready[next]})
		delete(f.ready, next)
		break
	}
	f.mail = append(f.mail, ev)
}

// deliver has the worker hear of the end that came k-th of those that it has not heard of: a node tells of them in
// order, but for those that had to wait elsewhere.
func (f *floor) deliver(t *rapid.T) {
	f.t = t
	if n := len(f.mail); n > 0 {
		f.deliverAt(rapid.IntRange(0, n-1).Draw(t, "which"))
	}
}

func (f *floor) deliverAt(k int) {
	ev := f.mail[k]
	f.mail = slices.Delete(f.mail, k, k+1)
	f.step(ev)
}

// hears is the leader that is told something.
func (f *floor) hears(e message.Send) {
	r := e.Message.Report
	if e.To != f.w.leader || r == nil || r.Slots != f.slots {
		f.t.Fatalf("%q is told %+v", e.To, e.Message)
	}
	for _, x := range r.Refused {
		if f.given[x.Task] == x.Attempt {
			delete(f.given, x.Task)
		}
	}
	for i := range r.Ended {
		n := message.AttemptName{Task: r.Ended[i].Result.Task, Attempt: r.Ended[i].Attempt}
		f.ended[n] = true
		if f.given[n.Task] == n.Attempt {
			delete(f.given, n.Task)
		}
	}
	if r.Full {
		f.last = r
		f.lists(r)
	}
}

// lists looks at a full report: what the leader gave and was not given back is in it, so
// that nothing that it lists not is lost for good.
func (f *floor) lists(r *message.Report) {
	listed := map[task.TaskID]bool{}
	for _, h := range r.Held {
		if listed[h.Task] {
			f.t.Fatalf("%v is listed twice", h.Task)
		}
		listed[h.Task] = true
		if _, started := f.runs[h.Task]; h.Running && !started && !f.hasResult(h.Task) && !f.inMail(h.Task) {
			f.t.Fatalf("%v is said to run", h.Task)
		}
	}
	for i := range r.Ended {
		listed[r.Ended[i].Result.Task] = true
	}
	for id := range f.given {
		if !listed[id] {
			f.t.Fatalf("%v was given, and is in no report", id)
		}
	}
}

// inMail reports whether a task has ended, or begun, without the worker's knowing.
func (f *floor) inMail(id task.TaskID) bool {
	return slices.ContainsFunc(f.mail, func(e message.Ended) bool { return e.Task == id })
}

func (f *floor) hasResult(id task.TaskID) bool {
	for _, u := range f.w.results.all {
		if u.ending.Result.Task == id {
			return true
		}
	}
	return false
}

// give has the leader give a lease. A task that the leader has the result of is not given
// again, as no leader would.
func (f *floor) give(t *rapid.T) {
	f.t = t
	id := f.id(t)
	f.seq++
	a := message.Attempt{Epoch: f.epoch, Seq: f.seq}
	f.given[id] = a
	f.step(&message.Received{From: "leader", Message: &message.Message{Place: &message.Place{Epoch: f.epoch,
		Leases: []message.Lease{{Task: id, Attempt: a, TTL: time.Minute}}}}})
}

// drop has the leader take one back.
func (f *floor) drop(t *rapid.T) {
	f.t = t
	id := f.id(t)
	a, ok := f.given[id]
	if !ok {
		return
	}
	reason := rapid.SampledFrom([]string{message.DropRecall, message.DropCancelled, message.DropSuperseded}).Draw(t, "why")
	if reason != message.DropRecall {
		delete(f.given, id)
	}
	f.step(&message.Received{From: "leader", Message: &message.Message{Ack: &message.Ack{Epoch: f.epoch,
		Drop: []message.AttemptName{{Task: id, Attempt: a, Reason: reason}}}}})
}

// prepare answers what was asked of the driver.
func (f *floor) prepare(t *rapid.T) {
	f.t = t
	f.prepareAs(rapid.SampledFrom([]task.JobID{"a", "b"}).Draw(t, "job"), rapid.IntRange(0, 3).Draw(t, "luck") > 0)
}

func (f *floor) prepareAs(id task.JobID, works bool) {
	if !f.asked[id] {
		return
	}
	delete(f.asked, id)
	if works {
		f.step(message.Prepared{ID: id, Job: f.spec(id)})
	} else {
		f.step(message.Prepared{ID: id, Err: "no module"})
	}
}

// end ends a run, as the driver may of itself, or was told to.
func (f *floor) end(t *rapid.T) {
	f.t = t
	outcome := rapid.SampledFrom([]task.Outcome{task.Completed, task.Trapped, task.HostError}).Draw(t, "outcome")
	f.endAs(f.id(t), outcome)
}

func (f *floor) endAs(id task.TaskID, outcome task.Outcome) {
	a, ok := f.runs[id]
	if !ok {
		return
	}
	if f.stops[id] && outcome != task.Completed {
		outcome = task.Interrupted
	}
	delete(f.runs, id)
	delete(f.stops, id)
	f.step(message.Ended{Task: id, Attempt: a, Result: task.Result{Task: id, Worker: "me", Outcome: outcome}})
}

// acknowledge has the leader make what it heard durable.
func (f *floor) acknowledge(t *rapid.T) {
	f.t = t
	ack := &message.Ack{Epoch: f.epoch}
	for n := range f.ended {
		ack.Ended = append(ack.Ended, n)
	}
	clear(f.ended)
	f.step(&message.Received{From: "leader", Message: &message.Message{Ack: ack}})
}

func (f *floor) wait(d time.Duration) {
	f.now = f.now.Add(d)
	f.step(message.Wake{})
}

// Whatever the leader asks and the driver answers, no more is started than there are slots
// and memory for, nothing is started twice, and what the leader gave is in every full report
// until it has come back. When all runs have ended nothing is left.
func TestEveryLeaseComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFloor(t)
		t.Repeat(map[string]func(*rapid.T){
			"give": f.give, "drop": f.drop, "prepare": f.prepare, "end": f.end, "acknowledge": f.acknowledge,
			"hand": f.hand, "deliver": f.deliver,
			"lend": func(t *rapid.T) {
				f.t = t
				f.lend(rapid.IntRange(0, 3).Draw(t, "slots"), rapid.SampledFrom([]int64{0, 2 << 20, 4 << 20}).Draw(t, "memory"))
			},
			"new term": func(t *rapid.T) {
				f.t = t
				f.epoch, f.seq = f.epoch+1, 0
				f.step(message.LeaderChanged{Leader: "leader", Epoch: f.epoch})
			},
			"stranger": func(t *rapid.T) {
				f.t = t
				before := f.w.Leases()
				f.step(&message.Received{From: "stranger", Message: &message.Message{Place: &message.Place{Epoch: f.epoch + 1,
					Leases: []message.Lease{{Task: task.TaskID{Job: "a", Index: 9}, Attempt: message.Attempt{Epoch: 9}}}}}})
				if f.w.Leases() != before {
					t.Fatal("a stranger's lease was taken")
				}
			},
			"wait": func(t *rapid.T) {
				f.t = t
				f.wait(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			},
		})
		f.t = t
		f.settle()
	})
}

// settle has all that runs end well, until nothing is left.
func (f *floor) settle() {
	for len(f.mail) > 0 {
		f.deliverAt(0)
	}
	f.lend(4, 0)
	for range 20 {
		for _, id := range []task.JobID{"a", "b"} {
			f.prepareAs(id, true)
			for i := range uint64(5) {
				f.endAs(task.TaskID{Job: id, Index: i}, task.Completed)
			}
		}
		f.wait(2 * time.Second)
		f.acknowledge(f.t)
	}
	if running, queued, unacked := f.w.Load(); running+queued+unacked > 0 || len(f.given) > 0 {
		f.t.Fatalf("%d run, %d wait, %d results are kept, and %d leases did not come back", running, queued, unacked,
			len(f.given))
	}
	if f.last == nil {
		f.t.Fatal("there was no full report")
	}
	f.wait(time.Hour)
	if len(f.w.jobs.known) > 0 || len(f.w.Roots()) > 0 {
		f.t.Fatalf("%d jobs are kept prepared, and %d blocks", len(f.w.jobs.known), len(f.w.Roots()))
	}
}
