package submitter

import (
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Of a job with stages the submitter says of a result that it holds it only when all that comes of it is held,
// too: until then coordinators keep the result's row, from which leases of other tasks are made. What it
// holds meanwhile is said beside, so that nobody brings it again and no coordinator keeps its outputs.
//
// It is the submitter, too, who ends tasks that cannot run since others failed: one place says what
// never runs, and coordinators hear it as they hear of every end.

// staged is what a submitter keeps of a job with stages.
type staged struct {
	spec *task.Job
	flow *ledger.Flow
	over ledger.Set    // held, and so is all that comes of it
	dead []task.Reader // that never run, and are not held as failed yet
	// turned are those for which all of one stage that they read has come, since readings looked; of a job whose
	// results are checked.
	turned []task.Reader
}

func newStaged(spec *task.Job) *staged {
	if len(spec.Stages) == 0 {
		return nil
	}
	return &staged{spec: spec, flow: ledger.NewFlow(spec)}
}

// keeps takes in that the end of a task is held, one of all that are.
func (st *staged) keeps(j *submitted, i uint64, failed bool) {
	if st == nil {
		return
	}
	v := ledger.Done
	if failed {
		v = ledger.Failed
	}
	for _, r := range st.flow.Set(i, v) {
		switch st.flow.Of(r) {
		case ledger.Never:
			st.dead = append(st.dead, r)
		case ledger.Ready:
			if j.checks != nil {
				st.turned = append(st.turned, r)
			}
		}
	}
	st.settle(j.have, i)
}

// drops takes in that the end of a task is not held any more.
func (st *staged) drops(i uint64) {
	if st == nil {
		return
	}
	st.flow.Set(i, ledger.Open)
	if st.flow.Ready(i) == ledger.Never { // it is to be held as one that never runs, then
		k, _ := st.spec.StageOf(i)
		st.dead = append(st.dead, task.Reader{Stage: k, From: i, To: i + 1})
	}
	for todo := []uint64{i}; len(todo) > 0; {
		i, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if !st.over.Contains(i) {
			continue
		}
		st.over = st.over.Minus(only(i))
		for _, members := range st.spec.Needed(i) {
			for u := range members.All() {
				todo = append(todo, u)
			}
		}
	}
}

// settle adds a task, and those that it read, to over if they are.
func (st *staged) settle(have ledger.Set, i uint64) {
	for todo := []uint64{i}; len(todo) > 0; {
		i, todo = todo[len(todo)-1], todo[:len(todo)-1]
		if !have.Contains(i) || st.over.Contains(i) || !st.readersOver(i) {
			continue
		}
		st.over.Add(i)
		stage, _ := st.spec.StageOf(i)
		from, to := st.spec.StageRange(stage)
		for n, members := range st.spec.Needed(i) {
			if n.Kind == task.NeedAfter && st.over.NextMissing(from) < to {
				continue
			}
			for u := range members.All() {
				todo = append(todo, u)
			}
		}
	}
}

// allDone takes in what a job that is over holds, of which nothing failed.
func (st *staged) allDone(have ledger.Set) {
	for _, r := range have {
		for i := r.From; i < r.To && st != nil; i++ {
			st.flow.Set(i, ledger.Done)
		}
	}
}

// told tells how far each stage is; nil of a job without any.
func (st *staged) told() []message.StageStatus {
	if st == nil {
		return nil
	}
	out := message.StagesOf(st.spec)
	for k := range out {
		out[k].Done, out[k].Failed = st.flow.Stage(k)
	}
	return out
}

func (st *staged) readersOver(i uint64) bool {
	for r := range st.spec.Readers(i) {
		if st.over.NextMissing(r.From) < r.To {
			return false
		}
	}
	return true
}

// waived is what coordinators hear that is held of a job, with all that comes of it; taken is what is held
// beside.
func (j *submitted) waived() ledger.Set {
	if j.staged == nil {
		return j.mine()
	}
	return j.staged.over
}

// own are those of taken of which this node holds another end than it was told.
func (j *submitted) own() []message.Range {
	if j.staged == nil || j.checks == nil || len(j.checks.wrong) == 0 {
		return nil
	}
	return j.checks.wrong.Minus(j.staged.over)
}

func (j *submitted) taken() []message.Range {
	if j.staged == nil {
		return nil
	}
	return slices.Clone(j.have.Minus(j.staged.over))
}

// A matching is what is looked at so of one job. The zero value is nothing.
type matching struct {
	// unmatched are the results of which it is to be seen, legible those of them of whose task all is held that it
	// reads, but for those in asked: a Compare of these is under way, of results or files of before where it is true.
	unmatched, legible ledger.Set
	asked              map[uint64]bool
}

// changed takes in that the result of a task, or what it was made of, is another than was asked for.
func (m *matching) changed(i uint64) {
	if _, asked := m.asked[i]; asked {
		m.asked[i] = true
	}
}

// marks adds a result to the legible ones, if it is one.
func (j *submitted) marks(i uint64) {
	if c := j.checks; j.staged != nil && c.unmatched.Contains(i) && j.staged.flow.Ready(i) == ledger.Ready {
		c.legible.Add(i)
	}
}
