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
	case n.Kind == message.HoldState && row.Verdict(j.ledger.Rule()) == ledger.Open:
		for _, s := range j.states(n.Task.Index) {
			h.CIDs = append(h.CIDs, s.CID)
		}
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
func (s *seeker) secure(n message.HoldName) *seeking {
	one := s.sought[n]
	if one == nil {
		one = &seeking{}
		s.sought[n] = one
	}
	if !one.queued && !one.under {
		one.queued = true
		s.seeking = append(s.seeking, n)
	}
	return one
}

// seek begins Fetches, as many as may be under way at once.
func (s *seeker) seek() {
	for len(s.seeking) > 0 && s.seeks < maxHoldFetches {
		n := s.seeking[0]
		s.seeking = s.seeking[1:]
		one := s.sought[n]
		h, ok := s.c.holdOf(n)
		if one == nil {
			continue
		}
		if one.queued = false; !ok {
			delete(s.sought, n)
			continue
		}
		one.under = true
		s.seeks++
		j := s.c.table.jobs[n.Task.Job]
		holders := slices.Concat(j.tellers, s.c.replicas.Group(), h.Holders[1:])
		s.c.table.fetch(&fetching{key: holdKey(n), job: j, sought: &n}, h.CIDs,
			holders[:min(len(holders), message.MaxHolders)])
	}
}

// soughtBlocks goes on after a Fetch of blocks to be held here.
func (s *seeker) soughtBlocks(n message.HoldName, failure string) {
	s.seeks--
	one := s.sought[n]
	if one == nil {
		return
	}
	one.under = false
	if failure == "" {
		delete(s.sought, n)
		return
	}
	one.fails++
	if one.lacking && n.Kind == message.HoldOutputs {
		delete(s.sought, n)
		s.c.voidResult(n.Task, failure)
		return
	}
	if one.fails >= maxSeeks {
		delete(s.sought, n)
		s.c.decided(n.Task, "not held", "", task.ClipMessage("blocks that the job needs could not be fetched: "+failure))
		return
	}
	s.c.timers.Set(s.c.now.Add(min(s.c.cfg.RetryMin<<one.fails, s.c.cfg.RetryMax)), reminder{sought: &n})
}

// secureAgain tries once more after a pause.
func (s *seeker) secureAgain(n message.HoldName) {
	if s.sought[n] != nil {
		s.secure(n)
	}
}

// maxLacking bounds the results of one Got that are looked into.
const maxLacking = 256

// lacking looks for outputs that a submitter could not get.
func (s *seeker) lacking(j *job, ranges []message.Range) {
	n := 0
	for _, r := range ranges {
		for i := r.From; i < min(r.To, j.total) && n < maxLacking; i++ {
			n++
			row := j.ledger.Rows[i]
			if row == nil || j.ledger.Delivered(i) || row.Verdict(j.ledger.Rule()) != ledger.Done {
				continue
			}
			if name := (message.HoldName{Task: task.TaskID{Job: j.id, Index: i},
				Kind: message.HoldOutputs}); s.c.hasBlocks(name) {
				s.secure(name).lacking = true
			}
		}
	}
}

// voidResult runs a task again whose outputs are gone.
func (c *Coordinator) voidResult(id task.TaskID, failure string) {
	j := c.table.jobs[id.Job]
	if j == nil || j.ledger.Delivered(id.Index) || j.flowing != nil && j.theirs.Contains(id.Index) {
		return
	}
	row := j.ledger.Rows[id.Index]
	if row == nil || row.Verdict(j.ledger.Rule()) != ledger.Done || !row.Void() {
		return
	}
	c.decided(id, "void", j.submitter, task.ClipMessage(fmt.Sprintf(
		"nobody has the outputs of its result any more, so it runs again: %s", failure)))
	c.concludeAnew(j, id.Index, ledger.Done)
	c.table.persistRow(j, id.Index)
}

// concludeAnew takes back how a task had ended, where its row says otherwise now: it runs
// again, or its submitter is brought its other end, once.
func (c *Coordinator) concludeAnew(j *job, i uint64, was ledger.Verdict) {
	is := j.ledger.Rows[i].Verdict(j.ledger.Rule())
	if is == was {
		return
	}
	count := func(v ledger.Verdict) *uint64 {
		if v == ledger.Done {
			return &j.done
		}
		return &j.failed
	}
	*count(was)--
	it := func(k uint64) bool { return k == i }
	j.sent, j.ready = slices.DeleteFunc(j.sent, it), slices.DeleteFunc(j.ready, it)
	c.table.unweigh(j, i)
	if is != ledger.Open {
		*count(is)++
		j.ready = append(j.ready, i)
		c.table.settle(j, i)
		c.touch(j)
		return
	}
	if j.state == jobOver && !j.ledger.Over() {
		j.state, j.told = jobOpen, false
		c.table.armDeadline(j)
	}
	c.table.settle(j, i)
	c.reports.waitAgain(j, i)
	c.touch(j)
}
