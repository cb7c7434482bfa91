package toolchain

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"godwit/internal/failure"
	"godwit/lab/interpreter"
)

// templates has for each language the files of a program, and what all programs have. ".txt" is not part of a name.
//
//go:embed templates
var templates embed.FS

// placeholder stands for the program's name in a template.
const placeholder = "NAME"

// programName is what job files, Go modules and file systems all take.
var programName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// New writes a program of ten lines, its job file and a test into a directory, which is made, and returns what it
// wrote, in order. Nothing is written over: if one of the files is there, none is written.
func New(name, dir string) ([]string, error) {
	l, err := named(name)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, failure.Usage("", "resolving %s: %w", dir, err)
	}
	base := filepath.Base(abs)
	if !programName.MatchString(base) {
		return nil, failure.Usage("begin it with a letter, and go on with letters, digits, - and _",
			"a program cannot be called %q", base)
	}
	files, err := contents(l, base)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if exists(dir, f.name) {
			return nil, failure.Usage("name a new directory", "%s is there already", filepath.Join(dir, f.name))
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, failure.Usage("", "making %s: %w", dir, err)
	}
	var written []string
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, []byte(f.text), f.mode); err != nil {
			return written, failure.Usage("", "writing %s: %w", path, err)
		}
		written = append(written, path)
	}
	return written, nil
}

// A starter is a file to begin with.
type starter struct {
	name, text string
	mode       fs.FileMode
}

// contents returns the files of a program in a language.
func contents(l Language, name string) ([]starter, error) {
	var files []starter
	own := "templates/" + l.Name
	for _, dir := range []string{own, "templates"} {
		entries, err := templates.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("reading the templates: %w", err)
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			b, err := templates.ReadFile(dir + "/" + e.Name())
			if err != nil {
				return nil, fmt.Errorf("reading the templates: %w", err)
			}
			f := starter{strings.TrimSuffix(e.Name(), ".txt"), strings.ReplaceAll(string(b), placeholder, name), 0o666}
			if strings.HasPrefix(f.text, "#!") {
				f.mode = 0o777
			}
			if r, err := interpreter.Named(l.Name); err == nil {
				f.text = withScript(f.text, name, r)
			}
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there are no templates")
	}
	return files, nil
}
