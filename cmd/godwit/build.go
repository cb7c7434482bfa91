package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/lab/toolchain"
	"godwit/sandbox"
	"godwit/task"
)

func newBuild() *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "build DIR",
		Short: "Compile a program to a WebAssembly module",
		Long: `Compile a program to a WebAssembly module, with the compiler that is installed here:
C, C++, Go, Rust, TinyGo, Zig or AssemblyScript, as the files in DIR say. Beside a
script, main.js, main.lua, main.py or main.rb, its interpreter is put as the module.
For other languages use their own tools, with WASI preview 1 as the target.`,
		Example: `  godwit build examples/hello`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			t, err := toolchain.Find(dir)
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
			if err := t.Build(cmd.Context(), dir, out, cmd.ErrOrStderr()); err != nil {
				return err
			}
			info, err := inspectFile(out)
			if err != nil {
				return fmt.Errorf("the %s toolchain made a module that cannot run here: %w", t.Title, err)
			}
			if asJSON {
				return table.JSON(cmd.OutOrStdout(), map[string]any{"module": out, "language": t.Title, "bytes": info.Size})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, from %s\n", out, task.FormatSize(int64(info.Size)), t.Title)
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write the module to (default DIR/NAME.wasm)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func inspectFile(path string) (sandbox.Info, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return sandbox.Info{}, failure.Usage("", "reading the module: %w", err)
	}
	return sandbox.Inspect(b)
}
