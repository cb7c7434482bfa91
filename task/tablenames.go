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
	for i, t := range j.Files {
		if err := f.tableNames(fmt.Sprintf("files[%d]", i), t, rows, seen); err != nil {
			return nil, err
		}
	}
	if err := f.tableNames("stdin", j.Stdin, rows, seen); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

func (f *File) tableNames(where, template string, rows Rows, seen map[string]bool) error {
	r, tables, err := f.Sweep.restrict(template)
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
