package task

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of what a job's tasks read, in bytes.
const (
	// MaxTaskInputs is the most that one task may read: what a sandbox can hold of files.
	MaxTaskInputs = 4 << 30
	// MaxJobInputs is the most that a job may have, all its inputs together: its submitter and two
	// coordinators keep them.
	MaxJobInputs = 100_000_000_000
)

// inputsAt lists the inputs, which are sorted by name, that a name stands for: the one of that name, or
// all below a directory.
func inputsAt(inputs []FileRef, name string) []FileRef {
	from, found := findInput(inputs, name)
	if !isDir(name) {
		if !found {
			return nil
		}
		return inputs[from : from+1]
	}
	below := inputs[from:]
	n, _ := slices.BinarySearchFunc(below, name, func(r FileRef, dir string) int {
		if strings.HasPrefix(r.Name, dir) {
			return -1
		}
		return 1
	})
	return below[:n]
}

// named finds what the templates of files name at a point. A file may come twice, what is below a
// directory once, however often a stranger's job names it.
func (j *Job) named(params []EnvVar) ([]FileRef, error) {
	refs := make([]FileRef, 0, len(j.Files))
	var dirs []string
	for _, t := range j.Files {
		name, err := expand(t, params)
		if err != nil {
			return nil, err
		}
		if isDir(name) {
			dirs = append(dirs, name)
			continue
		}
		ref, err := j.input(name)
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	slices.Sort(dirs)
	last := ""
	for _, dir := range dirs {
		if last != "" && strings.HasPrefix(dir, last) {
			continue // within the one before
		}
		below := inputsAt(j.Inputs, dir)
		if len(below) == 0 {
			return nil, fmt.Errorf("%w: directory %s is not among the job's inputs", ErrTable, quote(dir))
		}
		refs, last = append(refs, below...), dir
	}
	return refs, nil
}

// InputDirs returns every distinct directory that an entry of files expands to, sorted, with a slash at
// its end: the job has all files below it as inputs. Errors are of type *Error.
func (f *File) InputDirs() ([]string, error) {
	return f.distinct(isDir)
}

// InputPatterns returns the entries of files that are patterns: see IsPattern.
func (f *File) InputPatterns() []string {
	entries := slices.Clip(f.Files)
	for i := range f.Stages {
		entries = append(entries, f.Stages[i].Files...)
	}
	var out []string
	for _, entry := range entries {
		if IsPattern(entry) {
			if p, err := expand(entry, nil); err == nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// distinct returns every distinct name that Files and Stdin expand to and that is wanted, sorted.
func (f *File) distinct(wanted func(string) bool) ([]string, error) {
	var names []string
	ft := f.draft().eachInput(func(where, name string) *fault {
		if e := checkPath(strings.TrimSuffix(name, "/")); e != nil {
			return textFault(where, e)
		}
		if wanted(name) {
			names = append(names, name)
		}
		return nil
	})
	if ft != nil {
		return nil, f.place(ft)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// resolved returns the file with the inputs that its patterns match in place of them. A pattern that is
// the name of an input stands for that.
func (f *File) resolved(inputs map[string]FileRef) (*File, error) {
	if len(f.InputPatterns()) == 0 {
		return f, nil
	}
	names := slices.Sorted(maps.Keys(inputs))
	r := *f
	var err error
	if r.Files, err = f.resolvedOf("files", f.Files, names, inputs); err != nil {
		return nil, err
	}
	r.Stages = slices.Clone(f.Stages)
	for i := range r.Stages {
		s := &r.Stages[i]
		if s.Files, err = f.resolvedOf(stagePlace(s.Name, "files"), s.Files, names, inputs); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

// resolvedOf resolves the entries of files of a program. names are those of the inputs, sorted.
func (f *File) resolvedOf(place string, entries, names []string, inputs map[string]FileRef) (out []string, err error) {
	for i, entry := range entries {
		where := fmt.Sprintf("%s[%d]", place, i)
		pattern, err := expand(entry, nil)
		if _, there := inputs[pattern]; err != nil || there || !IsPattern(entry) {
			out = append(out, entry)
			continue
		}
		if e := checkFilePattern(pattern); e != nil {
			return nil, f.place(textFault(where, e))
		}
		before := len(out)
		for _, name := range names {
			if MatchFile(pattern, name) {
				out = append(out, strings.ReplaceAll(name, "{{", `{{"{{"}}`))
			}
		}
		if len(out) == before {
			return nil, f.ErrorAt(where, fmt.Sprintf("pattern %s matches no file", quote(pattern)), patternHint)
		}
	}
	return out, nil
}

// patternHint says where files are looked for.
const patternHint = "patterns are of names in the job file's directory; they know *, ?, [a-z] and ** for any " +
	"directories"

// addBelow adds the inputs to the job that lie below directories.
func addBelow(j *Job, dirs []string, inputs map[string]FileRef) {
	if len(dirs) == 0 {
		return
	}
	named := slices.Clip(j.Inputs)
	for name, ref := range inputs {
		below := slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir) })
		if _, found := findInput(named, name); below && !found {
			ref.Name = name
			j.Inputs = append(j.Inputs, ref)
		}
	}
	slices.SortFunc(j.Inputs, func(a, b FileRef) int { return strings.Compare(a.Name, b.Name) })
}

// CheckSizes refuses inputs that are more than a task can read, or a job can have. sizes has the bytes of
// every input by its name, before it is sealed. Errors are of type *Error.
func (f *File) CheckSizes(sizes map[string]int64) error {
	var all int64
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		n := sizes[name]
		if n > MaxTaskInputs {
			return f.InputError(name, fmt.Sprintf("it has %s, and a task can read %s at most, all its files together",
				FormatSize(n), FormatSize(MaxTaskInputs)), "split it, and give each task its part: files: [\"part-{{.n}}\"]")
		}
		if all += n; all > MaxJobInputs {
			return f.InputError(name, fmt.Sprintf("with it the job's inputs have more than %s", FormatSize(MaxJobInputs)),
				"split the job, or compress its inputs")
		}
	}
	return nil
}
