package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/blocks"
	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/table"
	"godwit/sandbox"
	"godwit/task"
)

// execFlags are what `godwit exec` runs a module with.
type execFlags struct {
	files, env []string
	stdin, out string
	memory     string
	seed       string
	timeout    time.Duration
	checkpoint string
	hops       hopFlags
	json       bool
}

// execReport is the JSON of `godwit exec`.
type execReport struct {
	ExitCode     uint32              `json:"exit_code"`
	Outcome      task.Outcome        `json:"outcome"`
	Message      string              `json:"message,omitempty"`
	Fuel         uint64              `json:"fuel"`
	StateHash    string              `json:"state_hash"` // of the whole state at the end; empty if it has none
	StdoutDigest task.CID            `json:"stdout_digest"`
	Files        map[string]task.CID `json:"files"`
	Hops         int                 `json:"hops"`
	Checkpoints  []checkpointReport  `json:"checkpoints"`
	MemoryBytes  int64               `json:"memory_bytes"`
	WallS        float64             `json:"wall_s"`
	CPUS         float64             `json:"cpu_s"`
}

func newExec() *cobra.Command {
	var x execFlags
	cmd := &cobra.Command{
		Use:   "exec MODULE.wasm [-- ARGS]",
		Short: "Run a module here, alone, as a worker would; no node is needed",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := x.task(args[0], args[1:])
			if err != nil {
				return err
			}
			if err := x.hops.check(); err != nil {
				return err
			}
			j, err := runAlone(cmd.Context(), t, &x.hops)
			if err != nil {
				return err
			}
			return x.show(cmd, args[0], j)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&x.files, "file", nil, "input file: PATH, or NAME=PATH for another name inside (repeatable)")
	f.StringArrayVar(&x.env, "env", nil, "NAME=VALUE for the program's environment (repeatable)")
	f.StringVar(&x.stdin, "stdin", "", "file for standard input")
	f.StringVar(&x.out, "out", "", "directory for the files that the program writes")
	f.StringVar(&x.memory, "memory", "", "memory limit, like 512MiB (default "+task.FormatSize(sandbox.DefaultMemory)+")")
	f.StringVar(&x.seed, "seed", "exec/0", "task name that the clock and the random bytes follow from")
	f.DurationVar(&x.timeout, "timeout", 0, "longest run (0: none)")
	f.StringVar(&x.checkpoint, "checkpoint", "auto", "off: run a module that cannot be frozen all the same")
	x.hops.add(f)
	f.BoolVar(&x.json, "json", false, "print JSON: outcome and digests")
	return cmd
}

// everything asks for all files down to the depth where results end in
// practice; a pattern's * does not cross a slash.
var everything = []string{"stdout", "stderr", "*", "*/*", "*/*/*", "*/*/*/*"}

func (x *execFlags) task(module string, args []string) (sandbox.Task, error) {
	t := sandbox.Task{Name: x.seed, Module: module, ModulePath: module, Args: args, Outputs: everything}
	b, err := os.ReadFile(module)
	if err != nil {
		return t, failure.Usage("`godwit build DIR` makes modules from Go and C programs", "reading the module: %w", err)
	}
	// The child validates the code, or has done so before.
	if err := sandbox.CheckSections(b); err != nil {
		return t, fmt.Errorf("module %s: %w", module, err)
	}
	t.Limits.Wall, t.StateHash = x.timeout, x.json
	switch x.checkpoint {
	case "auto":
	case "off":
		t.Checkpoint.Off = true
	default:
		return t, failure.Usage("write --checkpoint auto or --checkpoint off", "--checkpoint %q", x.checkpoint)
	}
	if x.memory != "" {
		if t.Limits.Memory, err = task.ParseSize(x.memory); err != nil {
			return t, failure.Usage("sizes are written like 512MiB", "--memory: %w", err)
		}
	}
	for _, f := range x.files {
		in, err := input(f)
		if err != nil {
			return t, err
		}
		t.Files = append(t.Files, in)
	}
	for _, e := range x.env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			return t, failure.Usage("write --env NAME=VALUE", "--env %q has no name and value", e)
		}
		t.Env = append(t.Env, task.EnvVar{Name: name, Value: value})
	}
	if x.stdin != "" {
		if _, err := os.Stat(x.stdin); err != nil {
			return t, failure.Usage("", "--stdin: %w", err)
		}
		t.Stdin = &sandbox.Input{Name: "stdin", Path: x.stdin}
	}
	return t, nil
}

func input(spec string) (sandbox.Input, error) {
	name, path, renamed := strings.Cut(spec, "=")
	if !renamed {
		name, path = filepath.Base(spec), spec
	}
	if err := task.ValidSandboxPath(name); err != nil {
		return sandbox.Input{}, failure.Usage("names inside the sandbox are relative, like data/in.txt", "--file %s: %w", spec, err)
	}
	if _, err := os.Stat(path); err != nil {
		return sandbox.Input{}, failure.Usage("", "--file: %w", err)
	}
	return sandbox.Input{Name: name, Path: path}, nil
}

// runAlone runs one task in sandbox processes of its own: one, and one more for
// each hop.
func runAlone(ctx context.Context, t sandbox.Task, h *hopFlags) (j journey, err error) {
	command, err := sandboxCommand()
	if err != nil {
		return j, err
	}
	scratch, err := os.MkdirTemp("", "godwit-exec-")
	if err != nil {
		return j, fmt.Errorf("making a scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	cache := scratch
	if dir, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(dir, "godwit", "compiled")
	}
	var pools []*sandbox.Pool
	for _, c := range append([][]string{command}, h.engines()...) {
		p := sandbox.NewPool(sandbox.Config{Command: c, CacheDir: cache, ScratchDir: scratch, MaxIdle: -1})
		defer func() { err = errors.Join(err, p.Close()) }()
		pools = append(pools, p)
	}
	return h.travel(ctx, pools, t)
}

// show writes the outputs and says how it ended.
func (x *execFlags) show(cmd *cobra.Command, module string, j journey) error {
	rep := j.last
	if s := x.hops.short(j); s != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "godwit:", s)
	}
	js := execReport{
		Fuel: rep.Fuel, StateHash: j.stateHash(), Hops: j.hops, Checkpoints: j.checkpoints,
		ExitCode: rep.ExitCode, Outcome: rep.Outcome, Message: rep.Message, Files: map[string]task.CID{},
		MemoryBytes: rep.PeakMemory, WallS: j.wall.Seconds(), CPUS: j.cpu.Seconds(),
	}
	var root *os.Root
	if x.out != "" {
		if err := os.MkdirAll(x.out, 0o777); err != nil {
			return fmt.Errorf("making the output directory: %w", err)
		}
		var err error
		if root, err = os.OpenRoot(x.out); err != nil {
			return fmt.Errorf("opening the output directory: %w", err)
		}
		defer root.Close()
	}
	for _, f := range rep.Outputs {
		if err := x.showFile(cmd, root, f, &js); err != nil {
			return err
		}
	}
	if x.json {
		if err := table.JSON(cmd.OutOrStdout(), js); err != nil {
			return err
		}
	}
	switch rep.Outcome {
	case task.Completed:
		return nil
	case task.InvalidModule:
		return invalidModule(module, rep.Message)
	}
	return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("the program did not complete: %s: %s", rep.Outcome, rep.Message)}
}

// invalidModule says what is wrong with a module that a sandbox refused. It looks for itself, since the sandbox's
// message has reason and hint in one.
func invalidModule(module, message string) error {
	if b, err := os.ReadFile(module); err == nil {
		if err := sandbox.CheckModule(b); err != nil {
			return fmt.Errorf("module %s: %w", module, err)
		}
	}
	return failure.Usage("", "module %s: %s", module, message)
}

func (x *execFlags) showFile(cmd *cobra.Command, root *os.Root, f sandbox.File, js *execReport) error {
	c, err := blocks.CIDOfBytes(f.Data)
	if err != nil {
		return fmt.Errorf("naming %s: %w", f.Name, err)
	}
	switch f.Name {
	case "stdout":
		js.StdoutDigest = c
		if !x.json {
			_, err = cmd.OutOrStdout().Write(f.Data)
		}
	case "stderr":
		_, err = cmd.ErrOrStderr().Write(f.Data)
	default:
		js.Files[f.Name] = c
		if root != nil {
			err = files.WriteWhole(root, filepath.FromSlash(f.Name), f.Data)
		}
	}
	return err
}

// sandboxVerb is the hidden verb behind every running task. It is answered
// before the command tree is built: see main.
const sandboxVerb = "sandbox"
