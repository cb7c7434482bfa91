package scheduler

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// Lead makes a coordinator of the replica, which is not used afterwards. epoch
// is the lease's: higher than any that the replica has seen, or it is made so.
// The effects are carried out before anything else. Leases that the copy names
// are booked, so that what runs is not started again; members are told to the
// coordinator anew, and GroupIs.
func (r *Replica) Lead(now time.Time, epoch uint64) (*Coordinator, []message.Effect) {
	c := NewCoordinator(r.self, r.cfg, max(epoch, r.epoch+1))
	r.now, r.effects = now, nil
	r.vetAll()
	c.effects, c.now = append(r.before, r.effects...), now
	for _, id := range slices.Sorted(maps.Keys(r.retired.jobs)) { // what this node has it leads with
		c.emit(message.Persist{Key: retiredKey + string(id)})
	}
	c.term.takeUp(r.ledger, r.live)
	c.term.led = true
	c.term.persistEpoch()
	effects := c.effects
	c.effects = nil
	return c, effects
}

// Retire makes a replica of the coordinator, which is not used afterwards, nor
// are answers to its Fetches. What it had not promised yet, nobody was promised:
// workers and submitters repeat it to the new leader.
func (c *Coordinator) Retire() *Replica {
	r := NewReplica(c.self, c.cfg)
	r.ledger, r.epoch = c.ledger, c.term.epoch
	r.now = c.now
	for _, id := range slices.Sorted(maps.Keys(r.ledger.Jobs)) {
		r.compact(r.ledger.Jobs[id])
	}
	for t, l := range c.term.inherited { // if no Step has booked them
		r.live[t] = l
	}
	for _, j := range c.table.jobs {
		for i, t := range j.live {
			r.live[task.TaskID{Job: j.id, Index: i}] = liveLeases(t)
		}
	}
	r.before, r.effects = r.effects, nil
	return r
}
