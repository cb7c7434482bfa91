package task

import (
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

// Unread lists the axes of which the table is not set, in order.
func (f *File) Unread() []string {
	var out []string
	for i := range f.Sweep.Axes {
		if a := &f.Sweep.Axes[i]; a.unread() {
			out = append(out, a.Name)
		}
	}
	return out
}

// SetTable says what the rows of an axis are, which were read of its Source and stored. With the last
// one the file is checked as ParseFile checks a file without tables. Errors are of type *Error.
func (f *File) SetTable(axis string, t Table) error {
	i := slices.IndexFunc(f.Sweep.Axes, func(a Axis) bool { return a.Name == axis })
	if i < 0 || f.Sweep.Axes[i].Table == nil {
		return f.ErrorAt("sweep", "there is no axis "+quote(axis)+" that has a table", "")
	}
	t.Columns, t.Pages = slices.Clone(t.Columns), slices.Clone(t.Pages)
	before := f.Sweep.Axes[i].Table
	f.Sweep.Axes[i].Table = &t
	if err := f.Validate(); err != nil {
		f.Sweep.Axes[i].Table = before
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

// checkRead refuses a sweep of which a table is not set.
func (s *Sweep) checkRead() *fault {
	for i := range s.Axes {
		if a := &s.Axes[i]; a.unread() {
			return faultf("sweep."+a.Name, "", "axis %s has a table that is not stored", quote(a.Name))
		}
	}
	return nil
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
