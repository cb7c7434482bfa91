package scheduler

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// bars says who may have a task that is run once more. The zero value bars nobody.
type bars struct {
	not  []task.PeerID
	only []task.PeerID // empty: all others
}

// bars reports whether a worker is not to have the task.
func (b bars) bars(worker task.PeerID) bool {
	return slices.Contains(b.not, worker) || len(b.only) > 0 && !slices.Contains(b.only, worker)
}

// asks reports whether the submitter names a worker to have the task: again, if it had it before, and what
// came of that counts no more.
func (b bars) asks(worker task.PeerID) bool {
	return slices.Contains(b.only, worker) && !slices.Contains(b.not, worker)
}

// appendOthers adds the hosts that are not among those that alone may have the task.
func (b bars) appendOthers(peers []task.PeerID, hosts []*host) []task.PeerID {
	if len(b.only) == 0 {
		return peers
	}
	for _, h := range hosts {
		if !slices.Contains(b.only, h.peer) {
			peers = append(peers, h.peer)
		}
	}
	return peers
}

// lets returns a state to go on from, or nil where a worker left it, or one before it, that has no
// say in the task: to begin with what it says is no other run.
func (b bars) lets(c *message.Checkpoint) *message.Checkpoint {
	if c == nil || len(b.not)+len(b.only) == 0 || b.letsState(c) {
		return c
	}
	return nil
}

func (b bars) letsState(c *message.Checkpoint) bool {
	chain := c.Chain()
	return len(chain) > 0 && !slices.ContainsFunc(chain, func(l task.Link) bool { return b.bars(l.Voucher.Worker) })
}
