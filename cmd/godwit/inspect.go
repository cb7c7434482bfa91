package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/sandbox"
	"godwit/task"
)

// inspectReport is the JSON of `godwit inspect`.
type inspectReport struct {
	Bytes     int64    `json:"bytes"`
	Imports   []string `json:"imports"`
	Missing   []string `json:"missing"`
	Exports   []string `json:"exports"`
	MemoryMin int64    `json:"memory_min_bytes"`
	MemoryMax int64    `json:"memory_max_bytes"` // -1: states none
	Functions int      `json:"functions"`
	Features  []string `json:"features"`
	Runnable  bool     `json:"runnable"`
	Problem   string   `json:"problem,omitempty"`
	Freezable bool     `json:"freezable"` // it can be moved while it runs
	WhyNot    string   `json:"why_not_freezable,omitempty"`
}

func newInspect() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect MODULE.wasm",
		Short: "What a module imports, its size, whether it can run here and be frozen",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := os.ReadFile(args[0])
			if err != nil {
				return failure.Usage("", "reading the module: %w", err)
			}
			info, err := sandbox.Inspect(b)
			if err != nil {
				return fmt.Errorf("module %s: %w", args[0], err)
			}
			r := inspectReport{
				Bytes: info.Size, Imports: []string{}, Exports: []string{}, Missing: append([]string{}, info.Missing()...),
				MemoryMin: info.MemoryMin, MemoryMax: info.MemoryMax, Functions: info.Functions,
				Features: append([]string{}, info.Features...),
			}
			for _, i := range info.Imports {
				r.Imports = append(r.Imports, i.String())
			}
			for _, e := range info.Exports {
				r.Exports = append(r.Exports, e.Name)
			}
			command, err := sandboxCommand()
			if err != nil {
				return err
			}
			whyNot, problem := sandbox.CheckIn(cmd.Context(), command, b, true)
			r.Runnable = problem == nil
			if problem != nil {
				r.Problem = problem.Error()
			} else if whyNot != "" {
				r.WhyNot = whyNot
			} else {
				r.Freezable = true
			}
			if asJSON {
				if err := table.JSON(cmd.OutOrStdout(), r); err != nil {
					return err
				}
			} else {
				r.print(cmd)
			}
			return problem
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (r inspectReport) print(cmd *cobra.Command) {
	out := cmd.OutOrStdout()
	most := "none stated"
	if r.MemoryMax >= 0 {
		most = task.FormatSize(r.MemoryMax)
	}
	fmt.Fprintf(out, "size       %s, %d functions\n", task.FormatSize(r.Bytes), r.Functions)
	fmt.Fprintf(out, "memory     %s to start, limit %s\n", task.FormatSize(r.MemoryMin), most)
	fmt.Fprintf(out, "imports    %s\n", strings.Join(r.Imports, " "))
	fmt.Fprintf(out, "exports    %s\n", strings.Join(r.Exports, " "))
	if len(r.Features) > 0 {
		fmt.Fprintf(out, "features   %s\n", strings.Join(r.Features, " "))
	}
	if r.Runnable {
		fmt.Fprintln(out, "runs here  yes")
		if r.Freezable {
			fmt.Fprintln(out, "can move   yes")
		} else {
			fmt.Fprintf(out, "can move   no: %s\n", r.WhyNot)
		}
	}
}
