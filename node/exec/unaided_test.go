package exec

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"godwit/owner"
	"godwit/scheduler/message"
	"godwit/task"
)

// What a node runs of its own job since nothing comes of it waits until a core is idle and nothing else waits for one,
// however long it is there; and it ends, wherever it is, when nobody wants it any more.
func TestUnaidedWaits(t *testing.T) {
	const work = time.Minute
	for name, tt := range map[string]struct {
		cores   int
		ends    time.Duration // when it is not wanted any more; 0: it is
		outcome task.Outcome
		after   time.Duration
	}{
		"a core is idle":                    {cores: 3, outcome: task.Completed, after: work},
		"it is the last":                    {cores: 1, outcome: task.Completed, after: 3 * work},
		"it runs, and is not wanted":        {cores: 3, ends: work / 2, outcome: task.Interrupted, after: work / 2},
		"it waits, and is not wanted":       {cores: 1, ends: work / 2, outcome: task.Interrupted, after: work / 2},
		"it is not wanted before all of it": {ends: time.Second, outcome: task.Interrupted, after: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newFakeHost()
				x := h.executor(t, &filing{})
				if _, err := h.blocks.ImportBytes(t.Context(), []byte("not run")); err != nil {
					t.Fatal(err)
				}
				id := task.TaskID{Job: h.prepared(t, x, 1, work)}
				h.on(func() { x.Lend(owner.Decision{Cores: min(tt.cores, 1)}) })
				if tt.cores == 0 {
					h.fetching = make(chan struct{})
				} else {
					h.do(x, message.Start{Task: id, Attempt: as(1)})
				}
				begun := time.Now()
				var got heardAudits
				h.audit(x, message.Audit{Task: id, First: true}, &got)
				if tt.cores > 0 {
					h.do(x, message.Start{Task: id, Attempt: as(2)})
				}
				h.on(func() { x.Lend(owner.Decision{Cores: tt.cores}); x.Fit() })
				synctest.Wait()
				var states []string
				h.on(func() {
					for _, task := range x.Tasks() {
						states = append(states, task.State)
					}
				})
				if slices.Contains(states, Unaided) != (tt.cores == 3) {
					t.Errorf("here are %q", states)
				}
				if tt.ends > 0 {
					time.Sleep(tt.ends)
					h.on(func() { x.Unneeded(h, message.Unneeded{Task: id}) })
				}
				for h.count(&got) == 0 && time.Since(begun) < time.Hour {
					time.Sleep(time.Second)
				}
				if took := time.Since(begun).Round(time.Second); got.results[0].Outcome != tt.outcome ||
					took < tt.after || took > tt.after+time.Second {
					t.Errorf("it came to %v after %v", got.results[0].Outcome, took)
				}
			})
		})
	}
}
