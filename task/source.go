package task

import (
	"iter"
	"path"
	"slices"
	"strings"

	"godwit/internal/yamlfile"
)

// A Source is where the rows of an axis come from, in a job file: `{csv: cases.csv}`.
type Source struct {
	Kind string // one of SourceKinds, or FilesKind
	Name string // of the file, as written; of FilesKind a pattern, or a directory with a slash at its end
}

// SourceKinds are the kinds of files that have the rows of an axis: lines of text, comma-separated and
// tab-separated values with a line of names, and objects of JSON, one a line.
var SourceKinds = []string{"lines", "csv", "tsv", "jsonl"}

// FilesKind is the kind of an axis whose rows are names of files, as FileColumns.
const FilesKind = "files"

func isSourceKind(key string) bool { return key == FilesKind || slices.Contains(SourceKinds, key) }

// FileColumns are the columns of an axis of files: the path is the axis's own value, too.
var FileColumns = []string{"", "path", "name", "stem"}

// FileRow returns the row of a file: of "in/a.tar.gz" the name is "a.tar.gz" and the stem "a.tar".
func FileRow(name string) []string {
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	if stem == "" {
		stem = base // of ".hidden"
	}
	return []string{name, name, base, stem}
}

// sourceKey is what an axis of a stage is called in File.Sources: no identifier has a point.
func sourceKey(stage, axis string) string { return stage + "." + axis }

// Unread lists the axes of which the table is not set, in order, as Sources names them.
func (f *File) Unread() []string {
	var out []string
	for i := range f.Sweep.Axes {
		if a := &f.Sweep.Axes[i]; a.unread() {
			out = append(out, a.Name)
		}
	}
	for i := range f.Stages {
		s := &f.Stages[i]
		for k := range s.Sweep.Axes {
			if a := &s.Sweep.Axes[k]; a.unread() {
				out = append(out, sourceKey(s.Name, a.Name))
			}
		}
	}
	return out
}

// SourcePlace is where the source of an axis stands, for ErrorAt.
func (f *File) SourcePlace(axis string) string {
	where := "." + f.Sources[axis].Kind
	if stage, of, is := strings.Cut(axis, "."); is {
		return stagePlace(stage, "sweep."+of+where)
	}
	return "sweep." + axis + where
}

// tableAxis returns the axis that has a table and is so called in Sources; nil for none.
func (f *File) tableAxis(axis string) *Axis {
	sweep := &f.Sweep
	if stage, of, is := strings.Cut(axis, "."); is {
		i := slices.IndexFunc(f.Stages, func(s FileStage) bool { return s.Name == stage })
		if i < 0 {
			return nil
		}
		sweep, axis = &f.Stages[i].Sweep, of
	}
	if i := sweep.axis(axis); i >= 0 && sweep.Axes[i].Table != nil {
		return &sweep.Axes[i]
	}
	return nil
}

// Table returns the table of an axis that is so called in Sources; nil for none. It is the file's own.
func (f *File) Table(axis string) *Table {
	if a := f.tableAxis(axis); a != nil {
		return a.Table
	}
	return nil
}

// Tables gives the tables of the file's axes, each with an axis that has it: also of stages.
func (f *File) Tables() iter.Seq2[string, *Table] {
	return func(yield func(string, *Table) bool) {
		seen := map[*Table]bool{}
		each := func(s *Sweep) bool {
			for i := range s.Axes {
				if t := s.Axes[i].Table; t != nil && !seen[t] {
					if seen[t] = true; !yield(s.Axes[i].Name, t) {
						return false
					}
				}
			}
			return true
		}
		if !each(&f.Sweep) {
			return
		}
		for i := range f.Stages {
			if !each(&f.Stages[i].Sweep) {
				return
			}
		}
	}
}

// SetTable says what the rows of an axis are, which were read of its Source and stored; the axis is called as in
// Sources. With the last one the file is checked as ParseFile checks a file without tables, unless it is Ungrouped.
// Errors are of type *Error.
func (f *File) SetTable(axis string, t Table) error {
	a := f.tableAxis(axis)
	if a == nil {
		return f.ErrorAt("sweep", "there is no axis "+quote(axis)+" that has a table", "")
	}
	t.Columns, t.Pages = slices.Clone(t.Columns), slices.Clone(t.Pages)
	before := a.Table
	a.Table = &t
	if err := f.Validate(); err != nil {
		a.Table = before
		return err
	}
	return nil
}

// unread reports whether the axis has a table of which nothing is known yet.
func (a *Axis) unread() bool { return a.Table != nil && a.Table.Rows == 0 && a.Table.CID == "" }

// unread reports whether an axis has such a table: then nothing can be said of what the templates come to.
func (s *Sweep) unread() bool {
	return slices.ContainsFunc(s.Axes, func(a Axis) bool { return a.unread() })
}

// unread reports whether an axis of a job, or of a stage of it, has such a table, or rows of tables are to be read for
// the groups of a stage.
func unread(j *Job) bool {
	return j.Sweep.unread() || slices.ContainsFunc(j.Stages, func(s Stage) bool { return s.Sweep.unread() }) ||
		ungrouped(j)
}

// checkRead refuses a sweep of which a table is not set.
func (s *Sweep) checkRead() *fault {
	for i := range s.Axes {
		if a := &s.Axes[i]; a.unread() {
			return faultf("sweep."+a.Name, "", "axis %s has a table that is not stored", quote(a.Name))
		}
	}
	return nil
}

// checkRead refuses a job of which a table is not set.
func checkRead(j *Job) *fault {
	for i := range j.Stages {
		if f := in(j.Stages[i].Name, j.Stages[i].Sweep.checkRead()); f != nil {
			return f
		}
	}
	if ungrouped(j) {
		return faultf("stages", "", "nothing says which rows of a table belong together, by whose columns tasks are grouped")
	}
	return j.Sweep.checkRead()
}

// addNamed adds the inputs that no template names by itself: rows of tables may.
func (j *Job) addNamed(inputs map[string]FileRef) {
	named := slices.Clip(j.Inputs)
	for name, ref := range inputs {
		if _, found := findInput(named, name); !found {
			ref.Name = name
			j.Inputs = append(j.Inputs, ref)
		}
	}
	slices.SortFunc(j.Inputs, func(a, b FileRef) int { return strings.Compare(a.Name, b.Name) })
}

// readSource reads an axis such as {csv: cases.csv}.
func (r *reader) readSource(p yamlfile.Pair, pairs []yamlfile.Pair) (Axis, *Error) {
	if len(pairs) != 1 {
		return Axis{}, r.errorAtToken(yamlfile.First(p.Value),
			"write {lines: FILE}, {csv: FILE}, {tsv: FILE}, {jsonl: FILE} or {files: PATTERN}",
			"axis %s takes its values from one file, and from nothing else", quote(p.Key))
	}
	q := pairs[0]
	name, e := r.text(q.Value, q.Key)
	if e != nil {
		return Axis{}, e
	}
	if name == "" {
		return Axis{}, r.errorAtToken(q.Token, "name a file beside the job file", "the table's file has no name")
	}
	r.mark("sweep."+p.Key+"."+q.Key, q.Value)
	if r.Sources == nil {
		r.Sources = map[string]Source{}
	}
	r.Sources[p.Key] = Source{q.Key, name}
	return Axis{Name: p.Key, Table: new(Table)}, nil
}
