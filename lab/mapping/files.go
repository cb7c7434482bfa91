package mapping

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"godwit/internal/failure"
	"godwit/task"
)

// fileColumn is the column with the names, as tasks see them, of the files of one of Options.Files.
func fileColumn(i int) string { return fmt.Sprintf("f%d", i+1) }

// fill is what a text with placeholders is for a row.
func (p *pieces) fill(text string, values []string, shown string, seq uint64) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		at := placeholder.FindStringSubmatch(m)
		value, found := p.find(at[1])
		if !found || at[1] == "#" && at[2] != "" {
			return m
		}
		return piece{value: value, part: at[2]}.of(values, shown, seq)
	})
}

// addFile notes a file that a task reads, and returns its name below the sandbox's root: the path without
// what leads to the root, so that a program finds it by the path that it is given.
func (p *Plan) addFile(local string) (string, error) {
	if slices.Contains(strings.Split(local, "/"), "..") {
		return "", failure.Usage("begin in a directory that has all of them", "file %s leads out of the directory", local)
	}
	name := strings.TrimPrefix(path.Clean("/"+local), "/")
	if _, known := p.inputs[name]; known {
		return name, nil
	}
	if err := task.ValidSandboxPath(name); err != nil {
		return "", failure.Usage("use another name", "file %q: %w", local, err)
	}
	info, err := os.Stat(local)
	switch {
	case err != nil:
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return "", failure.Usage("files are looked up from this directory on", "file %s: %w", local, err)
	case !info.Mode().IsRegular():
		return "", failure.Usage("name files, not directories", "file %s is no regular file", local)
	case len(p.inputs) == task.MaxInputs:
		return "", failure.Usage("pack several into one, or map fewer inputs at a time",
			"more than %d files", task.MaxInputs)
	}
	p.inputs[name] = local
	return name, nil
}
