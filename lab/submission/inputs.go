package submission

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"godwit/task"
)

// checkInputs finds every input that the job can name: files by name, all of directories, and what
// patterns match. The root refuses what leads out of the job's directory, through symbolic links too.
func (s *Job) checkInputs() error {
	found := map[string]fs.FileInfo{}
	names, err := s.File.InputNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.findFile(name, found); err != nil {
			return err
		}
	}
	dirs, err := s.File.InputDirs()
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := s.findBelow(dir, found); err != nil {
			return err
		}
	}
	if len(s.tables) > 0 {
		if err := s.findNamed(found); err != nil {
			return err
		}
	}
	for _, p := range s.File.InputPatterns() {
		if err := s.findMatches(p, found); err != nil {
			return err
		}
	}
	sizes := make(map[string]int64, len(found))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		s.inputs = append(s.inputs, input{name, found[name]})
		sizes[name] = found[name].Size()
	}
	return s.File.CheckSizes(sizes)
}

// findNamed adds the files and directories that rows of tables name.
func (s *Job) findNamed(found map[string]fs.FileInfo) error {
	names, err := s.File.TableNames(s.rows())
	if err != nil {
		return err
	}
	for _, name := range names {
		find := s.findFile
		if strings.HasSuffix(name, "/") {
			find = s.findBelow
		}
		if err := find(name, found); err != nil {
			return err
		}
	}
	return nil
}

// findFile adds a file by its name.
func (s *Job) findFile(name string, found map[string]fs.FileInfo) error {
	info, err := s.dir.Stat(filepath.FromSlash(name))
	switch {
	case err != nil:
		return s.File.InputError(name, reason(err), inputsHint)
	case info.IsDir():
		return s.File.InputError(name, "not a regular file",
			fmt.Sprintf("write %q for all files of the directory", name+"/"))
	case !info.Mode().IsRegular():
		return s.File.InputError(name, "not a regular file", inputsHint)
	}
	found[name] = info
	if len(found) > task.MaxInputs {
		return s.File.InputError(name, fmt.Sprintf("with it the job has more than %d input files", task.MaxInputs),
			"pack files into one, such as an archive that the program reads")
	}
	return nil
}

// findBelow adds all files below a directory.
func (s *Job) findBelow(dir string, found map[string]fs.FileInfo) error {
	before := len(found)
	err := s.walk(strings.TrimSuffix(dir, "/"), func(name string) error { return s.findFile(name, found) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.File.InputError(dir, reason(err), inputsHint)
	case err == nil && len(found) == before && !slices.ContainsFunc(slices.Collect(maps.Keys(found)),
		func(name string) bool { return strings.HasPrefix(name, dir) }):
		return s.File.InputError(dir, "the directory has no files", "leave it out")
	}
	return err
}

// findMatches adds the files that a pattern matches; first of all the one that has its name.
func (s *Job) findMatches(pattern string, found map[string]fs.FileInfo) error {
	if _, err := s.dir.Stat(filepath.FromSlash(pattern)); err == nil {
		return s.findFile(pattern, found)
	}
	names, err := s.matches(pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.findFile(name, found); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return s.File.InputError(pattern, "the pattern matches no file",
			inputsHint+"; "+patternsKnown)
	}
	return nil
}

// matches lists the files that match a pattern, sorted by name.
func (s *Job) matches(pattern string) ([]string, error) {
	if err := task.CheckFilePattern(pattern); err != nil {
		return nil, s.File.InputError(pattern, err.Error(), patternsKnown)
	}
	var names []string
	err := s.walk(task.GlobBase(pattern), func(name string) error {
		if task.MatchFile(pattern, name) {
			names = append(names, name)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.Sort(names)
	return names, err
}

// below lists the files below a directory, sorted by name.
func (s *Job) below(dir string) (names []string, err error) {
	err = s.walk(dir, func(name string) error {
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

// walk calls see with the name of everything below a directory that is none itself. It does not follow
// links to directories: what is behind one is somewhere else, too, or there is no end to it.
func (s *Job) walk(dir string, see func(name string) error) error {
	err := fs.WalkDir(s.dir.FS(), path.Clean(dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			if info, err := s.dir.Stat(filepath.FromSlash(name)); err == nil && info.IsDir() {
				return nil
			}
		}
		return see(name)
	})
	var at *os.PathError
	if errors.As(err, &at) && !errors.Is(err, fs.ErrNotExist) {
		return s.File.InputError(dir, reason(err), inputsHint)
	}
	return err
}
