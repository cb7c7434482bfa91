package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/node"
	"godwit/node/exec"
	"godwit/owner"
	"godwit/sandbox"
)

func newDoctor() *cobra.Command {
	var c clientFlags
	var file string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what the owner's rules rest on and what keeps tasks in: what holds, what does not, and what to do",
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := c.examine(cmd.Context(), file)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			bad := false
			for _, f := range findings {
				bad = bad || f.Result == owner.Bad
				if c.json {
					if err := table.JSON(out, f); err != nil {
						return err
					}
					continue
				}
				fmt.Fprintf(out, "%-5s  %s: %s\n", f.Result, f.Check, f.Text)
				if f.Fix != "" {
					fmt.Fprintf(out, "       fix: %s\n", f.Fix)
				}
			}
			if bad {
				return failure.Quietly(failure.ExitFailed)
			}
			return nil
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&file, "config", "",
		"`FILE` with the rules, where no node runs (default DATA-DIR/"+rulesName+")")
	return cmd
}

// examine asks the running node, whose sensors may see more or less than this
// program's would, or looks for itself where none runs.
func (c *clientFlags) examine(ctx context.Context, file string) ([]owner.Finding, error) {
	client, err := c.dial()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	findings, err := client.Doctor(ctx)
	if !errors.Is(err, api.ErrNoNode) {
		return findings, err
	}
	if file == "" {
		file = filepath.Join(c.dataDir, rulesName)
	}
	none := owner.Finding{Check: "node", Result: owner.OK, Text: "none runs here; this is what one would see",
		Fix: "start one with `godwit up`"}
	command, err := sandboxCommand()
	if err != nil {
		return nil, err
	}
	pool := sandbox.NewPool(sandbox.Config{Command: command})
	defer pool.Close()
	seen := append([]owner.Finding{none}, owner.Examine(ctx, file, nil)...)
	return append(append(seen, exec.Walls(pool)...), node.DiskLeft(there(c.dataDir))), nil
}

// there is dir, or where it would be made: the nearest directory above it that there is.
func there(dir string) string {
	for {
		above := filepath.Dir(dir)
		if _, err := os.Stat(dir); err == nil || above == dir {
			return dir
		}
		dir = above
	}
}
