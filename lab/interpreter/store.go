package interpreter

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"godwit/internal/failure"
)

// moduleName and rootName are what a language's directory has: the interpreter, and its files.
const (
	moduleName = "interpreter.wasm"
	rootName   = "root"
)

// A Store is the directory in which interpreters are kept, one below it for each language.
type Store string

// Usual is the store of this user: GODWIT_INTERPRETERS, or a directory by the XDG base directories.
func Usual() Store {
	if d := os.Getenv("GODWIT_INTERPRETERS"); d != "" {
		return Store(d)
	}
	if d := os.Getenv("XDG_DATA_HOME"); d != "" {
		return Store(filepath.Join(d, "godwit-interpreters"))
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "godwit-interpreters"
	}
	return Store(filepath.Join(home, ".local", "share", "godwit-interpreters"))
}

// Module returns where the module of a language's interpreter is, and an error with the way out if it is not there.
func (s Store) Module(r Recipe) (string, error) {
	path := filepath.Join(string(s), r.Language, moduleName)
	if _, err := os.Stat(path); err != nil {
		return "", &failure.Error{Code: failure.ExitUsage,
			Err:  fmt.Errorf("the interpreter of %s is not installed: there is no %s", r.Language, path),
			Hint: fmt.Sprintf("`godwit interpreter add %s` gets it", r.Language)}
	}
	return path, nil
}

// Root returns where a file is that an interpreter's scripts need.
func (s Store) Root(r Recipe, name string) string {
	return filepath.Join(string(s), r.Language, rootName, filepath.FromSlash(name))
}

// Install copies an interpreter and its files into dir, the module under a name, so that a job file there can name
// them.
func (s Store) Install(r Recipe, dir, module string) error {
	from, err := s.Module(r)
	if err != nil {
		return err
	}
	if err := copyFile(from, module); err != nil {
		return err
	}
	for _, name := range r.Root {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return fmt.Errorf("making a directory for %s: %w", name, err)
		}
		if err := copyFile(s.Root(r, name), to); err != nil {
			return err
		}
	}
	return nil
}

// Stage writes a job that runs a script once with arguments into a directory, with all that it needs, and returns the
// path of its job file.
func (s Store) Stage(r Recipe, script string, args []string, dir string) (string, error) {
	if err := s.Install(r, dir, filepath.Join(dir, moduleName)); err != nil {
		return "", err
	}
	base := filepath.Base(script)
	if err := copyFile(script, filepath.Join(dir, base)); err != nil {
		return "", failure.Usage("give the path of a script", "%w", err)
	}
	words := []string{escaped(base)}
	for _, a := range args {
		words = append(words, escaped(a))
	}
	// JSON is YAML.
	text, err := json.Marshal(map[string]any{"name": jobName(base), "module": moduleName, "args": words,
		"files": append([]string{escaped(base)}, r.Root...), "outputs": []string{"stdout", "*.*"}, "memory": r.Memory})
	if err != nil {
		return "", fmt.Errorf("writing the job file: %w", err)
	}
	path := filepath.Join(dir, "job.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return "", fmt.Errorf("writing the job file: %w", err)
	}
	return path, nil
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading %s: %w", from, err)
	}
	if err := os.WriteFile(to, b, 0o666); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return nil
}
