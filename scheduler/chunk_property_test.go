package scheduler

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A chunkRun drives a coordinator with random hosts, jobs and reports.
type chunkRun struct {
	tb    testing.TB
	t     *rapid.T
	now   time.Time
	c     *Coordinator
	held  map[task.PeerID][]message.Lease // that each host was given and has not ended
	hosts []int
	jobs  int
}

// TestChunksAddUp: whatever hosts and jobs do, what a member was given of a job, less what
// it has done and what came back, are the leases that it has; and all together they are no
// more than the job's tasks that have not ended.
func TestChunksAddUp(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		cfg := Default()
		cfg.Placement, cfg.Migration = rapid.SampledFrom([]string{"", "fcfs"}).Draw(t, "placement"), ""
		cfg.Rules.Chunking = rapid.SampledFrom([]string{"", "", "paced", "one", "gss", "amrs", "samra", "ssse", "awf",
			"fac"}).Draw(t, "chunking")
		if cfg.Validate() != nil {
			t.Skip("no such policy")
		}
		_, self := schedtest.Identity(0)
		r := &chunkRun{tb: tb, t: t, now: schedtest.Start, c: NewCoordinator(self, cfg, 1),
			held: map[task.PeerID][]message.Lease{}}
		for range 3 {
			r.host()
		}
		r.submit()
		t.Repeat(map[string]func(*rapid.T){
			"host":   func(*rapid.T) { r.host() },
			"lost":   func(*rapid.T) { r.lose() },
			"submit": func(*rapid.T) { r.submit() },
			"ran":    func(*rapid.T) { r.report(task.Completed) },
			"failed": func(*rapid.T) { r.report(task.Interrupted) },
			"refuse": func(*rapid.T) { r.refuse() },
			"wait":   func(*rapid.T) { r.wait() },
			"govern": func(*rapid.T) { r.govern() },
			"":       func(*rapid.T) { r.check() },
		})
	})
}

func (r *chunkRun) step(ev message.Event) {
	for _, e := range r.c.Step(r.now, ev) {
		switch e := e.(type) {
		case message.Send:
			switch {
			case e.Message.Place != nil:
				r.held[e.To] = append(r.held[e.To], e.Message.Place.Leases...)
			case e.Message.Ack != nil:
				r.drop(e.To, e.Message.Ack.Drop)
			}
		case message.Fetch:
			defer r.step(message.Fetched{Key: e.Key})
		}
	}
}

// drop ends leases as a worker does that has not begun them: it answers a recall.
func (r *chunkRun) drop(id task.PeerID, names []message.AttemptName) {
	for _, n := range names {
		for i, l := range r.held[id] {
			if l.Task == n.Task && l.Attempt == n.Attempt {
				r.held[id] = append(r.held[id][:i:i], r.held[id][i+1:]...)
				if n.Reason == message.DropRecall {
					defer r.step(&message.Received{From: id,
						Message: &message.Message{Report: &message.Report{Slots: 2,
							Refused: []message.Refusal{{Task: n.Task, Attempt: n.Attempt, Reason: message.DropRecall}}}}})
				}
				break
			}
		}
	}
}

func (r *chunkRun) host() {
	n := rapid.IntRange(1, 6).Draw(r.t, "host")
	_, id := schedtest.Identity(n)
	r.hosts = append(r.hosts, n)
	r.step(message.MemberSeen{Advert: overlay.Advert{Peer: id, Memory: 1 << 30, Speed: float64(n), Slots: 2}})
	r.step(&message.Received{From: id, Message: &message.Message{Report: &message.Report{Slots: rapid.IntRange(1,
		3).Draw(r.t, "slots")}}})
}

func (r *chunkRun) anyHost() (int, task.PeerID) {
	n := rapid.SampledFrom(r.hosts).Draw(r.t, "who")
	_, id := schedtest.Identity(n)
	return n, id
}

func (r *chunkRun) lose() {
	_, id := r.anyHost()
	r.held[id] = nil
	r.step(message.MemberLost{Peer: id, Reason: "gone"})
	r.now = r.now.Add(2 * time.Second)
	r.step(message.Wake{})
}

func (r *chunkRun) submit() {
	if r.jobs++; r.jobs > 4 {
		r.t.Skip("enough")
	}
	key, owner := schedtest.Identity(100 + r.jobs)
	rec := schedtest.Job(r.tb, key, rapid.Uint64Range(1, 500).Draw(r.t, "tasks"), func(j *task.Job) {
		j.Work = rapid.SampledFrom([]time.Duration{0, time.Millisecond, 20 * time.Millisecond, time.Hour}).Draw(r.t, "work")
		j.Replicas = rapid.IntRange(1, 2).Draw(r.t, "replicas")
	})
	r.step(&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
}

// report ends some of what a host has, the first of it.
func (r *chunkRun) report(how task.Outcome) {
	n, id := r.anyHost()
	count := min(len(r.held[id]), rapid.IntRange(1, 40).Draw(r.t, "count"))
	key, _ := schedtest.Identity(n)
	rep := &message.Report{Slots: rapid.IntRange(1, 3).Draw(r.t, "slots")}
	for _, l := range r.held[id][:count] {
		res := task.Result{Task: l.Task, Worker: id, Outcome: how,
			Wall: rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second}).Draw(r.t, "wall")}
		if err := res.Sign(key); err != nil {
			r.t.Fatal(err)
		}
		rep.Ended = append(rep.Ended, message.Ending{Attempt: l.Attempt, Result: res})
	}
	r.held[id] = r.held[id][count:]
	r.step(&message.Received{From: id, Message: &message.Message{Report: rep}})
}

func (r *chunkRun) refuse() {
	_, id := r.anyHost()
	if len(r.held[id]) == 0 {
		r.t.Skip("it has nothing")
	}
	last := len(r.held[id]) - 1
	l := r.held[id][last]
	r.held[id] = r.held[id][:last]
	r.step(&message.Received{From: id, Message: &message.Message{Report: &message.Report{Slots: 2,
		Refused: []message.Refusal{{Task: l.Task, Attempt: l.Attempt, Reason: "no"}}}}})
}

func (r *chunkRun) wait() {
	r.now = r.now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(r.t, "ms")) * time.Millisecond)
	r.step(message.Wake{})
}

func (r *chunkRun) govern() {
	rules := r.c.cfg.Rules
	rules.Chunking = rapid.SampledFrom([]string{"", "one:k=3", "gss"}).Draw(r.t, "rules")
	if err := r.c.Govern(rules); err != nil {
		r.t.Fatal(err)
	}
}

func (r *chunkRun) check() {
	for _, j := range r.c.table.jobs {
		if j.chunks == nil {
			continue
		}
		if j.state == jobOver {
			r.t.Fatalf("a job that is over has chunks")
		}
		named, all := map[*portion]int{}, 0
		for _, t := range j.live {
			for _, l := range t.leases {
				if l.portion != nil && !l.portion.over {
					named[l.portion]++
				}
			}
		}
		for h, p := range j.chunks.portions {
			if p.held != named[p] || p.sized != 0 || p.done != 0 || p.over || h.portions[j] != p ||
				r.c.members.hosts[h.peer] != h {
				r.t.Fatalf("a host has %d leases of its chunks, and is said to hold %d, with %d sized and %d done (over %v)",
					named[p], p.held, p.sized, p.done, p.over)
			}
			all += p.held
		}
		if open := (j.total - j.done - j.failed) * uint64(j.spec.Replicas); all != j.chunks.out || uint64(all) > open {
			r.t.Fatalf("all hosts hold %d, the sum is %d, and %d runs are open", all, j.chunks.out, open)
		}
	}
}
