package member

import (
	"time"

	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/scheduler/submitter"
	"godwit/task"
)

// mostJobs bounds the honest jobs of a world. Jobs that reuse a lie come on top.
const mostJobs = 8

// An honestJob is a job of an honest member.
type honestJob struct {
	id        task.JobID
	owner     *host
	tasks     uint64
	cancelled bool
	checked   bool // its results are checked, so that it may end more than once
}

// runTime returns how long a task runs. Slow ones take so long that their submitter queries other members.
func (w *world) runTime(id task.TaskID) time.Duration {
	if w.slow[id.Job] && id.Index%3 == 2 {
		return 5 * time.Minute
	}
	return time.Second
}

// offer has an honest host submit a job, and hostile members at times.
func (w *world) offer() {
	if o := w.hosts[w.rng.IntN(len(w.hosts))]; o.up && len(w.gang.jobs) < mostJobs {
		var old *honestJob
		if w.rng.IntN(2) == 0 {
			old = w.before(o)
		}
		w.submit(o, old)
	}
	h := w.gang.any()
	if len(h.g.records.items) < 4 || w.rng.IntN(8) == 0 {
		rec := h.g.record(w.swarm)
		if spec, err := rec.Open(); err == nil {
			w.swarm.jobs[rec.ID()] = spec
			h.g.records.put(rec)
			h.g.jobs.put(rec.ID())
		}
	}
}

// submit has a host submit a job: with few tasks or many, with replicas or checks, or with the results of an old job.
// old is nil for a job that reuses nothing.
func (w *world) submit(o *host, old *honestJob) {
	j := &honestJob{owner: o, tasks: uint64(1 + w.rng.IntN(4))}
	first := len(w.gang.jobs) == 0 // it is slow, so that its submitter queries members while they are hostile
	switch {
	case first:
		j.tasks += 3
	case w.rng.IntN(4) == 0:
		j.tasks = 24
	}
	kind := w.rng.IntN(6)
	if old != nil {
		j.tasks, kind = old.tasks, 0
	}
	key, _ := schedtest.Identity(o.n)
	rec := schedtest.Job(w.tb, key, j.tasks, func(spec *task.Job) {
		spec.Overlay, spec.Nonce[0] = string(o.m.ID()), byte(len(w.gang.jobs))
		switch kind {
		case 1:
			spec.Replicas = 2
		case 2:
			spec.Verify, _ = task.ParseVerify(pick(w.rng, "full", "50%"))
			j.checked = true
		}
	})
	spec, err := rec.Open()
	if err != nil {
		w.tb.Fatal(err)
	}
	j.id = rec.ID()
	w.swarm.jobs[j.id], w.slow[j.id] = spec, first || w.rng.IntN(2) == 0
	w.gang.jobs = append(w.gang.jobs, j)
	for _, h := range w.gang.members {
		h.g.jobs.put(j.id)
	}
	o.tell(Answered{Of: o.m, To: o.m.Submitter(), Event: message.Offer{Record: rec, Waits: old != nil}})
	if old != nil {
		w.reuse(o, j, old)
	}
}

// before returns an earlier job of a host whose results a new job may reuse; nil if there is none.
func (w *world) before(o *host) *honestJob {
	for _, j := range w.gang.jobs {
		if j.owner == o && !j.checked && o.held(j.id) > 0 && (w.gang.helped[j.id] || w.rng.IntN(2) == 0) {
			return j
		}
	}
	return nil
}

// reuse gives a job all results of an old one that the submitter calls sound, as a driver does.
func (w *world) reuse(o *host, j, old *honestJob) {
	ev := message.Reuse{Job: j.id, Last: true}
	for _, r := range submitter.Sound(o.m.Submitter(), old.id, o.m.Submitter().Spec(j.id)) {
		for i := r.From; i < r.To; i++ {
			end, err := submitter.DecodeSummary(o.disk[submitter.ResultKey(old.id, i)])
			if err != nil || end.Failed {
				continue
			}
			of := task.TaskID{Job: old.id, Index: i}
			end.From = &of
			ev.Tasks = append(ev.Tasks, message.Reused{Of: of, End: end})
			w.gang.tally["reused"]++
		}
	}
	o.tell(Answered{Of: o.m, To: o.m.Submitter(), Event: ev})
}

// prove has a host's driver prove a fault of a worker whose wrong result the host holds. The owner then submits the job
// once more.
func (w *world) prove() {
	for _, id := range w.gang.ids() {
		j := w.gang.lied[id]
		if j == nil || !j.owner.up {
			continue
		}
		delete(w.gang.lied, id)
		w.gang.tally["faults proven"]++
		o := j.owner
		o.tell(Answered{Of: o.m, To: o.m.Submitter(), Event: message.Proven{Worker: id, Why: "another member showed it"}})
		if !j.checked && len(w.gang.jobs) < 2*mostJobs {
			w.submit(o, j)
		}
	}
}
