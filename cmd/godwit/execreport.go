package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"godwit/blocks"
	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/sandbox"
	"godwit/task"
)

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
	Trail        []boundaryReport    `json:"trail,omitempty"` // of --trail
	MemoryBytes  int64               `json:"memory_bytes"`
	WallS        float64             `json:"wall_s"`
	CPUS         float64             `json:"cpu_s"`
}

// show writes the outputs and says how it ended.
func (x *execFlags) show(cmd *cobra.Command, module string, j journey) error {
	rep := j.last
	if s := x.hops.short(j); s != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "godwit:", s)
	}
	js := execReport{
		Fuel: rep.Fuel, StateHash: j.stateHash(), Hops: j.hops, Checkpoints: j.checkpoints, Trail: j.boundaries(),
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
	return &failure.Error{Code: failure.ExitFailed, Err: fmt.Errorf("the program did not complete: %s: %s", rep.Outcome,
		rep.Message)}
}

// invalidModule says what is wrong with a module that a sandbox refused. It looks for itself, since the sandbox's
// message has reason and hint in one.
func invalidModule(module, message string) error {
	if b, err := os.ReadFile(module); err == nil {
		if err := checkModule(b); err != nil {
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
			err = submission.NotOver(files.WriteNew(root, filepath.FromSlash(f.Name), f.Data))
		}
	}
	return err
}
