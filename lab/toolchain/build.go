package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"godwit/internal/failure"
)

// Build compiles the program in dir to the module out. What a compiler says goes to log when it fails. A compiler
// that is not installed is an error whose hint says how to get it.
func (l Language) Build(ctx context.Context, dir, out string, log io.Writer) error {
	abs, err := filepath.Abs(out)
	if err != nil {
		return failure.Usage("", "resolving %s: %w", out, err)
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return failure.Usage("", "resolving %s: %w", dir, err)
	}
	return l.build(&builder{ctx: ctx, dir: at, said: dir, out: abs, log: log})
}

// A builder compiles one program.
type builder struct {
	ctx  context.Context
	dir  string // of the program
	said string // the same as it was given
	out  string // the module
	log  io.Writer
}

// missing says that a compiler is not installed.
func missing(name, hint string) error {
	return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("the compiler %s is not installed", name), Hint: hint}
}

// tool finds an installed program, or says how to get it.
func tool(name, hint string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", missing(name, hint)
	}
	return path, nil
}

// run runs a compiler in the program's directory.
func (b *builder) run(env []string, path string, args ...string) error {
	cmd := exec.CommandContext(b.ctx, path, args...)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		_, werr := said.WriteTo(b.log)
		return errors.Join(fmt.Errorf("compiling with %s: %w", filepath.Base(path), err), werr)
	}
	return nil
}

// nearest returns the path of a file below node_modules, in the program's directory or one above it; "" for none.
func (b *builder) nearest(name string) string {
	for dir := b.dir; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
