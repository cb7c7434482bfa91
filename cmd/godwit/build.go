package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/sandbox"
	"godwit/task"
)

func newBuild() *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "build DIR",
		Short: "Compile a Go or C program to a WebAssembly module",
		Long: `Compile a Go or C program to a WebAssembly module, with the Go toolchain or clang
that is installed here. DIR has the program's .go or .c files; a Go program needs a
go.mod. For other languages use their own tools, with WASI preview 1 as the target.`,
		Example: `  godwit build examples/hello`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			t, err := findToolchain(dir)
			if err != nil {
				return err
			}
			if out == "" {
				abs, err := filepath.Abs(dir)
				if err != nil {
					return failure.Usage("", "resolving %s: %w", dir, err)
				}
				out = filepath.Join(dir, filepath.Base(abs)+".wasm")
			}
			if err := t.build(cmd.Context(), dir, out, cmd.ErrOrStderr()); err != nil {
				return err
			}
			info, err := inspectFile(out)
			if err != nil {
				return fmt.Errorf("the %s toolchain made a module that cannot run here: %w", t.language, err)
			}
			if asJSON {
				return table.JSON(cmd.OutOrStdout(), map[string]any{"module": out, "language": t.language, "bytes": info.Size})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, from %s\n", out, task.FormatSize(int64(info.Size)), t.language)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write the module to (default DIR/NAME.wasm)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// A toolchain compiles one language to WASI preview 1.
type toolchain struct {
	language string
	build    func(ctx context.Context, dir, out string, log io.Writer) error
}

// findToolchain looks at what kind of program dir holds.
func findToolchain(dir string) (toolchain, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return toolchain{}, failure.Usage("give the directory of a Go or C program", "%s is not a directory", dir)
	}
	for _, t := range []struct {
		pattern string
		toolchain
	}{
		{"*.go", toolchain{"Go", buildGo}},
		{"*.c", toolchain{"C", buildC}},
	} {
		if found, _ := filepath.Glob(filepath.Join(dir, t.pattern)); len(found) > 0 {
			return t.toolchain, nil
		}
	}
	return toolchain{}, failure.Usage("a program is a directory with .go or .c files", "no program was found in %s", dir)
}

func buildGo(ctx context.Context, dir, out string, log io.Writer) error {
	abs, err := filepath.Abs(out)
	if err != nil {
		return failure.Usage("", "resolving %s: %w", out, err)
	}
	if !inModule(dir) {
		return failure.Usage(fmt.Sprintf("run `go mod init NAME` in %s, with any name", dir),
			"%s belongs to no Go module: there is no go.mod in it or above it", dir)
	}
	// Symbols and paths would only travel with every copy of the module.
	return compile(ctx, dir, log, []string{"GOOS=wasip1", "GOARCH=wasm"},
		"go", "build", "-trimpath", "-ldflags=-s -w", "-o", abs, ".")
}

// inModule reports whether dir or one above it has a go.mod. Go itself says no more
// than that there is none.
func inModule(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return true // the compiler will say why
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

func buildC(ctx context.Context, dir, out string, log io.Writer) error {
	abs, err := filepath.Abs(out)
	if err != nil {
		return failure.Usage("", "resolving %s: %w", out, err)
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil {
		return failure.Usage("", "listing %s: %w", dir, err)
	}
	args := []string{"-O2", "--target=wasm32-wasi", "-o", abs}
	for _, s := range sources {
		args = append(args, filepath.Base(s))
	}
	return compile(ctx, dir, log, nil, "clang", append(args, "-lm")...)
}

// compile runs a compiler in dir; what it says goes to log when it fails.
func compile(ctx context.Context, dir string, log io.Writer, env []string, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		hint := "install Go from your distribution or go.dev"
		if name == "clang" {
			hint = "on Debian: apt-get install clang lld llvm wasi-libc libclang-rt-dev-wasm32"
		}
		return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("the compiler %s is not installed", name), Hint: hint}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		_, werr := said.WriteTo(log)
		return errors.Join(fmt.Errorf("compiling with %s: %w", name, err), werr)
	}
	return nil
}

func inspectFile(path string) (sandbox.Info, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return sandbox.Info{}, failure.Usage("", "reading the module: %w", err)
	}
	return sandbox.Inspect(b)
}
