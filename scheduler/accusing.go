package scheduler

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// How a replica that is wrong on the way is shown to others, by what its workers signed. Marks are not signed,
// and a compiler of another architecture may err; but with each checkpoint that a worker tells of it vouches for
// a state, says what compiled the program, and signs the root of the boundaries before it. Nobody needs to have
// that state: whoever runs the part before it finds another hash. Where the marks are all boundaries that the
// root is of, the part ends with the first at which the line is wrong. The driver is told: it looks itself, and
// then shows it.

const (
	// maxNoted bounds the checkpoints of a line that are kept as they were told: the latest. With its chain one has
	// 40 KB at most.
	maxNoted = 4
	// maxAccused bounds the legs of a line that are shown: the driver looks at so many.
	maxAccused = 4
)

// note keeps a checkpoint that a worker of a line told of itself. Those of as much work are of a run that was given up.
func (m *meeting) note(root, teller task.PeerID, s *message.Checkpoint) {
	if m.marks[root] == nil || s.Voucher == nil || s.Voucher.Worker != teller {
		return
	}
	told := slices.DeleteFunc(m.told[root], func(before *message.Checkpoint) bool { return before.Fuel >= s.Fuel })
	kept := *s // not the report that it came with
	told = append(told, &kept)
	m.told[root] = told[max(0, len(told)-maxNoted):]
}

// accuse has others shown what the workers of a line signed that is wrong from a fuel on: the first of the two that
// parted, where the other is right.
func (r *reports) accuse(j *job, i uint64, p parting) {
	id, m := task.TaskID{Job: j.id, Index: i}, j.meetings[i]
	for _, chain := range suspects(r.vouchedBeyond(j, i, p), m.agreed(p), p.fuel) {
		part, from, to := m.wrongPart(p, chain, j.spec.Spacing())
		if to-from <= refereeFuel {
			r.c.emit(message.Accuse{Record: j.ledger.Record, Task: id, Chain: chain, Part: part})
		}
	}
}

// vouchedBeyond is the chain of the first state that is known of a line at a fuel or beyond: as its worker told of it,
// also where nobody could fetch it, else as it is held. None where there is none.
func (r *reports) vouchedBeyond(j *job, i uint64, p parting) []task.Link {
	id := task.TaskID{Job: j.id, Index: i}
	for _, s := range j.meetings[i].told[p.a] {
		if s.Fuel >= p.fuel && r.c.vouched(id, s, "") == nil && s.Root() == p.a {
			return s.Chain()
		}
	}
	if row := j.ledger.Rows[i]; row != nil {
		if s := row.LineState(p.a); s != nil && s.Fuel >= p.fuel {
			return s.Chain()
		}
	}
	return nil
}

// suspects are the legs of a chain in which a line can have become wrong that was right at one fuel, and is wrong at
// another: each as the chain of the state that ended it, the earliest first. It may have been so before a state from
// which another worker went on in good faith.
func suspects(chain []task.Link, right, wrong uint64) (legs [][]task.Link) {
	for len(chain) > 1 && chain[1].Fuel >= wrong {
		chain = chain[1:]
	}
	for len(chain) > 0 && chain[0].Fuel > right && len(legs) < maxAccused {
		if len(chain) > 1 || !task.CutShort(chain) { // else it is not known what it began with
			legs = append(legs, chain)
		}
		chain = chain[1:]
	}
	slices.Reverse(legs)
	return legs
}

// wrongPart is the part of the last leg of a chain up to the first boundary at which a line is known to be wrong, where
// its marks are all that its worker signed; nil for the whole leg. It is from one fuel to another.
func (m *meeting) wrongPart(p parting, chain []task.Link, spacing uint64) (part *task.PartProof, from, to uint64) {
	run := &task.Trail{Pass: chain[0].Voucher.Pass, Fuel: chain[0].Fuel, Began: chain}
	leg := run.Leg(1)
	from, to = leg.Base(), leg.Fuel
	of := m.boundaries(p.a, from, to, spacing)
	k := slices.IndexFunc(of, func(b task.Boundary) bool { return b.Fuel >= p.fuel })
	if k < 0 || leg.CheckBoundaries(of, spacing) != nil {
		return nil, from, to
	}
	kept := &task.KeptStates{}
	for i := range of {
		kept.States = append(kept.States, task.KeptState{Fuel: of[i].Fuel, Hash: of[i].State[:]})
	}
	return run.ProveIntervals(1, 0, k, kept), from, of[k].Fuel
}
