package scheduler

import (
	"fmt"
	"slices"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A seeker fetches blocks that this coordinator should hold and may not.
type seeker struct {
	c *Coordinator

	// Blocks to be held here: see secure. seeks counts the Fetches under way.
	sought  map[message.HoldName]*seeking
	seeking []message.HoldName
	seeks   int
}

// maxSeeks is how often blocks are sought in vain.
const maxSeeks = 5

// holdOf says which blocks a name stands for now; none any more if not ok.
func (c *Coordinator) holdOf(n message.HoldName) (h message.Hold, ok bool) {
	j := c.table.jobs[n.Task.Job]
	if j == nil {
		return h, false
	}
	row := j.ledger.Rows[n.Task.Index]
	h = message.Hold{Name: n, Holders: []task.PeerID{c.self}}
	switch {
	case n.Kind == message.HoldJob:
		h.CIDs = durable.JobBlocks(j.id, j.spec)
		h.Holders = append(h.Holders, j.submitter)
	case row == nil || j.ledger.Delivered(n.Task.Index):
	case n.Kind == message.HoldState && row.Best != nil && row.Verdict(j.ledger.Rule()) == ledger.Open:
		h.CIDs = []task.CID{row.Best.CID}
	case n.Kind == message.HoldOutputs:
		if agreed := row.Agreed(); len(agreed) > 0 {
			h.CIDs = message.RemoteOutputs(&agreed[0])
		}
		for _, r := range row.Agreed() {
			if len(h.Holders) < message.MaxHolders {
				h.Holders = append(h.Holders, r.Worker)
			}
		}
	}
	if len(h.CIDs) > message.MaxHoldCIDs {
		h.CIDs = nil // the job's own submitter gave it that many: it holds them
	}
	if len(h.CIDs) == 0 {
		c.replicas.ForgetHold(n)
	}
	return h, len(h.CIDs) > 0
}

func (c *Coordinator) hasBlocks(n message.HoldName) bool {
	_, ok := c.holdOf(n)
	return ok
}

// A seeking is blocks that this coordinator should hold and may not: of what it
// learned from another copy, or that a submitter could not get.
type seeking struct {
	fails   int
	lacking bool // a submitter lacks them: without them the result is void
	under   bool // a Fetch is under way
	queued  bool // it waits for one
}

// secure has this node fetch blocks, in the background.
func (b *seeker) secure(n message.HoldName) *seeking {
	s := b.sought[n]
	if s == nil {
		s = &seeking{}
		b.sought[n] = s
	}
	if !s.queued && !s.under {
		s.queued = true
		b.seeking = append(b.seeking, n)
	}
	return s
}

// seek begins Fetches, as many as may be under way at once.
func (b *seeker) seek() {
	for len(b.seeking) > 0 && b.seeks < maxHoldFetches {
		n := b.seeking[0]
		b.seeking = b.seeking[1:]
		s := b.sought[n]
		h, ok := b.c.holdOf(n)
		if s == nil {
			continue
		}
		if s.queued = false; !ok {
			delete(b.sought, n)
			continue
		}
		s.under = true
		b.seeks++
		j := b.c.table.jobs[n.Task.Job]
		holders := slices.Concat(j.tellers, b.c.replicas.Group(), h.Holders[1:])
		b.c.table.fetch(&fetching{key: holdKey(n), job: j, sought: &n}, h.CIDs,
			holders[:min(len(holders), message.MaxHolders)])
	}
}

// soughtBlocks goes on after a Fetch of blocks to be held here.
func (b *seeker) soughtBlocks(n message.HoldName, failure string) {
	b.seeks--
	s := b.sought[n]
	if s == nil {
		return
	}
	s.under = false
	if failure == "" {
		delete(b.sought, n)
		return
	}
	s.fails++
	if s.lacking && n.Kind == message.HoldOutputs {
		delete(b.sought, n)
		b.c.voidResult(n.Task, failure)
		return
	}
	if s.fails >= maxSeeks {
		delete(b.sought, n)
		b.c.decided(n.Task, "not held", "", task.ClipMessage("blocks that the job needs could not be fetched: "+failure))
		return
	}
	b.c.timers.Set(b.c.now.Add(min(b.c.cfg.RetryMin<<s.fails, b.c.cfg.RetryMax)), reminder{sought: &n})
}

// secureAgain tries once more after a pause.
func (b *seeker) secureAgain(n message.HoldName) {
	if b.sought[n] != nil {
		b.secure(n)
	}
}

// maxLacking bounds the results of one Got that are looked into.
const maxLacking = 256

// lacking looks for outputs that a submitter could not get.
func (b *seeker) lacking(j *job, ranges []message.Range) {
	n := 0
	for _, r := range ranges {
		for i := r.From; i < min(r.To, j.total) && n < maxLacking; i++ {
			n++
			row := j.ledger.Rows[i]
			if row == nil || j.ledger.Delivered(i) || row.Verdict(j.ledger.Rule()) != ledger.Done {
				continue
			}
			if name := (message.HoldName{Task: task.TaskID{Job: j.id, Index: i},
				Kind: message.HoldOutputs}); b.c.hasBlocks(name) {
				b.secure(name).lacking = true
			}
		}
	}
}

// voidResult runs a task again whose outputs are gone.
func (c *Coordinator) voidResult(id task.TaskID, failure string) {
	j := c.table.jobs[id.Job]
	if j == nil || j.ledger.Delivered(id.Index) {
		return
	}
	row := j.ledger.Rows[id.Index]
	if row == nil || row.Verdict(j.ledger.Rule()) != ledger.Done || !row.Void() {
		return
	}
	c.decided(id, "void", j.submitter, task.ClipMessage(fmt.Sprintf(
		"nobody has the outputs of its result any more, so it runs again: %s", failure)))
	if row.Verdict(j.ledger.Rule()) != ledger.Done {
		c.reopenVoided(j, id.Index)
	}
	c.table.persistRow(j, id.Index)
}

// reopenVoided puts a task that was done back to work.
func (c *Coordinator) reopenVoided(j *job, i uint64) {
	j.done--
	is := func(k uint64) bool { return k == i }
	j.sent, j.ready = slices.DeleteFunc(j.sent, is), slices.DeleteFunc(j.ready, is)
	c.table.unweigh(j, i)
	if j.state == jobOver && !j.ledger.Over() {
		j.state, j.told = jobOpen, false
		c.table.armDeadline(j)
	}
	c.reports.waitAgain(j, i)
	c.touch(j)
}
