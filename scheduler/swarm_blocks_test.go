package scheduler

import (
	"fmt"
	"slices"

	"godwit/scheduler/durable"
	"godwit/scheduler/message"
	"godwit/task"
)

// What the simulation's nodes hold of blocks.

// fetch answers a Fetch from what this node and the holders have, unless the
// machine that asked is no more.
func (n *simNode) fetch(m machine, e message.Fetch) {
	if m != n.role() && m != machine(n.sub) {
		return
	}
	done := message.Fetched{Key: e.Key}
	for _, cid := range e.CIDs {
		if !n.blocks[cid] && !slices.ContainsFunc(e.Holders, func(p task.PeerID) bool {
			o := n.s.byID[p]
			return n.s.sees(n, o) && o.blocks[cid]
		}) {
			done.Err = "nobody has " + string(cid)
		}
	}
	if done.Err == "" {
		for _, cid := range e.CIDs {
			n.blocks[cid] = true
		}
	}
	n.stepOne(m, done)
	n.arrange()
}

// collect drops the blocks that nothing here stands on.
func (n *simNode) collect() {
	keep := map[task.CID]bool{}
	roots := []task.CID(nil)
	if n.coord != nil {
		roots = n.coord.Roots()
	} else {
		roots = n.replica.Roots()
	}
	for _, cid := range roots {
		keep[cid] = true
	}
	for _, cid := range slices.Concat(n.worker.Roots(), n.sub.Roots()) {
		keep[cid] = true
	}
	for _, take := range n.taking {
		if take.round != nil {
			keep[take.round.CID] = true
		}
	}
	for _, j := range n.sub.Jobs() {
		for _, cid := range durable.JobBlocks(j.ID, n.sub.Spec(j.ID)) {
			keep[cid] = true
		}
		for i := range j.Tasks.Total {
			keep[outputOf(task.TaskID{Job: j.ID, Index: i}).CID] = true
		}
	}
	for cid := range n.blocks {
		if !keep[cid] {
			delete(n.blocks, cid)
		}
	}
}

// outputOf is what a task writes: every other one more than travels inline.
func outputOf(id task.TaskID) task.Output {
	out := fmt.Append(nil, "result of ", id)
	o := task.Output{Name: "stdout", CID: task.RawCID(out), Size: int64(len(out)), Inline: out}
	if id.Index%2 == 1 {
		o.Size, o.Inline = 1<<20, nil
	}
	return o
}
