package task

import (
	"bytes"
	"errors"
	"slices"
)

// SignsReads reports whether it is checked which files of other tasks the task of an index reads: it reads some, or
// waits for some, and the job's results are checked.
func SignsReads(j *Job, index uint64) bool {
	return j.Verify != nil && len(j.Stages) > 0 && index >= j.Roots()
}

// MadeOf reports whether a run that reads files of that name may go on from a state with that chain: all that made it
// read the same. Where it is not checked what tasks read, it may from any.
func MadeOf(j *Job, index uint64, chain []Link, reads []byte) bool {
	return !SignsReads(j, index) ||
		!slices.ContainsFunc(chain, func(l Link) bool { return !bytes.Equal(l.Voucher.Reads, reads) })
}

// checkBegan refuses a result that says that its run went on from a state which was made of other files than it
// read itself.
func checkBegan(j *Job, r *Result) error {
	if r.Trail != nil && !MadeOf(j, r.Task.Index, r.Trail.Began, r.Reads) {
		return errors.New("its run went on from a state that was made of other files of tasks before it")
	}
	return nil
}

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
