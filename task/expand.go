package task

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrTable says that a table of a job is not what its record says: no worker can do better.
var ErrTable = errors.New("task: the job's table is not as its record says")

// Expand computes what the task of that index runs with. On a job that
// Validate accepts, and whose axes have no tables, it fails only for an index that no task has.
// The invocation shares no memory with the job.
func (j *Job) Expand(index uint64) (Invocation, error) { return j.ExpandBy(index, nil) }

// ExpandBy is Expand of a job whose axes may have tables, of which rows gives the rows. It fails where
// that does, for a row that is not as the record says, and for a row that names a file which is not
// among the inputs: the last two are ErrTable.
func (j *Job) ExpandBy(index uint64, rows Rows) (Invocation, error) {
	if n := j.Sweep.Count(); index >= n {
		return Invocation{}, fmt.Errorf("expanding task %d: the job has %d tasks", index, n)
	}
	params, err := j.Sweep.expandPoint(index, rows)
	if err != nil {
		return Invocation{}, fmt.Errorf("expanding task %d: %w", index, err)
	}
	inv, err := j.expandPoint(params)
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
		name, err := expand(j.Stdin, params)
		if err != nil {
			return Invocation{}, err
		}
		ref, err := j.input(name)
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

// input finds the file of a name.
func (j *Job) input(name string) (FileRef, error) {
	i, found := findInput(j.Inputs, name)
	if !found {
		return FileRef{}, fmt.Errorf("%w: file %s is not among the job's inputs", ErrTable, quote(name))
	}
	return j.Inputs[i], nil
}

// findInput looks a name up in inputs sorted by name.
func findInput(inputs []FileRef, name string) (int, bool) {
	return slices.BinarySearchFunc(inputs, name, func(r FileRef, name string) int { return cmp.Compare(r.Name, name) })
}

// restrict returns the sweep over those axes alone that a template mentions, so
// that what the template expands to is listed without listing the points. Of what a table has
// nothing can be listed here: then tables is true.
func (s *Sweep) restrict(template string) (r Sweep, tables bool, err error) {
	refs := s.references()
	used, err := mentions(template, refs)
	if err != nil {
		return Sweep{}, false, err
	}
	axes := make([]bool, len(s.Axes)+1)
	for i := range refs {
		axes[refs[i].axis] = axes[refs[i].axis] || used[i]
	}
	r = s.only(func(i int) bool { return axes[i] })
	tables = len(r.Tables()) > 0
	if axes[len(s.Axes)] {
		r.Repeat = s.Repeat
	}
	return r, tables, nil
}

// eachInput calls visit for every name that Files and Stdin can expand to, but for what tables
// have, and where its template stands. Names may come more than once. It stops at the
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
	r, tables, err := j.Sweep.restrict(template)
	switch {
	case err != nil:
		return textFault(where, err)
	case tables:
		return nil
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
