package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/node"
	"godwit/owner"
)

// rulesName is the file of the owner's rules in the data directory.
const rulesName = "config.yaml"

// stateLine says what the node does and why, in one line.
func stateLine(s node.Status) string {
	line := fmt.Sprintf("state    %s for %s: %s", s.State, table.Ago(s.Since), s.Reason)
	var rests []string
	if s.Rule != "" {
		rests = append(rests, "rule "+s.Rule)
	}
	if s.Sensor != "" {
		rests = append(rests, "sensor "+s.Sensor)
	}
	if len(rests) > 0 {
		line += " (" + strings.Join(rests, ", ") + ")"
	}
	return line
}

func newPause() *cobra.Command {
	var c clientFlags
	var d time.Duration
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Stop all tasks at once, until `godwit resume`",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("for") && d <= 0 {
				return failure.Usage("durations are written like 30m or 2h", "--for must be above 0")
			}
			return c.tell(cmd, func(ctx context.Context, client *api.Client) (node.Status, error) { return client.Pause(ctx, d) })
		},
	}
	c.add(cmd)
	cmd.Flags().DurationVar(&d, "for", 0, "resume by itself after this long, like 2h")
	return cmd
}

func newResume() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Take back a pause and a drain; the other rules still hold",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.tell(cmd, func(ctx context.Context, client *api.Client) (node.Status, error) { return client.Resume(ctx) })
		},
	}
	c.add(cmd)
	return cmd
}

// tell asks the node for something and prints its new state.
func (c *clientFlags) tell(cmd *cobra.Command, ask func(context.Context, *api.Client) (node.Status, error)) error {
	client, err := c.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	s, err := ask(cmd.Context(), client)
	if err != nil {
		return err
	}
	if c.json {
		return table.JSON(cmd.OutOrStdout(), s)
	}
	fmt.Fprintln(cmd.OutOrStdout(), stateLine(s))
	return nil
}

// rulesFile finds the file of rules: the one named, else that of the node if one
// answers, else the data directory's.
func (c *clientFlags) rulesFile(ctx context.Context, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	client, err := c.dial()
	if err != nil {
		return "", err
	}
	defer client.Close()
	switch s, err := client.Status(ctx); {
	case err == nil && s.RulesFile != "":
		return s.RulesFile, nil
	case err != nil && !errors.Is(err, api.ErrNoNode):
		return "", err
	}
	return filepath.Join(c.dataDir, rulesName), nil
}

func newConfig() *cobra.Command {
	var c clientFlags
	var file string
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Read and change the owner's rules; a running node obeys at once",
		Example: `  godwit config get
  godwit config set idle_time_to_run 10
  godwit config set hours.monday "18:00-08:00"`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	get := &cobra.Command{
		Use:   "get [KEY]",
		Short: "Print one rule, or all, with the defaults of those not set",
		Args:  explained(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.rulesFile(cmd.Context(), file)
			if err != nil {
				return err
			}
			rules, err := owner.Load(path)
			if err != nil {
				return err
			}
			return printRules(cmd, &rules, args, c.json)
		},
	}
	set := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one rule in the file, which keeps its comments",
		Args:  explained(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.rulesFile(cmd.Context(), file)
			if err != nil {
				return err
			}
			if path, err = filepath.Abs(path); err != nil {
				return err
			}
			return owner.Set(path, args[0], args[1])
		},
	}
	for _, sub := range []*cobra.Command{get, set} {
		c.add(sub)
		sub.Flags().StringVar(&file, "config", "", "file with the rules (default that of the running node, or DATA-DIR/"+rulesName+")")
		cmd.AddCommand(sub)
	}
	return cmd
}

func printRules(cmd *cobra.Command, rules *owner.Rules, args []string, asJSON bool) error {
	out := cmd.OutOrStdout()
	if len(args) == 1 {
		v, err := rules.Get(args[0])
		switch {
		case err != nil:
			return err
		case asJSON:
			return table.JSON(out, map[string]string{args[0]: v})
		}
		fmt.Fprintln(out, v)
		return nil
	}
	if !asJSON {
		fmt.Fprint(out, rules.Text())
		return nil
	}
	all := map[string]string{}
	for _, k := range owner.Keys() {
		v, err := rules.Get(k)
		if err != nil {
			return err
		}
		all[k] = v
	}
	return table.JSON(out, all)
}

func newDoctor() *cobra.Command {
	var c clientFlags
	var file string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what the owner's rules rest on: which sensors see, which are blind, and what to do",
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
	cmd.Flags().StringVar(&file, "config", "", "file with the rules, where no node runs (default DATA-DIR/"+rulesName+")")
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
	node := owner.Finding{Check: "node", Result: owner.OK, Text: "none runs here; this is what one would see", Fix: "start one with `godwit up`"}
	return append([]owner.Finding{node}, owner.Examine(ctx, file, nil)...), nil
}
