package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"godwit/owner"
	"godwit/sandbox"
	"godwit/scheduler/message"
	"godwit/task"
)

// lending is an executor that is lent so many cores, and a job of four tasks of a second.
func lending(t *testing.T, cores int) (*fakeHost, *Executor, task.JobID) {
	h := newFakeHost()
	x := h.executor(t, &Sleeper{})
	job := h.prepared(t, x, 4, time.Second)
	h.on(func() { x.Lend(owner.Decision{Cores: cores}) })
	return h, x, job
}

// readyAfter has n tasks of a job be ready, after the one that runs.
func readyAfter(h *fakeHost, x *Executor, job task.JobID, n uint64) {
	h.do(x, message.Start{Task: task.TaskID{Job: job}, Attempt: as(0)})
	for i := uint64(1); i <= n; i++ {
		h.do(x, message.Ready{Start: message.Start{Task: task.TaskID{Job: job, Index: i}, Attempt: as(i)}})
	}
}

// notBegun returns the indices of tasks of which the client has heard that they did not begin.
func (h *fakeHost) notBegun() (out []uint64) {
	for _, ev := range h.heard() {
		if e, ok := ev.(message.NotBegun); ok {
			out = append(out, e.Task.Index)
		}
	}
	return out
}

// Tasks that are ready begin one after the other as slots fall free, and each end says which.
func TestReadyBeginsInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, x, job := lending(t, 1)
		readyAfter(h, x, job, 3)
		<-time.After(2500 * time.Millisecond)
		h.on(func() {
			if tasks := x.Tasks(); len(tasks) != 1 || tasks[0].ID.Index != 2 {
				t.Errorf("%+v run", tasks)
			}
		})
		<-time.After(2 * time.Second)
		got := h.ended()
		if len(got) != 4 {
			t.Fatalf("%d ends", len(got))
		}
		for i, e := range got {
			last := i == 3
			if e.Task.Index != uint64(i) || e.Result.Outcome != task.Completed || (e.Then == nil) != last ||
				!last && (e.Then.Task.Index != uint64(i+1) || e.Then.Attempt != as(uint64(i+1))) {
				t.Errorf("end %d is %+v", i, e)
			}
		}
	})
}

// Nothing that is ready begins in place of another while somebody has a better claim to the core.
func TestReadyWaits(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(h *fakeHost, x *Executor, job task.JobID)
		none int // that are said not to have begun
	}{
		{"the owner touches his machine", func(_ *fakeHost, x *Executor, _ task.JobID) { Pause(x) }, 0},
		{"he touches it as one ends", func(_ *fakeHost, x *Executor, _ task.JobID) { x.ahead.stand(true) }, 0},
		{"fewer cores are lent", func(h *fakeHost, x *Executor, _ task.JobID) {
			h.on(func() { x.Lend(owner.Decision{}) })
		}, 0},
		{"the owner drains it", func(h *fakeHost, x *Executor, _ task.JobID) {
			h.on(func() { x.Lend(owner.Decision{Cores: 1, Drained: true}) })
		}, 0},
		{"the node leaves", func(h *fakeHost, x *Executor, _ task.JobID) {
			h.on(func() { x.Leave(time.Second, time.Second) })
		}, 0},
		{"another task waits for a core", func(h *fakeHost, x *Executor, job task.JobID) {
			h.do(x, message.Start{Task: task.TaskID{Job: job, Index: 3}, Attempt: as(3)})
		}, 0},
		{"all are taken back", func(h *fakeHost, x *Executor, job task.JobID) {
			for i := uint64(1); i <= 2; i++ {
				h.do(x, message.Unready{Task: task.TaskID{Job: job, Index: i}, Attempt: as(i)})
				h.do(x, message.Unready{Task: task.TaskID{Job: job, Index: i}, Attempt: as(i)}) // said again
			}
		}, 2},
		{"its worker takes no part any more", func(h *fakeHost, x *Executor, _ task.JobID) {
			h.on(func() { x.Drop(func(Client) bool { return true }) })
		}, 2},
		{"it ends otherwise than well", func(h *fakeHost, x *Executor, job task.JobID) {
			h.do(x, message.Stop{Task: task.TaskID{Job: job}, Attempt: as(0)})
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, x, job := lending(t, 1)
				readyAfter(h, x, job, 2)
				tt.do(h, x, job)
				<-time.After(1500 * time.Millisecond)
				for _, e := range h.ended() {
					if e.Then != nil || e.Task.Index == 1 || e.Task.Index == 2 {
						t.Errorf("%v ended, and %v began in its place", e.Task, e.Then)
					}
				}
				if got := h.notBegun(); len(got) != tt.none {
					t.Errorf("of %v it is said that they did not begin", got)
				}
			})
		})
	}
}

// A Begin begins what is ready in a core of its own; of what has begun already it does nothing.
func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, x, job := lending(t, 2)
		readyAfter(h, x, job, 2)
		h.do(x, message.Begin{Task: task.TaskID{Job: job, Index: 2}, Attempt: as(2)})
		<-time.After(1500 * time.Millisecond)
		h.do(x, message.Begin{Task: task.TaskID{Job: job, Index: 1}, Attempt: as(1)})
		h.do(x, message.Unready{Task: task.TaskID{Job: job, Index: 1}, Attempt: as(1)})
		<-time.After(time.Minute)
		times := map[uint64]int{}
		for _, e := range h.ended() {
			times[e.Task.Index]++
		}
		if want := map[uint64]int{0: 1, 1: 1, 2: 1}; fmt.Sprint(times) != fmt.Sprint(want) || len(h.notBegun()) > 0 {
			t.Errorf("tasks ended %v times; not begun: %v", times, h.notBegun())
		}
	})
}

// A task that needs more memory than the one that ends waits for the loop.
func TestReadyFits(t *testing.T) {
	c := &core{ctx: t.Context()}
	c.Host, c.ahead.cores, c.ahead.runs = newFakeHost(), 1, 1
	job := &Job{spec: &task.Job{Memory: 2 << 20}}
	ends := &attempt{job: job}
	c.ahead.add(readied{start: start{Start: message.Start{Attempt: as(1)}}, job: job, memory: 3 << 20})
	c.ahead.add(readied{start: start{of: newFakeHost(), Start: message.Start{Attempt: as(2)}}, job: job, memory: 1 << 20})
	completed := task.Result{Outcome: task.Completed}
	if a, _ := c.succeed(ends, &completed); a != nil {
		t.Fatalf("%v begins: it needs more, or is another worker's", a.name)
	}
	c.ahead.add(readied{start: start{Start: message.Start{Attempt: as(3)}}, job: job, memory: 2 << 20})
	if a, _ := c.succeed(ends, &completed); a == nil || a.name.Attempt != as(3) {
		t.Fatalf("%v begins", a)
	}
}

// instant is a Runner of tasks that take no time.
type instant struct {
	Sleeper
	ran atomic.Int64
}

func (r *instant) Run(context.Context, Run) (sandbox.Report, error) {
	r.ran.Add(1)
	return sandbox.Report{Outcome: task.Completed}, nil
}

// Whatever the loop takes back while attempts end on goroutines of their own: each task that was ready has begun
// exactly once, and is told as begun by exactly one end, or was given back exactly once.
func TestReadyOnceOrBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		slots := rapid.IntRange(1, 4).Draw(rt, "slots")
		orders := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 60).Draw(rt, "orders")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = onceOrBack(t, slots, orders) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// onceOrBack has the loop do so while that many tasks end at any moment, and says what is wrong; "" for nothing.
func onceOrBack(t *testing.T, slots int, orders []int) string {
	const ready = 56
	h, r := newFakeHost(), &instant{}
	x := h.executor(t, r)
	job := h.prepared(t, x, ready+slots, time.Second)
	h.on(func() { x.Lend(owner.Decision{Cores: slots}) })
	id := func(i int) task.TaskID { return task.TaskID{Job: job, Index: uint64(i)} }
	for i := range ready {
		h.do(x, message.Ready{Start: message.Start{Task: id(i), Attempt: as(uint64(i))}})
	}
	for i := ready; i < ready+slots; i++ {
		h.do(x, message.Start{Task: id(i), Attempt: as(uint64(i))})
	}
	var others sync.WaitGroup
	others.Go(func() { // the owner's hand is on no loop
		for range orders {
			Pause(x)
			Resume(x)
		}
	})
	for k, what := range orders {
		i := k * 7 % ready
		switch {
		case what < 6:
			h.do(x, message.Unready{Task: id(i), Attempt: as(uint64(i))})
		case what < 8:
			h.do(x, message.Begin{Task: id(i), Attempt: as(uint64(i))})
		default:
			h.on(func() { x.Lend(owner.Decision{Cores: slots * (k % 2)}) })
		}
	}
	others.Wait()
	h.on(func() { x.Lend(owner.Decision{Cores: slots}); x.Fit() })
	for i := range ready { // what is left is given back
		h.do(x, message.Unready{Task: id(i), Attempt: as(uint64(i))})
	}
	synctest.Wait()
	return eachOnce(h, ready, slots, int(r.ran.Load()))
}

// eachOnce says what is wrong with what became of so many tasks that were ready, and of those that were started; so
// many ran.
func eachOnce(h *fakeHost, ready, started, ran int) string {
	ended, then, back := map[uint64]int{}, map[uint64]int{}, map[uint64]int{}
	for _, e := range h.ended() {
		ended[e.Task.Index]++
		if e.Then != nil {
			then[e.Then.Task.Index]++
		}
	}
	for _, i := range h.notBegun() {
		back[i]++
	}
	for i := range uint64(ready) {
		if ended[i]+back[i] != 1 || then[i] > ended[i] {
			return fmt.Sprintf("task %d ended %d times, began in another's place %d times, was given back %d times", i,
				ended[i], then[i], back[i])
		}
	}
	if len(ended) != ran || ready+started != len(ended)+len(back) {
		return fmt.Sprintf("%d ran, %d ended, %d were given back, of %d and %d", ran, len(ended), len(back), ready, started)
	}
	return ""
}
