package scheduler

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// States on which replicas agree. Where as many lines came to a state as the job asks for to agree, it is as sure as
// a result, and any replica may go on from it: one whose own state nobody has, one that begins since others parted,
// and one by a worker that answers for what came before. Its lease shows what workers signed, so that whoever counts
// results sees it (task.Witness): this leader is not believed about it. Fewer than the job asks for, who all lie
// alike, have no such state; replicas that agree early and part later share what lies before alone. It is in memory:
// the next leader sees it as lines tell it of more.

// agree looks whether enough lines came to a state of a task that is held, the furthest first.
func (r *reports) agree(j *job, i uint64) {
	m, row := j.meetings[i], j.ledger.Rows[i]
	if !j.replicated() || m == nil || row == nil || !j.mayResume() {
		return
	}
	for _, s := range row.LineStates() {
		if m.sure != nil && s.Fuel <= m.sure.Fuel {
			return
		}
		with := r.witnesses(j, i, s)
		if len(with) == 0 {
			continue
		}
		left := task.Link{CID: s.CID, Fuel: s.Fuel, CPU: s.CPU, Voucher: *s.Voucher}
		agreed := task.Agree(left, s.Before, with, j.spec.Replicas)
		if agreed == nil {
			continue
		}
		sure := *s
		sure.Before, sure.With = slices.Clone(s.Before), agreed
		for k := range sure.Before {
			sure.Before[k].With = nil // what was agreed on before does not matter any more
		}
		m.sure = &sure
		r.c.decided(task.TaskID{Job: j.id, Index: i}, "agreed", s.Voucher.Worker, fmt.Sprintf("%d replicas came to one "+
			"state with %d units of fuel used: any replica may go on from it", len(agreed)+1, s.Fuel))
		return
	}
}

// witnesses are the words of other lines that came to a state of one; none where that was found wrong, or failed.
func (r *reports) witnesses(j *job, i uint64, s *message.Checkpoint) (with []*task.Witness) {
	m := j.meetings[i]
	if s.Voucher == nil || len(s.Voucher.Hash) != sha256.Size || m.isWrong(s.Root()) || j.failedFrom(i, s) {
		return nil
	}
	at := task.Boundary{Fuel: s.Fuel, State: [sha256.Size]byte(s.Voucher.Hash)}
	for _, root := range slices.Sorted(maps.Keys(m.told)) {
		if root == s.Root() || m.isWrong(root) {
			continue
		}
		for _, word := range m.told[root] {
			if w := m.witness(root, word, at, j.spec.Spacing()); w != nil &&
				r.c.vouched(task.TaskID{Job: j.id, Index: i}, word, "") == nil {
				with = append(with, w)
				break
			}
		}
	}
	return with
}

// witness is the word of a line on a state, by what its worker told of it at that fuel or later; nil where it is none.
func (m *meeting) witness(root task.PeerID, word *message.Checkpoint, at task.Boundary, spacing uint64) *task.Witness {
	if word.Fuel < at.Fuel {
		return nil
	}
	chain := word.Chain()
	for len(chain) > 1 && chain[1].Fuel >= at.Fuel {
		chain = chain[1:]
	}
	var of []task.Boundary
	if chain[0].Fuel > at.Fuel {
		if mark, found := m.markAt(root, at.Fuel); !found || mark.State != at.State {
			return nil
		}
		from := uint64(0)
		if len(chain) > 1 {
			from = chain[1].Fuel
		}
		of = m.boundaries(root, from, chain[0].Fuel, spacing)
	}
	return task.Witnessed(chain, of, at)
}

// markAt is the mark of a line at a fuel.
func (m *meeting) markAt(root task.PeerID, fuel uint64) (mark message.Mark, found bool) {
	marks := m.marks[root]
	k, found := slices.BinarySearchFunc(marks, fuel, compareMark)
	if found {
		mark = marks[k]
	}
	return mark, found
}

// boundaries are those that a line is known to have come to on a leg from one fuel to another, as its worker signs
// them with the state in which the leg ended.
func (m *meeting) boundaries(root task.PeerID, from, to, spacing uint64) (of []task.Boundary) {
	for _, mark := range m.marks[root] {
		if mark.Fuel > from && mark.Fuel <= to {
			of = append(of, task.Boundary(mark))
		}
	}
	return task.ThinBoundaries(of, from, task.SpacingAt(spacing, to))
}

// sureState is the state of a task on which its replicas agree; nil for none, and where a run of it failed.
func sureState(j *job, i uint64) *message.Checkpoint {
	m := j.meetings[i]
	if m == nil || m.sure == nil || j.ledger.Rows[i] != nil && j.failedFrom(i, m.sure) {
		return nil
	}
	return m.sure
}

// sureNamed is the state on which replicas agree, if that is its name; else nil. m may be nil.
func (m *meeting) sureNamed(cid task.CID) *message.Checkpoint {
	if m == nil || m.sure == nil || m.sure.CID != cid {
		return nil
	}
	return m.sure
}
