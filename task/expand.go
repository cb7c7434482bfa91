package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Expand computes what the task of that index runs with. On a job that
// Validate accepts it fails only for an index that no task has. The invocation
// shares no memory with the job.
func (j *Job) Expand(index uint64) (Invocation, error) {
	if n := j.Sweep.Count(); index >= n {
		return Invocation{}, fmt.Errorf("expanding task %d: the job has %d tasks", index, n)
	}
	inv, err := j.expandPoint(j.Sweep.Point(index))
	if err != nil {
		return Invocation{}, fmt.Errorf("expanding task %d: %w", index, err)
	}
	return inv, nil
}

func (j *Job) expandPoint(params []EnvVar) (Invocation, error) {
	inv := Invocation{
		Params: params,
		Args:   make([]string, len(j.Args)),
		Env:    make([]EnvVar, len(j.Env)),
	}
	var err error
	for i, a := range j.Args {
		if inv.Args[i], err = expand(a, params); err != nil {
			return Invocation{}, err
		}
	}
	for i, e := range j.Env {
		inv.Env[i].Name = e.Name
		if inv.Env[i].Value, err = expand(e.Value, params); err != nil {
			return Invocation{}, err
		}
	}
	if inv.Files, err = j.named(params); err != nil {
		return Invocation{}, err
	}
	inv.Files = uniqueFiles(inv.Files)
	if j.Stdin != "" {
		ref, err := j.input(j.Stdin, params)
		if err != nil {
			return Invocation{}, err
		}
		inv.Stdin = &ref
	}
	return inv, nil
}

// uniqueFiles drops repetitions of a name, which two templates may come to,
// and sorts by name.
func uniqueFiles(refs []FileRef) []FileRef {
	slices.SortFunc(refs, func(a, b FileRef) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(refs, func(a, b FileRef) bool { return a.Name == b.Name })
}

// input finds the file that a template names at a point.
func (j *Job) input(template string, params []EnvVar) (FileRef, error) {
	name, err := expand(template, params)
	if err != nil {
		return FileRef{}, err
	}
	i, found := findInput(j.Inputs, name)
	if !found {
		return FileRef{}, fmt.Errorf("file %s is not among the job's inputs", quote(name))
	}
	return j.Inputs[i], nil
}

// findInput looks a name up in inputs sorted by name.
func findInput(inputs []FileRef, name string) (int, bool) {
	return slices.BinarySearchFunc(inputs, name, func(r FileRef, name string) int { return cmp.Compare(r.Name, name) })
}

// names returns what templates may mention: the axes in order, then trial.
func (s *Sweep) names() []string {
	names := make([]string, 0, len(s.Axes)+1)
	for i := range s.Axes {
		names = append(names, s.Axes[i].Name)
	}
	return append(names, Trial)
}

// restrict returns the sweep over those axes alone that a template mentions, so
// that what the template expands to is listed without listing the points.
func (s *Sweep) restrict(template string) (Sweep, error) {
	used, err := mentions(template, s.names())
	if err != nil {
		return Sweep{}, err
	}
	var r Sweep
	for i := range s.Axes {
		if used[i] {
			r.Axes = append(r.Axes, s.Axes[i])
		}
	}
	if used[len(s.Axes)] {
		r.Repeat = s.Repeat
	}
	return r, nil
}

// eachInput calls visit for every name that Files and Stdin can expand to, and
// where its template stands. Names may come more than once. It stops at the
// first fault, and is one itself if there are more than MaxInputs.
func (j *Job) eachInput(visit func(where, name string) *fault) *fault {
	budget := uint64(MaxInputs)
	for i, t := range j.Files {
		if f := j.eachExpansion(fmt.Sprintf("files[%d]", i), t, &budget, visit); f != nil {
			return f
		}
	}
	if j.Stdin == "" {
		return nil
	}
	return j.eachExpansion("stdin", j.Stdin, &budget, visit)
}

func (j *Job) eachExpansion(where, template string, budget *uint64, visit func(where, name string) *fault) *fault {
	r, err := j.Sweep.restrict(template)
	if err != nil {
		return textFault(where, err)
	}
	n := r.Count()
	if n > *budget {
		return faultf(where, "let several points share a file, or pack the files into one",
			"%s and the templates before it name more than %d files", quote(template), MaxInputs)
	}
	*budget -= n
	for i := range n {
		name, err := expand(template, r.Point(i))
		if err != nil {
			return textFault(where, err)
		}
		if f := visit(where, name); f != nil {
			return f
		}
	}
	return nil
}
