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
	"godwit/owner"
)

// rulesName is the file of the owner's rules in the data directory.
const rulesName = "config.yaml"

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

// rulesThere refuses a file of rules that was named and is not there: nothing must run
// by other rules than the owner meant.
func rulesThere(path string) error {
	if _, err := os.Stat(path); err != nil {
		return failure.Usage("name a file that is there, or leave --config out for DATA-DIR/"+rulesName,
			"--config: reading the owner's rules: %w", err)
	}
	return nil
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
			if file != "" {
				if err := rulesThere(file); err != nil {
					return err
				}
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
			if file == "" { // no node need have run here
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					return fmt.Errorf("making the data directory: %w", err)
				}
			}
			return owner.Set(path, args[0], args[1], node.Machine())
		},
	}
	for _, sub := range []*cobra.Command{get, set} {
		c.add(sub)
		sub.Flags().StringVar(&file, "config", "",
			"`FILE` with the rules (default that of the running node, or DATA-DIR/"+rulesName+")")
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
