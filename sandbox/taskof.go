package sandbox

import "godwit/task"

// TaskOf returns what runs a task of a job, whose invocation inv is: the same on every machine,
// and for whoever runs it again. The job's module is in the file module; input tells the file that
// holds an input. The slices stay the job's and the invocation's.
func TaskOf(job *task.Job, id task.TaskID, inv task.Invocation, module string, input func(task.CID) string) Task {
	t := Task{
		Name:       id.String(),
		Module:     string(job.Module),
		ModulePath: module,
		Args:       inv.Args,
		Env:        inv.Env,
		Outputs:    job.Outputs,
		Limits:     Limits{Memory: job.Memory, Wall: job.TimeLimit()},
		Checkpoint: job.Checkpoint,
		Trailing:   Trailing{Spacing: job.Spacing()},
	}
	for _, f := range inv.Files {
		t.Files = append(t.Files, Input{Name: f.Name, Path: input(f.CID)})
	}
	if inv.Stdin != nil {
		t.Stdin = &Input{Name: inv.Stdin.Name, Path: input(inv.Stdin.CID)}
	}
	return t
}
