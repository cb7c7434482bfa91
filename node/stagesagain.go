package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"godwit/scheduler/message"
	"godwit/task"
)

// ErrNoStage is returned for a stage that a job does not have, and ErrWhichStage where another module is to be one
// of several stages'.
var (
	ErrNoStage    = errors.New("node: there is no stage")
	ErrWhichStage = errors.New("node: tasks of several stages failed")
)

// stagesAgain hands in a job with stages once more. It takes what this node holds of it: so what failed runs, what
// waited for that, and of a stage with another module all, with what comes of it.
func (ss *submissions) stagesAgain(ctx context.Context, id task.JobID, key []byte, spec *task.Job, module task.CID,
	stage string) (task.JobID, error) {
	ran, err := ss.stagesFailed(ctx, id, spec)
	if err != nil {
		return "", err
	}
	s := Submission{File: task.Refile(spec), Inputs: map[string]task.FileRef{}, Overlay: spec.Overlay,
		sealedBy: key, Reuse: true, first: id}
	for _, in := range spec.Inputs {
		s.Inputs[in.Name] = in
	}
	if err := exchange(s.File, module, stage, ran); err != nil {
		return "", err
	}
	s.Module = s.File.Stages[0].Module
	return ss.Submit(ctx, s)
}

// stagesFailed returns the stages of which tasks ran and failed, as there are any that failed or never ran.
func (ss *submissions) stagesFailed(ctx context.Context, id task.JobID, spec *task.Job) (ran []string, err error) {
	failed := false
	err = ss.eachFailed(ctx, id, spec.Tasks(), func(i uint64, end *message.TaskSummary) error {
		failed = true
		if k, _ := spec.StageOf(i); end != nil && len(end.Results) > 0 && !slices.Contains(ran, spec.Stages[k].Name) {
			ran = append(ran, spec.Stages[k].Name)
		}
		return nil
	})
	if err == nil && !failed {
		err = fmt.Errorf("%w: %s", ErrNoneFailed, id)
	}
	return ran, err
}

// exchange gives a stage another module, if one is given: the named one, or the only one that failed.
func exchange(f *task.File, module task.CID, stage string, failed []string) error {
	if stage == "" && module == "" {
		return nil
	}
	if stage == "" {
		if len(failed) != 1 {
			return fmt.Errorf("%w: %s", ErrWhichStage, strings.Join(failed, ", "))
		}
		stage = failed[0]
	}
	k := slices.IndexFunc(f.Stages, func(s task.FileStage) bool { return s.Name == stage })
	if k < 0 || module == "" {
		return fmt.Errorf("%w %q of which the module could be another", ErrNoStage, stage)
	}
	f.Stages[k].Module = module
	return nil
}
