package scheduler

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// busyCoordinator returns a coordinator of members with 2 slots each and a job
// of more tasks than they can hold, and the leases it gave.
func busyCoordinator(b *testing.B, members int, waiting uint64) (*Coordinator, map[task.PeerID][]message.Lease) {
	key, self := schedtest.Identity(0)
	c := NewCoordinator(self, Default(), 1)
	if _, err := c.Restore(nil); err != nil {
		b.Fatal(err)
	}
	leases := map[task.PeerID][]message.Lease{}
	step := func(ev message.Event) {
		for _, e := range c.Step(schedtest.Start, ev) {
			switch e := e.(type) {
			case message.Fetch:
				for _, e := range c.Step(schedtest.Start, message.Fetched{Key: e.Key}) {
					collect(leases, e)
				}
			default:
				collect(leases, e)
			}
		}
	}
	for i := range members {
		_, id := schedtest.Identity(i + 1)
		step(message.MemberSeen{Advert: overlay.Advert{Peer: id, Memory: 1 << 40, Speed: 1}})
		step(&message.Received{From: id, Message: &message.Message{Report: &message.Report{Slots: 2, Full: true}}})
	}
	rec := schedtest.Job(b, key, waiting+uint64(members)*3, func(j *task.Job) { j.Work = time.Second })
	step(&message.Received{From: self, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
	if len(leases) != members {
		b.Fatalf("%d members got leases, want %d", len(leases), members)
	}
	return c, leases
}

func collect(leases map[task.PeerID][]message.Lease, e message.Effect) {
	if s, ok := e.(message.Send); ok && s.Message.Place != nil {
		leases[s.To] = append(leases[s.To], s.Message.Place.Leases...)
	}
}

// BenchmarkCoordinatorStep is one report with one ended result, accepted and
// answered with the next task, at 10,000 waiting tasks and 1,000 members. The
// check of the result's signature, which depends on neither number, is in it;
// BenchmarkVerify says what it is.
func BenchmarkCoordinatorStep(b *testing.B) {
	for _, size := range []struct {
		members int
		waiting uint64
	}{{10, 10_000}, {1000, 10_000}, {1000, 1_000_000}} {
		b.Run(fmt.Sprintf("members=%d/waiting=%d", size.members, size.waiting), func(b *testing.B) {
			benchmarkStep(b, size.members, size.waiting)
		})
	}
}

func benchmarkStep(b *testing.B, members int, waiting uint64) {
	var c *Coordinator
	var leases map[task.PeerID][]message.Lease
	left := uint64(0)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n++ {
		b.StopTimer()
		if left == 0 {
			c, leases = busyCoordinator(b, members, waiting)
			left = waiting
		}
		key, id := schedtest.Identity(n%members + 1)
		l := leases[id][0]
		leases[id] = leases[id][1:]
		r := task.Result{Task: l.Task, Outcome: task.Completed, Wall: time.Second, CPU: time.Second}
		if err := r.Sign(key); err != nil {
			b.Fatal(err)
		}
		ev := &message.Received{From: id, Message: &message.Message{Report: &message.Report{Epoch: 1, Slots: 2,
			Ended: []message.Ending{{Attempt: l.Attempt, Result: r}}}}}
		b.StartTimer()
		effects := c.Step(schedtest.Start, ev)
		b.StopTimer()
		for _, e := range effects {
			collect(leases, e)
		}
		if len(leases[id]) == 0 {
			b.Fatal("no task was placed for the one that ended")
		}
		left--
		b.StartTimer()
	}
}

// BenchmarkVerify is the check of one result's signature.
func BenchmarkVerify(b *testing.B) {
	key, _ := schedtest.Identity(1)
	rec := schedtest.Job(b, key, 1, nil)
	r := task.Result{Task: task.TaskID{Job: rec.ID()}, Outcome: task.Completed}
	if err := r.Sign(key); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := r.Verify(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNoop runs no-op tasks through a coordinator, a submitter on the
// same node and three workers, wired directly: every message is encoded and
// decoded, every result signed and verified, as live. One core does the work
// of all four nodes.
func BenchmarkNoop(b *testing.B) {
	n := uint64(b.N)
	w := newWired(b, 3)
	w.offer(schedtest.Job(b, w.keys[w.self], n, nil))
	b.ResetTimer()
	w.pump(func() bool { j := w.sub.Jobs(); return j[0].Final })
	b.StopTimer()
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tasks/s")
}

// BenchmarkTaskBytes is what a coordinator keeps of a task that is done and not
// delivered, on the heap and in its store. What is delivered is a set and, of the
// last KeepRows, the same.
func BenchmarkTaskBytes(b *testing.B) {
	const tasks = 20_000
	for b.Loop() {
		before := heapNow()
		c, stored := undelivered(b, tasks)
		b.ReportMetric(float64(heapNow()-before)/tasks, "heap-B/task")
		b.ReportMetric(float64(stored)/tasks, "disk-B/task")
		runtime.KeepAlive(c)
	}
}

// undelivered returns a coordinator of a job whose tasks are all done, each with an
// output, and whose submitter holds none; and the bytes of its store.
func undelivered(b *testing.B, tasks uint64) (c *Coordinator, stored int) {
	key, self := schedtest.Identity(0)
	worker, from := schedtest.Identity(1)
	c = NewCoordinator(self, Default(), 1)
	disk := map[string]int{}
	leases := map[task.PeerID][]message.Lease{}
	var step func(ev message.Event)
	step = func(ev message.Event) {
		for _, e := range c.Step(schedtest.Start, ev) {
			switch e := e.(type) {
			case message.Fetch:
				step(message.Fetched{Key: e.Key})
			case message.Persist:
				disk[e.Key] = len(e.Key) + len(e.Value)
			default:
				collect(leases, e)
			}
		}
	}
	step(message.MemberSeen{Advert: overlay.Advert{Peer: from, Memory: 1 << 40, Speed: 1}})
	step(&message.Received{From: from, Message: &message.Message{Report: &message.Report{Slots: overlay.MaxSlots,
		Full: true}}})
	rec := schedtest.Job(b, key, tasks, nil)
	step(&message.Received{From: self, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
	for len(leases[from]) > 0 {
		l := leases[from][0]
		leases[from] = leases[from][1:]
		r := task.Result{Task: l.Task, Outcome: task.Completed, Outputs: []task.Output{outputOf(l.Task)}}
		if err := r.Sign(worker); err != nil {
			b.Fatal(err)
		}
		// As a report arrives: its memory is nobody else's.
		frame, err := message.EncodeFrame([]message.Message{{Report: &message.Report{Epoch: 1, Slots: overlay.MaxSlots,
			Ended: []message.Ending{{Attempt: l.Attempt, Result: r}}}}})
		if err != nil {
			b.Fatal(err)
		}
		messages, err := message.DecodeFrame(frame)
		if err != nil {
			b.Fatal(err)
		}
		step(&message.Received{From: from, Message: &messages[0]})
	}
	if j := c.table.jobs[rec.ID()]; j.done != tasks || len(j.ledger.Rows) != int(tasks) {
		b.Fatalf("%d tasks are done, of %d there are rows", j.done, len(j.ledger.Rows))
	}
	for _, n := range disk {
		stored += n
	}
	return c, stored
}

// BenchmarkCoordinatorJobs is a result that frees a slot, which is given to the job whose
// turn it is, of many that wait: what it costs should not follow from how many they are.
func BenchmarkCoordinatorJobs(b *testing.B) {
	for _, jobs := range []int{1, 2, 10, 100, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			c, h := crowdedCoordinator(b, jobs, 8)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				ev := endOfFirst(b, h)
				b.StartTimer()
				c.Step(schedtest.Start, ev)
			}
		})
	}
}

// endOfFirst is the end of a host's oldest task, of a host that is identity 1.
func endOfFirst(tb testing.TB, h *host) message.Event {
	key, worker := schedtest.Identity(1)
	l := h.leases[0]
	r := task.Result{Task: l.taskID(), Outcome: task.Completed, Wall: time.Second, CPU: time.Second}
	if err := r.Sign(key); err != nil {
		tb.Fatal(err)
	}
	return &message.Received{From: worker, Message: &message.Message{Report: &message.Report{Epoch: 1, Slots: h.slots,
		Ended: []message.Ending{{Attempt: l.attempt, Result: r}}}}}
}

// crowdedCoordinator returns a coordinator of so many jobs that wait for one member. Each job is changed first.
func crowdedCoordinator(b testing.TB, jobs, slots int, change ...func(k int, j *task.Job)) (*Coordinator, *host) {
	cfg := scripted()
	cfg.MaxJobs = jobs
	key, self := schedtest.Identity(0)
	_, worker := schedtest.Identity(1)
	c := NewCoordinator(self, cfg, 1)
	for k := range jobs {
		rec := schedtest.Job(b, key, 10_000, func(j *task.Job) {
			j.Nonce[0], j.Nonce[1], j.Work = byte(k), byte(k>>8),
				time.Hour
			for _, f := range change {
				f(k, j)
			}
		})
		for _, e := range c.Step(schedtest.Start,
			&message.Received{From: self, Message: &message.Message{Submit: &message.Submit{Record: rec}}}) {
			if f, ok := e.(message.Fetch); ok {
				c.Step(schedtest.Start, message.Fetched{Key: f.Key})
			}
		}
	}
	c.Step(schedtest.Start, message.MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: 1 << 40, Speed: 1}})
	c.Step(schedtest.Start, &message.Received{From: worker,
		Message: &message.Message{Report: &message.Report{Slots: slots, Full: true}}})
	return c, c.members.hosts[worker]
}
