package exec

import (
	"testing"
	"testing/synctest"
	"time"

	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// A greedy runner's tasks hold more than their jobs ask for.
type greedy struct {
	Sleeper
	holds map[string]int64
}

func (g *greedy) Excess() map[string]int64 { return g.holds }

// What tasks hold beyond what their jobs ask for counts as what they ask for: those that hold it
// are given back first, though others are newer, until the rest fits into what is lent.
func TestExcessIsShed(t *testing.T) {
	const asked = 256 << 20
	name := func(job task.JobID, i uint64) string { return task.TaskID{Job: job, Index: i}.String() }
	for what, tt := range map[string]struct {
		lent   int64
		holds  map[uint64]int64
		sum    int64
		change bool
		back   []uint64 // tasks that are given back
	}{
		"within":         {4 * asked, nil, 0, false, nil},
		"a little":       {4 * asked, map[uint64]int64{0: excessStep - 1, 1: excessStep - 1}, 0, false, nil},
		"room for it":    {8 * asked, map[uint64]int64{0: asked}, asked, true, nil},
		"the oldest":     {4 * asked, map[uint64]int64{0: asked + 1}, asked, true, []uint64{0}},
		"the greediest":  {4 * asked, map[uint64]int64{0: asked, 2: 2 * asked}, 3 * asked, true, []uint64{2}},
		"less is lent":   {2 * asked, nil, 0, false, []uint64{2, 3}},
		"nobody bounds":  {0, map[uint64]int64{0: 100 * asked}, 100 * asked, true, nil},
		"one that waits": {4 * asked, map[uint64]int64{9: asked}, asked, true, nil},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, r := newFakeHost(), &greedy{holds: map[string]int64{}}
				x := h.executor(t, r)
				job := h.prepared(t, x, 4, time.Hour)
				h.on(func() {
					x.jobs.get(job).spec.Memory = asked
					x.Lend(owner.Decision{Cores: 4, Memory: tt.lent})
				})
				for i := range uint64(4) {
					h.do(x, message.Start{Task: task.TaskID{Job: job, Index: i}, Attempt: as(i)})
				}
				for i, n := range tt.holds {
					r.holds[name(job, i)] = n
				}
				h.on(func() {
					if sum, changed := x.Measure(); sum != tt.sum || changed != tt.change {
						t.Errorf("they hold %d, changed %v", sum, changed)
					}
					if _, again := x.Measure(); again {
						t.Error("it changes though nothing does")
					}
					x.Fit()
				})
				synctest.Wait()
				back := map[uint64]bool{}
				for _, e := range h.ended() {
					back[e.Task.Index] = true
				}
				for _, i := range tt.back {
					if !back[i] {
						t.Errorf("task %d goes on", i)
					}
				}
				if len(back) != len(tt.back) {
					t.Errorf("given back: %v", back)
				}
			})
		})
	}
}
