package node

import (
	"context"
	"fmt"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
)

// A Takeover is what a job would take of others, if it were handed in now.
type Takeover struct {
	Stages []uint64        // tasks of each stage whose results are taken; of a job without stages there is one
	From   []message.Taken // the jobs that they are taken from
}

// tasks is how many results are taken.
func (t *Takeover) tasks() (n uint64) {
	for _, of := range t.Stages {
		n += of
	}
	return n
}

// Takeover says which results a submission with Reuse would take if it were handed in now. Its modules and inputs
// need not be stored: they are told by their names, which are those of files that are not sealed if it has no key. Its
// tables are stored.
func (ss *submissions) Takeover(ctx context.Context, s Submission) (Takeover, error) {
	var m *membership
	var rules overlay.Manifest
	var err error
	if e := ss.do(ctx, func() {
		if m, err = ss.overlays.find(s.Overlay); err != nil {
			return
		}
		rules = *m.Manifest()
	}); e != nil {
		return Takeover{}, e
	}
	if err != nil {
		return Takeover{}, err
	}
	if err := ss.groupTasks(ctx, s); err != nil {
		return Takeover{}, err
	}
	spec, err := ss.job(s, m.id, &rules)
	if err != nil {
		return Takeover{}, err
	}
	if rules.Admission != overlay.Open && len(spec.Sealed) == 0 {
		spec.Sealed = task.KeyCommitment(newKey()) // as it would be
	}
	t := Takeover{Stages: make([]uint64, max(1, len(spec.Stages)))}
	reused, err := ss.reusable(ctx, m, spec, s.Key, "", nil)
	if err != nil {
		return Takeover{}, fmt.Errorf("looking for results of other jobs: %w", err)
	}
	t.count(spec, reused)
	return t, nil
}

// count counts what is taken, by stages and by where it is from.
func (t *Takeover) count(spec *task.Job, reused []message.Reused) {
	at := map[task.JobID]int{}
	for i := range reused {
		end := &reused[i].End
		stage, _ := spec.StageOf(end.Index)
		t.Stages[stage]++
		k, known := at[end.From.Job]
		if !known {
			k = len(t.From)
			at[end.From.Job], t.From = k, append(t.From, message.Taken{Job: end.From.Job})
		}
		t.From[k].Tasks++
	}
}
