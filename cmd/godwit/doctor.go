package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	var file, report string
	var stores storeFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine: rules, sensors, sandbox, network; what holds, what does not, and what to do",
		Long: `Check this machine: what the owner's rules rest on, what keeps tasks in, how others reach the node; what holds,
what does not, and what to do. Exit code 1 says that something is bad.
With --report the same is written for whoever helps, without keys, tickets, addresses, and names of people
and machines. Read it before you give it away.
With --store, list what is readable of damaged stores that the node set aside: your jobs, their results, and
blocks. With --recover, add what the node's store lacks of these. The node must not run then.`,
		Example: `  godwit doctor
  godwit doctor --report report.txt
  godwit doctor --store
  godwit doctor --store --recover`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stores.recover && !stores.look {
				return failure.Usage("`godwit doctor --store --recover`", "--recover is for --store")
			}
			if stores.look {
				return c.examineStores(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), stores.recover)
			}
			findings, err := c.examine(cmd.Context(), file)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case report != "":
				if err := writeReport(report, findings, whose(c.dataDir), time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(out, "%s holds what was found. Read it before you give it away.\n", report)
			case c.json:
				for _, f := range findings {
					if err := table.JSON(out, f); err != nil {
						return err
					}
				}
			default:
				printFindings(out, findings)
			}
			if slices.ContainsFunc(findings, func(f owner.Finding) bool { return f.Result == owner.Bad }) {
				return failure.Quietly(failure.ExitFailed)
			}
			return nil
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&file, "config", "",
		"`FILE` with the rules, where no node runs (default DATA-DIR/"+rulesName+")")
	cmd.Flags().StringVar(&report, "report", "", "write the findings into `FILE`, for whoever helps")
	cmd.Flags().BoolVar(&stores.look, "store", false, "list what is readable of stores that were set aside as damaged")
	cmd.Flags().BoolVar(&stores.recover, "recover", false, "with --store, add what is readable to the node's store")
	return cmd
}

// headings are what people read above the checks of an area.
var headings = map[string]string{
	owner.AreaRules: "Your rules", owner.AreaSensors: "What is seen of this machine",
	owner.AreaSandbox: "What keeps tasks in", owner.AreaNetwork: "How others reach this node",
	owner.AreaMachine: "Disk, clock and program",
}

// printFindings prints findings under headings. Sensors that see nothing, and need not, share a line.
func printFindings(out io.Writer, findings []owner.Finding) {
	count := map[string]int{}
	areas := append([]string{""}, owner.Areas()...)
	for _, f := range findings {
		if !slices.Contains(areas, f.Area) { // of a newer node
			areas = append(areas, f.Area)
		}
	}
	for _, area := range areas {
		var idle []string
		headed := area == ""
		for _, f := range findings {
			if f.Area != area {
				continue
			}
			if !headed {
				fmt.Fprintf(out, "\n%s\n", cmp.Or(headings[area], area))
				headed = true
			}
			if f.Result == owner.Blind && f.Fix == "" {
				idle = append(idle, f.Check)
				continue
			}
			count[f.Result]++
			printFinding(out, f)
		}
		if len(idle) > 0 {
			fmt.Fprintf(out, "-      nothing is seen by, and nothing is lacking for it: %s\n", strings.Join(idle, "; "))
		}
	}
	fmt.Fprintf(out, "\n%d ok, %d to know of, %d bad\n", count[owner.OK], count[owner.Blind], count[owner.Bad])
}

func printFinding(out io.Writer, f owner.Finding) {
	fmt.Fprintf(out, "%-5s  %s: %s\n", f.Result, f.Check, f.Text)
	if f.Fix != "" {
		fmt.Fprintf(out, "       fix: %s\n", f.Fix)
	}
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
	pool := sandbox.NewPool(sandbox.Config{Command: command, KeepPriority: waitedFor})
	defer pool.Close()
	seen := append([]owner.Finding{none}, owner.Examine(ctx, file, nil)...)
	return slices.Concat(seen, exec.Walls(ctx, pool), owner.In(owner.AreaMachine, node.DiskLeft(there(c.dataDir)))), nil
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
