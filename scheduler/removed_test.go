package scheduler

import (
	"testing"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestForgedRemovalLosesNothing has a stranger, a worker, and a signature of another key claim that tasks of a job have
// ended: all of them run. The submitter's own word of tasks that its owner removed drops what runs of them, and no other.
func TestForgedRemovalLosesNothing(t *testing.T) {
	const tasks = 12
	signed := func(id task.JobID, held ledger.Set, by int) *message.Got {
		h, err := ledger.HeldOf(0, held)
		if err != nil {
			t.Fatal(err)
		}
		key, _ := schedtest.Identity(by)
		h.Sign(id, key)
		return &message.Got{Job: id, Have: held, Held: h.Signature}
	}
	_, owner := schedtest.Identity(honestOne)
	_, stranger := schedtest.Identity(greedyOne)
	removed := ledger.Set{{From: 0, To: 5}}
	for name, tt := range map[string]struct {
		from func(p *openPool) task.PeerID
		by   int // whose key signs
		left int
	}{
		"a stranger":                 {func(*openPool) task.PeerID { return stranger }, greedyOne, tasks},
		"a worker":                   {func(p *openPool) task.PeerID { return p.members[0].id }, greedyOne, tasks},
		"a signature of its owner's": {func(*openPool) task.PeerID { return stranger }, honestOne, tasks},
		"a signature of another's":   {func(*openPool) task.PeerID { return owner }, greedyOne, tasks},
		"its submitter":              {func(*openPool) task.PeerID { return owner }, honestOne, tasks - 5},
	} {
		p := newOpenPool(t, Rules{}, 2, 2)
		p.c.cfg.Signed = true
		id := p.submit(honestOne, tasks, 10*time.Second, nil)
		p.run(5 * time.Second)
		p.step(&message.Received{From: tt.from(p), Message: &message.Message{Got: signed(id, removed, tt.by)}})
		runs := 0
		for _, m := range p.members {
			for _, held := range m.holds {
				if removed.Contains(held.lease.Task.Index) {
					runs++
				}
			}
		}
		if good := tt.left < tasks; good != (runs == 0) {
			t.Errorf("%s: %d of the removed tasks run", name, runs)
		}
		p.run(3 * time.Minute)
		if p.done[id] != tt.left || p.c.table.jobs[id].state != jobOver {
			t.Errorf("%s: %d tasks were done, want %d", name, p.done[id], tt.left)
		}
	}
}
