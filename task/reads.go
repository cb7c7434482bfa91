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
