package scheduler

import (
	"slices"
	"testing"
	"time"

	"godwit/scheduler/schedtest"
	"godwit/scheduler/share"
	"godwit/task"
)

// A step is the time between two tasks that end on the only slot.
const step = time.Second

// serve runs tasks on the only slot of a crowd of jobs for some time. It returns the longest time that the last job had
// none, and calls each after every Step.
func serve(t *testing.T, c *Coordinator, h *host, last *job, d time.Duration, each func()) (longest time.Duration) {
	t.Helper()
	served := schedtest.Start
	for now := schedtest.Start.Add(step); now.Before(schedtest.Start.Add(d)); now = now.Add(step) {
		if len(h.leases) == 0 {
			t.Fatal("the slot is idle")
		}
		if h.leases[0].job == last {
			served = now
		}
		longest = max(longest, now.Sub(served))
		c.Step(now, endOfFirst(t, h))
		each()
	}
	return longest
}

// jobOf returns the job with a priority of its own.
func jobOf(c *Coordinator, priority int) *job {
	for _, j := range c.table.jobs {
		if j.spec.Priority == priority {
			return j
		}
	}
	return nil
}

// Two jobs of priority 2 never end. With aging a job of priority 0 is served after two intervals at the latest, or three
// where the policy serves jobs of one priority in order.
func TestAgedJobCannotStarve(t *testing.T) {
	const aging = 20 * time.Second
	for _, fairness := range share.Names() {
		for _, on := range []bool{false, true} {
			c, h := crowdedCoordinator(t, 3, 1, func(k int, j *task.Job) { j.Priority = []int{2, 2, 0}[k] })
			spec := fairness
			if on {
				spec += ":aging=" + aging.String()
			}
			if err := c.Govern(Rules{Fairness: spec, Placement: "fcfs"}); err != nil {
				t.Fatal(err)
			}
			low := jobOf(c, 0)
			const total = 10 * aging
			longest := serve(t, c, h, low, total, func() {
				if h.leases[len(h.leases)-1].job == low && low.priority != 0 && low.unserved.Equal(c.now) {
					t.Errorf("%s: a job that was served has priority %d", spec, low.priority)
				}
			})
			// A look comes late by an eighth of the interval, and two tasks are ahead in the slot's queue.
			switch most := 3*aging + aging/agingLooks + 5*step; {
			case on && longest > most:
				t.Errorf("%s: the job waited for %v, want at most %v", spec, longest, most)
			case !on && longest < total-2*step:
				t.Errorf("%s: the job waited for %v only, want the whole time", spec, longest)
			}
		}
	}
}

// A job that ages says so, and one that takes no more slots does not age.
func TestAgingIsExplained(t *testing.T) {
	c, h := crowdedCoordinator(t, 3, 1, func(k int, j *task.Job) {
		j.Priority = []int{9, 0, 1}[k]
		j.Slots = []int{0, 0, 1}[k]
	})
	if err := c.Govern(Rules{Fairness: "equal:aging=20s", Placement: "fcfs"}); err != nil {
		t.Fatal(err)
	}
	low, limited := jobOf(c, 0), jobOf(c, 1)
	limited.held = 1 // it has its slot elsewhere
	serve(t, c, h, low, 50*time.Second, func() {})
	limited.held = 0
	const want = "none of its tasks was placed for 49s, so its priority has risen from 0 to 2"
	if why := c.Why(low.id, 0); !slices.ContainsFunc(why, func(w Why) bool { return w.Reason == want }) {
		t.Errorf("%v, want %q", why, want)
	}
	if limited.priority != 1 {
		t.Errorf("a job that takes no more slots has priority %d, want 1", limited.priority)
	}
}

// In an open pool priorities are void, so no job ages.
func TestAgingIsVoidInOpenPools(t *testing.T) {
	c, h := crowdedCoordinator(t, 3, 1, func(k int, j *task.Job) { j.Priority = k })
	if err := c.Govern(Rules{Fairness: "equal:aging=1s", Placement: "fcfs", Open: true}); err != nil {
		t.Fatal(err)
	}
	serve(t, c, h, jobOf(c, 0), 30*time.Second, func() {
		for _, j := range c.table.jobs {
			if j.priority != 0 {
				t.Fatalf("a job has priority %d, want 0", j.priority)
			}
		}
	})
}
