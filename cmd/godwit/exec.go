package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

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
	trail      uint64
	json       bool
}

func newExec() *cobra.Command {
	var x execFlags
	cmd := &cobra.Command{
		Use:   "exec MODULE.wasm|SCRIPT [-- ARGS]",
		Short: "Run a module or a script here, alone, as a worker would; no node is needed",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			module, rest, err := x.scripted(args[0], args[1:])
			if err != nil {
				return err
			}
			t, err := x.task(module, rest)
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
	f.StringArrayVar(&x.files, "file", nil, "input file: `PATH`, or NAME=PATH for another name inside (repeatable)")
	f.StringArrayVar(&x.env, "env", nil, "`NAME=VALUE` for the program's environment (repeatable)")
	f.StringVar(&x.stdin, "stdin", "", "`FILE` for standard input")
	f.StringVar(&x.out, "out", "", "directory `DIR` for the files that the program writes")
	f.StringVar(&x.memory, "memory", "",
		"most memory the program may have, a `SIZE` like 512MiB (default "+task.FormatSize(sandbox.DefaultMemory)+")")
	f.StringVar(&x.seed, "seed", "exec/0", "`NAME` of a task, from which the clock and the random bytes follow")
	f.DurationVar(&x.timeout, "timeout", 0, "longest run (0: none)")
	f.StringVar(&x.checkpoint, "checkpoint", "auto",
		"`HOW` to save states: auto, or off, which also runs a module that cannot be frozen")
	x.hops.add(f)
	f.Uint64Var(&x.trail, "trail", 0,
		"with --json, also print the state's hash whenever the program has used this much `FUEL`, doubled as often as "+
			"there would be more than "+strconv.Itoa(task.MaxBoundaries))
	f.BoolVar(&x.json, "json", false, "print JSON: outcome and digests")
	return cmd
}

// waitedFor keeps sandbox processes at this program's priority, because a user waits for their output.
func waitedFor() bool { return true }

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
	var pools []*sandbox.Pool
	for _, c := range append([][]string{command}, h.engines()...) {
		p := sandbox.NewPool(sandbox.Config{Command: c, CacheDir: compiledCache(scratch), ScratchDir: scratch, MaxIdle: -1,
			KeepPriority: waitedFor})
		defer func() { err = errors.Join(err, p.Close()) }()
		pools = append(pools, p)
	}
	return h.travel(ctx, pools, t)
}
