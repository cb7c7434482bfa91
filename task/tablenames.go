package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxNamed bounds the points at which a template of a file's name is looked at where tables have the
// names: a minute of work.
const maxNamed = 50_000_000

// TableNames returns every distinct name that Files and Stdin come to by rows of tables, which rows gives:
// those that InputNames and InputDirs cannot tell, sorted. A directory ends in a slash. Errors are of type
// *Error, but for those of rows.
func (f *File) TableNames(rows Rows) ([]string, error) {
	seen := map[string]bool{}
	j := f.draft()
	if err := f.tableNamesOf("", j, rows, seen); err != nil {
		return nil, err
	}
	for i := range j.Stages {
		if err := f.tableNamesOf(stagePlace(j.Stages[i].Name, "")+".", j.OfStage(i), rows, seen); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// tabledFiles is where files stand that rows of tables may name: of the first stage with such, if there are stages.
func (f *File) tabledFiles() string {
	j := f.draft()
	for i := range j.Stages {
		if of := j.OfStage(i); len(of.Sweep.Tables()) > 0 && len(of.Files) > 0 {
			return stagePlace(j.Stages[i].Name, "files")
		}
	}
	return "files"
}

// tableNamesOf adds the names of a program, whose parts stand at places that begin so.
func (f *File) tableNamesOf(at string, of *Job, rows Rows, seen map[string]bool) error {
	for i, t := range of.Files {
		if err := f.tableNames(fmt.Sprintf("%sfiles[%d]", at, i), t, &of.Sweep, rows, seen); err != nil {
			return err
		}
	}
	return f.tableNames(at+"stdin", of.Stdin, &of.Sweep, rows, seen)
}

func (f *File) tableNames(where, template string, points *Sweep, rows Rows, seen map[string]bool) error {
	r, tables, err := points.restrict(template)
	switch {
	case err != nil:
		return f.place(textFault(where, err))
	case !tables:
		return nil
	case r.Count() > maxNamed:
		return f.place(faultf(where, "name files by fewer axes", "%s names files at %d points, the most is %d",
			quote(template), r.Count(), maxNamed))
	}
	for i := range r.Count() {
		params, err := r.expandPoint(i, rows)
		if err != nil {
			return err
		}
		name, err := expand(template, params)
		if err != nil {
			return f.place(textFault(where, err))
		}
		if seen[name] {
			continue
		}
		if e := checkPath(strings.TrimSuffix(name, "/")); e != nil {
			return f.place(textFault(where, e))
		}
		if len(seen) == MaxInputs {
			return f.place(faultf(where, "let several rows share a file, or pack files into one",
				"tables name more than %d files", MaxInputs))
		}
		seen[name] = true
	}
	return nil
}
