package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"godwit/internal/failure"
	"godwit/lab/interpreter"
	"godwit/sandbox"
	"godwit/task"
)

// everything asks for all files down to the depth where results end in
// practice; a pattern's * does not cross a slash.
var everything = []string{"stdout", "stderr", "*", "*/*", "*/*/*", "*/*/*/*"}

func (x *execFlags) task(module string, args []string) (sandbox.Task, error) {
	t := sandbox.Task{Name: x.seed, Module: module, ModulePath: module, Args: args, Outputs: everything}
	b, err := os.ReadFile(module)
	if err != nil {
		return t, failure.Usage("`godwit build DIR` makes modules of programs", "reading the module: %w", err)
	}
	// The child validates the code, or has done so before.
	if err := sandbox.CheckSections(b); err != nil {
		return t, fmt.Errorf("module %s: %w", module, err)
	}
	t.Limits.Wall, t.StateHash, t.Spacing = x.timeout, x.json, x.trail
	switch {
	case x.trail > 0 && !x.json:
		return t, failure.Usage("add --json", "--trail without --json: it would not be printed")
	case x.trail > 0 && x.trail < sandbox.MinSpacing:
		return t, failure.Usage("", "--trail %d: the least is %d", x.trail, sandbox.MinSpacing)
	}
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

// scripted gives the module and the arguments with which a script runs, and adds the files that it needs; a module
// stays as it is.
func (x *execFlags) scripted(path string, args []string) (string, []string, error) {
	r, ok := interpreter.Of(path)
	if !ok {
		return path, args, nil
	}
	store := interpreter.Usual()
	module, err := store.Module(r)
	if err != nil {
		return "", nil, err
	}
	x.files = append(x.files, path)
	for _, name := range r.Root {
		x.files = append(x.files, name+"="+store.Root(r, name))
	}
	return module, append([]string{filepath.Base(path)}, args...), nil
}

func input(spec string) (sandbox.Input, error) {
	name, path, renamed := strings.Cut(spec, "=")
	if !renamed {
		name, path = filepath.Base(spec), spec
	}
	if err := task.ValidSandboxPath(name); err != nil {
		return sandbox.Input{}, failure.Usage("names inside the sandbox are relative, like data/in.txt", "--file %s: %w",
			spec, err)
	}
	if _, err := os.Stat(path); err != nil {
		return sandbox.Input{}, failure.Usage("", "--file: %w", err)
	}
	return sandbox.Input{Name: name, Path: path}, nil
}
