package scheduler

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/replication"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestLongSweep runs a sweep through a coordinator with a submitter that takes
// its results, tasks ending in any order, and then has a newcomer follow: what
// the coordinator keeps and what the newcomer is sent do not grow with the tasks
// that are delivered. GODWIT_TASKS=1000000 makes it the million of the stated
// limits, which takes minutes: each result is signed and verified.
func TestLongSweep(t *testing.T) {
	tasks := uint64(5_000)
	if text := os.Getenv("GODWIT_TASKS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		tasks = n
	}
	key, self := schedtest.Identity(0)
	worker, from := schedtest.Identity(1)
	before := heapNow()
	c := NewCoordinator(self, Default(), 1)
	rec := schedtest.Job(t, key, tasks, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	var leases []message.Lease
	var have ledger.Set
	var most uint64
	var carry func(effects []message.Effect)
	step := func(ev message.Event) { carry(c.Step(schedtest.Start, ev)) }
	carry = func(effects []message.Effect) {
		for _, e := range effects {
			switch e := e.(type) {
			case message.Fetch:
				step(message.Fetched{Key: e.Key})
			case message.Send:
				if e.Message.Place != nil {
					leases = append(leases, e.Message.Place.Leases...)
				}
				if p := e.Message.Progress; p != nil && len(p.Tasks) > 0 {
					for i := range p.Tasks {
						have.Add(p.Tasks[i].Index)
					}
					step(&message.Received{From: self, Message: &message.Message{Got: &message.Got{Job: p.Job, Have: have}}})
				}
			}
		}
	}
	step(message.MemberSeen{Advert: overlay.Advert{Peer: from, Memory: 1 << 40, Speed: 1}})
	step(&message.Received{From: from, Message: &message.Message{Report: &message.Report{Slots: overlay.MaxSlots,
		Full: true}}})
	step(&message.Received{From: self, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
	next := min(1<<16, tasks/2) // when to look
	sent := 0
	for n := uint64(0); len(leases) > 0; {
		var ended []message.Ending
		for range min(1+rng.IntN(16), len(leases)) { // what ends at about the same time is one report
			k := rng.IntN(len(leases))
			l := leases[k]
			leases[k] = leases[len(leases)-1]
			leases = leases[:len(leases)-1]
			r := task.Result{Task: l.Task, Outcome: task.Completed}
			if err := r.Sign(worker); err != nil {
				t.Fatal(err)
			}
			ended = append(ended, message.Ending{Attempt: l.Attempt, Result: r})
		}
		n += uint64(len(ended))
		step(&message.Received{From: from, Message: &message.Message{Report: &message.Report{Epoch: 1,
			Slots: overlay.MaxSlots, Ended: ended}}})
		if n >= next {
			next += 1 << 17
			if sent == 0 {
				sent = newcomer(t, c) // in the middle, with all its gaps
				step(message.GroupIs{})
				c.replicas = replication.New(c.self, &c.cfg.Timing, book{c}) // as a tick does, in time
			}
			most = max(most, heapNow()-before)
			t.Logf("%d tasks: %.1f MiB of heap so far, %d ranges", n, float64(most)/(1<<20),
				len(c.table.jobs[rec.ID()].ledger.Facts.Done))
		}
	}
	if have.Count() != tasks {
		t.Fatalf("%d of %d tasks were delivered", have.Count(), tasks)
	}
	most = max(most, heapNow()-before)
	sent = max(sent, newcomer(t, c))
	t.Logf("%d tasks: %.1f MiB of heap, %.1f KiB to a newcomer, %d ranges", tasks, float64(most)/(1<<20),
		float64(sent)/(1<<10), len(c.table.jobs[rec.ID()].ledger.Facts.Done))
	if most > 64<<20 || sent > 2<<20 {
		t.Errorf("the limits are 64 MiB and 2 MiB")
	}
}

func heapNow() uint64 {
	runtime.GC()
	runtime.GC() // pools let go of what they hold at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// newcomer has a replica follow the coordinator and returns how many bytes it was
// sent until it knew the same.
func newcomer(t *testing.T, c *Coordinator) (sent int) {
	_, id := schedtest.Identity(2)
	r := NewReplica(id, Default())
	pending := r.Step(schedtest.Start, message.LeaderChanged{Leader: c.self, Epoch: c.Epoch()})
	pending = append(pending, c.Step(schedtest.Start, message.GroupIs{Followers: []task.PeerID{id}})...)
	for len(pending) > 0 {
		e, ok := pending[0].(message.Send)
		pending = pending[1:]
		switch {
		case !ok:
		case e.To == c.self:
			pending = append(pending, c.Step(schedtest.Start, &message.Received{From: id, Message: &e.Message})...)
		case e.To == id:
			b, err := message.EncodeFrame([]message.Message{e.Message})
			if err != nil {
				t.Fatal(err)
			}
			sent += len(b)
			pending = append(pending, r.Step(schedtest.Start, &message.Received{From: c.self, Message: &e.Message})...)
		}
	}
	if r.Digest() != c.Digest() {
		t.Error("the newcomer does not know what the leader does")
	}
	return sent
}
