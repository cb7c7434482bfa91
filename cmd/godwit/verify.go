package main

import (
	"github.com/spf13/cobra"

	"godwit/api"
)

func newVerify() *cobra.Command {
	var c clientFlags
	var tasks uint64
	cmd := &cobra.Command{
		Use:   "verify ID",
		Short: "Run more of a job's tasks again to check its results",
		Long: `Run more of a job's tasks again on this machine to check its results. By itself a node
runs again at most a fifth of a job's work, or 20 tasks of a small job.
Results that only this machine can check wait beyond that: ` + "`godwit job ID`" + ` says how many.
Follow the checks with ` + "`godwit job ID`" + `.`,
		Example: `  godwit verify render
  godwit verify render --tasks 50`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				id, err := client.CheckMore(cmd.Context(), args[0], tasks)
				if err != nil {
					return err
				}
				return printID(cmd.OutOrStdout(), id, c.json)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().Uint64Var(&tasks, "tasks", 0, "number of tasks to run again; 0 for all that wait for this machine")
	return cmd
}
