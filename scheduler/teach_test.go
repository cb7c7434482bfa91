package scheduler

import (
	"math/rand/v2"
	"testing"
	"time"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A pupil is a policy that notes what it is told, and places nothing before it
// is willing.
type pupil struct {
	place.Policy
	willing bool
	asked   []time.Time
	lost    []int
}

func (p *pupil) Place(now time.Time, q place.Queue, hosts []place.Host, f place.Forecast,
	rng *rand.Rand) []place.Placement {
	p.asked = append(p.asked, now)
	if !p.willing {
		return nil
	}
	return p.Policy.Place(now, q, hosts, f, rng)
}

func (p *pupil) Traits() place.Traits {
	return place.Traits{Again: 7 * time.Second, Lost: func(_ time.Time, tasks int) { p.lost = append(p.lost, tasks) }}
}

// school is a coordinator with a pupil, a host of two slots and a job of so many
// tasks.
func school(t *testing.T, tasks uint64, willing bool) (*Coordinator, *pupil, task.PeerID,
	func(d time.Duration, ev message.Event)) {
	t.Helper()
	_, self := schedtest.Identity(1)
	_, worker := schedtest.Identity(2)
	key, owner := schedtest.Identity(3)
	c := NewCoordinator(self, Default(), 1)
	p := &pupil{Policy: c.dispatch.policy, willing: willing}
	c.dispatch.goBy(p)
	now := schedtest.Start
	step := func(d time.Duration, ev message.Event) {
		end := now.Add(d)
		for at, ok := c.NextWake(); ok && at.Before(end); at, ok = c.NextWake() {
			c.Step(at, message.Wake{})
		}
		now = end
		c.Step(now, ev)
	}
	step(0, message.MemberSeen{Advert: overlay.Advert{Peer: worker, Memory: 1 << 30, Speed: 1}})
	step(0, &message.Received{From: worker, Message: &message.Message{Report: &message.Report{Slots: 2, Full: true,
		Born: 1}}})
	rec := schedtest.Job(t, key, tasks, func(j *task.Job) { j.Work = time.Hour })
	step(0, &message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
	for key := range c.table.fetches {
		step(0, message.Fetched{Key: key})
	}
	return c, p, worker, step
}

// A policy that leaves tasks waiting beside idle hosts is asked again after the
// time that it names, as long as they wait, and no more when they do not.
func TestWaiterIsAskedAgain(t *testing.T) {
	c, p, _, step := school(t, 2, false)
	begun := len(p.asked)
	step(22*time.Second, message.Wake{})
	if n := len(p.asked) - begun; n != 3 {
		t.Errorf("asked %d times in 22 s, want 3", n)
	}
	p.willing = true
	step(10*time.Second, message.Wake{})
	if c.claims.queue.len() > 0 || c.members.given != 2 {
		t.Errorf("%d tasks are placed", c.members.given)
	}
	begun = len(p.asked)
	step(5*time.Second, message.Wake{})
	if n := len(p.asked) - begun; n > 0 {
		t.Errorf("asked %d times though nothing waits", n)
	}
}

// A policy that learns hears of what was lost with its worker, once a Step, and
// neither of refusals nor of tasks that failed.
func TestLearnerHearsOfLosses(t *testing.T) {
	_, p, worker, step := school(t, 2, true)
	step(11*time.Second, message.Wake{}) // no report for longer than a lease lasts
	if len(p.lost) != 1 || p.lost[0] != 2 {
		t.Errorf("it heard of %v, want of 2 at once", p.lost)
	}

	c, p, worker, step := school(t, 2, true)
	var names []message.AttemptName
	for _, l := range c.members.hosts[worker].leases {
		names = append(names, message.AttemptName{Task: l.taskID(), Attempt: l.attempt})
	}
	key, _ := schedtest.Identity(2)
	r := task.Result{Task: names[1].Task, Worker: worker, Outcome: task.ExitFailure, ExitCode: 1}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	step(time.Second, &message.Received{From: worker, Message: &message.Message{Report: &message.Report{
		Slots: 2, Ended: []message.Ending{{Attempt: names[1].Attempt, Result: r}},
		Refused: []message.Refusal{{Task: names[0].Task, Attempt: names[0].Attempt, Reason: "the owner is there"}},
	}}})
	if len(p.lost) != 0 {
		t.Errorf("it heard of %v, of which none was lost with its worker", p.lost)
	}
	step(time.Second, message.MemberLost{Peer: worker, Reason: "timeout"})
	step(5*time.Second, message.Wake{})
	if len(p.lost) > 1 {
		t.Errorf("it heard of %v", p.lost)
	}
}

// What a policy has learnt outlives new rules that do not name another.
func TestGovernKeepsWhatWasLearnt(t *testing.T) {
	_, self := schedtest.Identity(1)
	c := NewCoordinator(self, Default(), 1)
	rules := Rules{Placement: "flp", Migration: "cbr"}
	if err := c.Govern(rules); err != nil {
		t.Fatal(err)
	}
	policy, mover := c.dispatch.policy, c.migration.mover
	rules.Replicas = 2
	if err := c.Govern(rules); err != nil || c.dispatch.policy != policy || c.migration.mover != mover {
		t.Errorf("the policies were made anew (%v)", err)
	}
	rules.Migration = "reactive:x=1"
	if err := c.Govern(rules); err == nil || c.migration.mover != mover {
		t.Errorf("an unknown parameter: %v", err)
	}
	rules.Migration = "none"
	if err := c.Govern(rules); err != nil || c.migration.mover != nil {
		t.Errorf("none is a policy: %v, %v", c.migration.mover, err)
	}
}
