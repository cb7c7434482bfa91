package interpreter

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"godwit/internal/failure"
)

// hosts has Go programs that are interpreters. ".txt" is not part of a name.
//
//go:embed hosts
var hosts embed.FS

// Add gets a language's interpreter by its recipe, checks that it runs here, and keeps it in place of one that is
// there. What a client of a registry says goes to log when it fails.
func (s Store) Add(ctx context.Context, r Recipe, log io.Writer, check func(module []byte) error) error {
	return s.replace(r, check, func(part string) error {
		if r.host != "" {
			return build(ctx, r, part, log)
		}
		return fetch(ctx, r, part, log)
	})
}

// AddFile keeps a module as a language's interpreter, with the files below root that the recipe names; root may be ""
// where it names none. The script's path and arguments will be the module's arguments.
func (s Store) AddFile(r Recipe, module, root string, check func(module []byte) error) error {
	if len(r.Root) > 0 && root == "" {
		return failure.Usage("give the directory that has "+strings.Join(r.Root, " and ")+" with --root",
			"%s needs files beside its module", r.Language)
	}
	return s.replace(r, check, func(part string) error {
		if err := copyFile(module, filepath.Join(part, moduleName)); err != nil {
			return failure.Usage("", "%w", err)
		}
		for _, name := range r.Root {
			to := filepath.Join(part, rootName, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return fmt.Errorf("making a directory for %s: %w", name, err)
			}
			if err := copyFile(filepath.Join(root, filepath.FromSlash(name)), to); err != nil {
				return failure.Usage("", "%w", err)
			}
		}
		return nil
	})
}

// replace has make fill a directory, and puts it in the place of the language's when it is whole.
func (s Store) replace(r Recipe, check func(module []byte) error, make func(part string) error) (err error) {
	if err := os.MkdirAll(string(s), 0o777); err != nil {
		return fmt.Errorf("making the directory of interpreters: %w", err)
	}
	part, err := os.MkdirTemp(string(s), "part-")
	if err != nil {
		return fmt.Errorf("making a directory for the interpreter: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	if err := make(part); err != nil {
		return err
	}
	code, err := os.ReadFile(filepath.Join(part, moduleName))
	if err != nil {
		return fmt.Errorf("reading the interpreter: %w", err)
	}
	if err := check(code); err != nil {
		return fmt.Errorf("the interpreter of %s does not run here: %w", r.Language, err)
	}
	for _, name := range r.Root {
		if _, err := os.Stat(filepath.Join(part, rootName, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("the interpreter of %s lacks a file: %w", r.Language, err)
		}
	}
	to := filepath.Join(string(s), r.Language)
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("removing the interpreter of before: %w", err)
	}
	return os.Rename(part, to)
}

// build makes the module of a host with the Go toolchain; what it is made of comes through Go's module proxy, and is
// checked against go.sum.
func build(ctx context.Context, r Recipe, part string, log io.Writer) error {
	src, err := os.MkdirTemp("", "godwit-interpreter-")
	if err != nil {
		return fmt.Errorf("making a scratch directory: %w", err)
	}
	defer os.RemoveAll(src)
	dir := "hosts/" + r.host
	entries, err := hosts.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the interpreter's source: %w", err)
	}
	for _, e := range entries {
		b, err := hosts.ReadFile(dir + "/" + e.Name())
		if err != nil {
			return fmt.Errorf("reading the interpreter's source: %w", err)
		}
		if err := os.WriteFile(filepath.Join(src, strings.TrimSuffix(e.Name(), ".txt")), b, 0o600); err != nil {
			return fmt.Errorf("writing the interpreter's source: %w", err)
		}
	}
	out, err := filepath.Abs(filepath.Join(part, moduleName))
	if err != nil {
		return fmt.Errorf("resolving %s: %w", part, err)
	}
	return client(ctx, src, log, []string{"GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off"},
		"install Go from your distribution or go.dev", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, ".")
}

// client runs the client of a registry in a directory.
func client(ctx context.Context, dir string, log io.Writer, env []string, hint, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("%s is not installed", name), Hint: hint}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		_, werr := said.WriteTo(log)
		return errors.Join(fmt.Errorf("getting it with %s: %w", name, err), werr)
	}
	return nil
}
