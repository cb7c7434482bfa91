package node

import (
	"cmp"
	"context"
	"sync"
	"time"

	"godwit/migrate"
	"godwit/sandbox"
	"godwit/task"
)

// usualPause is how long a task is thought to stand still for a checkpoint before
// one was measured: 64 MiB for the first time (measured, SANDBOX.md).
const usualPause = 28 * time.Millisecond

// saveCosts are what checkpoints of a job's tasks took here. The zero value has
// seen none. A task's first checkpoint stores its whole state, which is new, and
// tells nothing of those that follow: it is left out.
type saveCosts struct {
	mu     sync.Mutex
	pause  time.Duration
	stored float64 // bytes that were new with a checkpoint
}

// paused takes in how long a run stood still for its checkpoints.
func (c *saveCosts) paused(made []sandbox.CheckpointStat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := 1; i < len(made); i++ {
		if c.pause == 0 {
			c.pause = made[i].Pause
		}
		c.pause += time.Duration(paceShare * float64(made[i].Pause-c.pause))
	}
}

// storedNew takes in how much of a checkpoint was new.
func (c *saveCosts) storedNew(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stored == 0 {
		c.stored = float64(bytes)
	}
	c.stored += paceShare * (float64(bytes) - c.stored)
}

// told is the pause and the new bytes of a checkpoint: usually, 0, before any was
// made.
func (c *saveCosts) told() (pause time.Duration, stored float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.pause, usualPause), c.stored
}

// saveOnTime asks for checkpoints of an attempt while its context lasts, where the
// job leaves it to the system when: after each it looks anew how long this host will
// stay and what checkpoints take.
func (n *Node) saveOnTime(ctx context.Context, m *membership, id task.TaskID, p *preparedJob, save chan<- struct{}) {
	if p.job.Checkpoint.Every > 0 || save == nil {
		return
	}
	n.spawn(func() {
		for {
			var every time.Duration
			if n.do(ctx, func() { every = n.saveAfter(m, id, p) }) != nil || !pause(ctx, every) {
				return
			}
			select {
			case save <- struct{}{}:
			default: // asked for already
			}
		}
	})
}

// saveAfter is when to save next, on the loop. How long the task takes nobody here
// knows: leases do not say it, and the owner's guess may be a job's worst task.
func (n *Node) saveAfter(m *membership, id task.TaskID, p *preparedJob) time.Duration {
	now := n.now()
	n.refreshPool(now)
	a, known := m.view.Member(n.self)
	a.Peer = n.self
	if !known {
		a.Overlay = m.id
	}
	pause, stored := p.saves.told()
	transfer := time.Duration(stored / n.uplink() * float64(time.Second))
	every, why := migrate.SaveAfter(0, pause, transfer, func(d time.Duration) float64 {
		p, _ := n.stay(&a, now, d)
		return p
	})
	n.log.Debug("the next checkpoint", "task", id.String(), "in", every.Round(time.Second), "reason", why)
	return every
}

// uplink is the bytes a second at which states leave: as hand-overs did, else a
// usual rate or what the owner grants.
func (n *Node) uplink() float64 {
	if n.pace.rate > 0 {
		return n.pace.rate
	}
	if up := n.decision.Upload; up > 0 {
		return min(usualRate, float64(up))
	}
	return usualRate
}
