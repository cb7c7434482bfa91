package scheduler

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// book is what a coordinator knows, as its replicas see it: a replication.Book.
type book struct{ c *Coordinator }

// Ledger implements replication.Book.
func (b book) Ledger() *ledger.Ledger { return b.c.ledger }

// Live implements replication.Book.
func (b book) Live(id task.TaskID) []message.LiveLease {
	if j := b.c.table.jobs[id.Job]; j != nil {
		return liveLeases(j.live[id.Index])
	}
	return nil
}

// LiveTasks implements replication.Book.
func (b book) LiveTasks(id task.JobID) []uint64 {
	return slices.Sorted(maps.Keys(b.c.table.jobs[id].live))
}

// Blocks implements replication.Book.
func (b book) Blocks(n message.HoldName) (message.Hold, bool) { return b.c.holdOf(n) }

// Absorb implements replication.Book.
func (b book) Absorb(from task.PeerID, p message.Pair) (task.JobID, error) {
	return b.c.absorb(from, p)
}

// HeldBy implements replication.Book.
func (b book) HeldBy(id task.JobID, peer task.PeerID) { b.c.table.jobs[id].heldBy(peer) }

// Seeks implements replication.Book.
func (b book) Seeks(peer task.PeerID) bool {
	for n := range b.c.seeker.sought {
		if j := b.c.table.jobs[n.Task.Job]; j != nil && slices.Contains(j.tellers, peer) {
			return true
		}
	}
	return false
}

// Outrun implements replication.Book.
func (b book) Outrun(from task.PeerID, epoch uint64) { b.c.term.outrun(from, epoch) }

// TickAt implements replication.Book.
func (b book) TickAt(at time.Time) { b.c.timers.Set(at, reminder{tick: true}) }

// Emit implements replication.Book.
func (b book) Emit(e message.Effect) { b.c.emit(e) }

// liveLeases returns the leases of a task that run, or wait to; t may be nil.
func liveLeases(t *liveTask) []message.LiveLease {
	if t == nil {
		return nil
	}
	var out []message.LiveLease
	for _, l := range t.leases {
		if len(out) < message.MaxLive {
			told := message.LiveLease{Worker: l.host.peer, Attempt: l.attempt, Start: task.At(l.start)}
			if m := l.move; m != nil && m.to != nil && m.handsOver() {
				told.To, told.As = m.to.peer, m.as
			}
			out = append(out, told)
		}
	}
	return out
}
