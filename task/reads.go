package task

import "slices"

// CommonInputs lists the inputs that every task of the job reads: those of files and stdin
// that name no axis. They are sorted by name, each once. The job is one that Validate accepts.
func (j *Job) CommonInputs() ([]FileRef, error) {
	plain := Job{Inputs: j.Inputs}
	for _, t := range j.Files {
		if !isSwept(t) {
			plain.Files = append(plain.Files, t)
		}
	}
	if !isSwept(j.Stdin) {
		plain.Stdin = j.Stdin
	}
	inv, err := plain.expandPoint(nil)
	return inv.Reads(), err
}

// isSwept reports whether a template names an axis, or the trial.
func isSwept(template string) bool {
	swept := false
	ignore := func(string) error { return nil }
	err := pieces(template, ignore, func(string) error {
		swept = true
		return nil
	})
	return swept || err != nil
}

// Reads lists the files that the invocation reads, its standard input among them, each name once.
func (inv *Invocation) Reads() []FileRef {
	refs := slices.Clone(inv.Files)
	if inv.Stdin != nil {
		refs = append(refs, *inv.Stdin)
	}
	return uniqueFiles(refs)
}

// SweptFiles lists the templates of files and standard input that name axes, but no table: by them it can be
// told from the record alone what a task reads beside the common inputs.
func (j *Job) SweptFiles() []string {
	var out []string
	for _, t := range append(slices.Clip(j.Files), j.Stdin) {
		if !isSwept(t) {
			continue
		}
		if _, tables, err := j.Sweep.restrict(t); err == nil && !tables {
			out = append(out, t)
		}
	}
	return out
}

// mostOfDir is how many files of a directory stand for it in Job.ReadsBy.
const mostOfDir = 4

// ReadsBy lists inputs that the task of an index reads by some of SweptFiles; of a directory a few of its files
// alone. It is cheap, whatever the job: some microseconds a template.
func (j *Job) ReadsBy(templates []string, index uint64) []FileRef {
	if index >= j.Sweep.Count() {
		return nil
	}
	params := j.Sweep.Point(index)
	refs := make([]FileRef, 0, len(templates))
	for _, t := range templates {
		name, err := expand(t, params)
		if err != nil {
			continue // no valid job has such
		}
		of := inputsAt(j.Inputs, name)
		refs = append(refs, of[:min(len(of), mostOfDir)]...)
	}
	return refs
}
