package scheduler

import (
	"testing"
	"time"

	"godwit/scheduler/leasing"
	"godwit/scheduler/message"
)

// A lease that runs out at the moment at which its worker had to answer an order to move is
// given up once: its slot is freed once, and nothing is asked of it any more.
func TestGivenUpOnce(t *testing.T) {
	for name, order := range map[string]func(c *Coordinator, l *lease){
		"saved":      func(c *Coordinator, l *lease) { c.transfers.orderSave(l) },
		"handed on":  func(_ *Coordinator, l *lease) { l.move.as = message.Attempt{Epoch: 1, Seq: 9}; l.take(leasing.Hands) },
		"asked back": func(_ *Coordinator, l *lease) { l.move = nil; l.take(leasing.AsksBack) },
	} {
		c, _, worker, step := school(t, 1, true)
		h := c.members.hosts[worker]
		l := h.leases[0]
		l.move = &move{by: l.expires}
		order(c, l)
		c.members.alarm(h, l.expires)
		step(l.expires.Sub(c.now), message.Wake{})
		if h.load != 0 || h.recalls != 0 || h.memoryUsed != 0 || len(h.leases) != 0 || l.state != leasing.Over {
			t.Errorf("%s: %d tasks, %d leases, %d asked back, %d bytes; the lease is %v", name, h.load, len(h.leases),
				h.recalls, h.memoryUsed, l.state)
		}
		if j := l.job; len(j.live) != 0 || len(j.wait.back) != 1 {
			t.Errorf("%s: %d tasks run and %d wait again, want one that waits", name, len(j.live), len(j.wait.back))
		}
	}
}

// An event that must not happen changes nothing, and a lease counts once among those that
// its host was asked for.
func TestRefusedEventsChangeNothing(t *testing.T) {
	for s := leasing.Refused + 1; s < leasing.States; s++ {
		for e := range leasing.Events {
			h := &host{}
			l := &lease{host: h, state: s}
			if l.is(leasing.AskedBack) {
				h.recalls = 1
			}
			took := l.take(e)
			if took != (s.Next(e) != leasing.Refused) || took && l.state != s.Next(e) || !took && l.state != s {
				t.Errorf("event %d, taken: %v, left %v as %v", e, took, s, l.state)
			}
			want := 0
			if l.is(leasing.AskedBack) {
				want = 1
			}
			if h.recalls != want {
				t.Errorf("event %d on %v: %d asked back, want %d", e, s, h.recalls, want)
			}
		}
	}
}

// A task that its worker runs and cannot save, and that came from a worker that was lost, has
// arrived: it is not asked back for being late.
func TestArrivedAndFixed(t *testing.T) {
	c, _, worker, step := school(t, 1, true)
	h := c.members.hosts[worker]
	l := h.leases[0]
	j, i, a := l.job, l.task.index, l.attempt
	c.removeLease(l, "lost", "the worker is lost while it hands the task over")
	c.transfers.bookAwaiting(j, i, h, message.Attempt{Epoch: 1, Seq: a.Seq + 1}, a, "on its way")
	l = h.leases[0]
	held := message.Held{Task: l.taskID(), Attempt: l.attempt, Running: true, Fixed: true}
	step(time.Second, &message.Received{From: worker,
		Message: &message.Message{Report: &message.Report{Slots: 2, Held: []message.Held{held}}}})
	if l.state != leasing.Running || !l.fixed || j.migrations != 1 {
		t.Errorf("the lease is %v, fixed: %v, after %d moves", l.state, l.fixed, j.migrations)
	}
}
