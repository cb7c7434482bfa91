package submitter

import (
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// manyJobs offers n jobs at one moment.
func manyJobs(b *subBench, n int, each ...func()) {
	for i := range n {
		b.step(message.Offer{Record: schedtest.Job(b.tb, b.key, 1, func(j *task.Job) {
			binary.BigEndian.PutUint64(j.Nonce, uint64(i))
		})})
		for _, look := range each {
			look()
		}
	}
}

// TestSubmitterPacesOffers: two thousand jobs are offered to a new leader
// without a long Step, without a flood, and all of them.
func TestSubmitterPacesOffers(t *testing.T) {
	const jobs = 2000
	b := newSubBench(t)
	manyJobs(b, jobs)
	b.pass(time.Minute)
	b.step(message.LeaderChanged{})
	b.pass(time.Second)
	b.step(message.LeaderChanged{Leader: b.self, Epoch: 2})
	from, last, heard := b.now, b.now, map[task.JobID]bool{}
	for len(heard) < jobs {
		sent := 0
		last = b.now
		for _, e := range b.last {
			if e, ok := e.(message.Send); ok && e.Message.Submit != nil {
				sent++
				heard[e.Message.Submit.Record.ID()] = true
			}
		}
		if sent > paceOffers || len(b.last) > 2*paceOffers {
			t.Fatalf("%d offers, %d effects in one step", sent, len(b.last))
		}
		at, ok := b.s.NextWake()
		if !ok || b.now.Sub(from) > time.Minute {
			t.Fatalf("%d jobs were offered", len(heard))
		}
		if !at.After(b.now) {
			t.Fatal("it wants to be woken without end")
		}
		b.now = at
		b.step(message.Wake{})
	}
	if took, most := last.Sub(from), jobs/paceOffers*paceEvery*12/10; took > most {
		t.Errorf("took %v, want at most %v", took, most)
	}
}

// TestSubmitterPacesBytes: large records are paced by their size.
func TestSubmitterPacesBytes(t *testing.T) {
	b := newSubBench(t)
	b.step(message.LeaderChanged{})
	var size int
	for i := range 50 {
		rec := schedtest.Job(t, b.key, 1, func(j *task.Job) {
			binary.BigEndian.PutUint64(j.Nonce, uint64(i))
			j.Args = make([]string, 100)
			for k := range j.Args {
				j.Args[k] = fmt.Sprintf("%01000d", k)
			}
		})
		size = len(rec.Job)
		b.step(message.Offer{Record: rec})
	}
	b.step(message.LeaderChanged{Leader: b.self, Epoch: 2})
	if n, most := offers(b.last), paceBytes/size+1; n == 0 || n > most {
		t.Errorf("%d offers of %d bytes in one step, want 1 to %d", n, size, most)
	}
}

// TestSubmitterThousandJobsAtOnce: each Step of taking in many jobs costs a few
// effects, with a leader or without.
func TestSubmitterThousandJobsAtOnce(t *testing.T) {
	for _, leader := range []task.PeerID{"", "someone"} {
		b := newSubBench(t)
		b.step(message.LeaderChanged{Leader: leader, Epoch: 3})
		most := 0
		manyJobs(b, 1000, func() { most = max(most, len(b.last)) })
		if want := 3; most > want {
			t.Errorf("%d effects in one step, want at most %d", most, want)
		}
		if n := len(b.s.jobs); n != 1000 {
			t.Errorf("%d jobs, want 1000", n)
		}
	}
}

// heapOf returns the bytes that what make returns keeps alive.
func heapOf[T any](make func() T) (T, uint64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc < before.HeapAlloc {
		return v, 0
	}
	return v, after.HeapAlloc - before.HeapAlloc
}

// TestSubmitterTimersAreFew: what is heard of a job, and of leaders, leaves no
// heap of timers.
func TestSubmitterTimersAreFew(t *testing.T) {
	b := newSubBench(t)
	id := b.offer(1_000_000, 0)
	for i := range uint64(5000) {
		b.bring(id, message.JobRunning, "a", 3*i+1)
		b.step(message.LeaderChanged{})
		b.step(message.LeaderChanged{Leader: b.self, Epoch: i + 2})
		b.now = b.now.Add(time.Millisecond)
	}
	if n := b.s.timers.Len(); n > 1000 {
		t.Errorf("%d timers for one job", n)
	}
}

// TestSubmitterMemory: a sweep whose results are all held costs next to nothing
// in memory, in order and out of it, and after a restart.
func TestSubmitterMemory(t *testing.T) {
	const tasks = 200_000
	const most = 16 // bytes a task; results in order cost none
	b := newSubBench(t)
	id := b.offer(2*tasks, 0) // half of it, so that the job stays open
	disk := 0
	b.disk = nil
	take := func(at func(uint64) uint64) func() *Submitter {
		return func() *Submitter {
			for i := range uint64(tasks) {
				p := &message.Progress{Job: id, Tasks: []message.TaskSummary{{Index: at(i), Failed: true, Reason: "no luck"}}}
				for _, e := range b.s.Step(b.now, &message.Received{From: b.self, Message: &message.Message{Progress: p}}) {
					if e, ok := e.(message.Persist); ok {
						disk += len(e.Value)
					}
				}
				b.now = b.now.Add(10 * time.Millisecond)
			}
			return b.s
		}
	}
	s, bytes := heapOf(take(func(i uint64) uint64 { return i ^ 63 })) // out of order by up to 63
	t.Logf("%.2f bytes a task held", float64(bytes)/tasks)
	if bytes > most*tasks || s.Held(id).Count() != tasks {
		t.Errorf("%d bytes for %d tasks held", bytes, s.Held(id).Count())
	}
}

// BenchmarkSubmitterProgress is one Progress of 256 results taken in, of a
// sweep of a million. The check of signatures is not in it.
func BenchmarkSubmitterProgress(b *testing.B) {
	s := newSubBench(b)
	s.disk = map[string][]byte{}
	const tasks = 1_000_000
	id := s.offer(tasks, 0)
	p := &message.Progress{Job: id}
	next := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		p.Tasks = p.Tasks[:0]
		for range message.MaxProgress {
			p.Tasks = append(p.Tasks, message.TaskSummary{Index: next % tasks, Failed: true, Reason: "no luck"})
			next++
		}
		s.s.Step(s.now, &message.Received{From: s.self, Message: &message.Message{Progress: p}})
	}
}

// BenchmarkSubmitterLeaderChanged is the first Step of offering 10,000 jobs to a
// new leader: the longest of them.
func BenchmarkSubmitterLeaderChanged(b *testing.B) {
	s := newSubBench(b)
	manyJobs(s, 10_000)
	epoch := uint64(1)
	for b.Loop() {
		epoch++
		s.now = s.now.Add(10 * time.Second)
		s.s.Step(s.now, message.LeaderChanged{Leader: s.self, Epoch: epoch})
	}
}

// BenchmarkSubmitterRestore reads an open job of which 100,000 results are held.
func BenchmarkSubmitterRestore(b *testing.B) {
	s := newSubBench(b)
	const tasks = 100_000
	id := s.offer(2*tasks, 0)
	for i := range uint64(tasks) {
		sum := summaryOf(id, i, "a")
		var err error
		if s.disk[ResultKey(id, i)], err = durable.Encode(&sum); err != nil {
			b.Fatal(err)
		}
	}
	keys := slices.Sorted(maps.Keys(s.disk)) // as a driver's store gives them
	scan := func(prefix string) iter.Seq2[string, []byte] {
		return func(yield func(string, []byte) bool) {
			for _, key := range keys {
				if strings.HasPrefix(key, prefix) && !yield(key, s.disk[key]) {
					return
				}
			}
		}
	}
	for b.Loop() {
		s.s = New(s.self, message.DefaultTiming(), Default(), s.key)
		if err := s.s.Restore(scan); err != nil {
			b.Fatal(err)
		}
	}
	if s.s.Held(id).Count() != tasks {
		b.Fatal("not all were read")
	}
}
