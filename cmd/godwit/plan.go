package main

import (
	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/lab/progress"
	"godwit/lab/submission"
	"godwit/lab/table"
)

func newPlan() *cobra.Command {
	var c clientFlags
	var overlay string
	var fresh bool
	cmd := &cobra.Command{
		Use:   "plan JOB.yaml|MODULE.wasm [-- ARGS]",
		Short: "What would become of a job: tasks, bytes to send, who could run it, and when it would end",
		Long: `What would become of a job if it were handed in now: its tasks, the bytes to send, who
could run it and who not, and when it would end. Nothing is handed in. Of tasks whose
results the node holds of other jobs it says how many, and plans the rest, as run does:
for that it reads all inputs here, and tables are sent to the node. --fresh spares that.

When it would end is found by running the placement policy ahead, many times, over the
members that the node knows: how long each stays and how long it is away is drawn from
what is known of it. Half of the ends come before the first time that is printed, and
nine in ten between the other two. docs/measured.md says how often that held.`,
		Args: cobra.MinimumNArgs(1),
		Example: `  godwit plan render.yaml
  godwit plan render.yaml --overlay lab --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			job, err := submission.Read(args[0], args[1:], checkModule)
			if err != nil {
				return err
			}
			defer job.Close()
			job.Overlay, job.Reuse = overlay, !fresh
			return withClient(&c, func(client *api.Client) error {
				shown := progress.New(cmd.ErrOrStderr(), c.json)
				shown.Imports, job.Import = "read", shown.Import
				p, err := submission.Plan(cmd.Context(), client, job)
				shown.Done()
				if err != nil {
					return err
				}
				if c.json {
					return table.JSON(cmd.OutOrStdout(), &p)
				}
				p.Print(cmd.OutOrStdout())
				return nil
			})
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&overlay, "overlay", "",
		"`OVERLAY` to ask about: name, ID or end of it (default commons, or the node's first)")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "plan every task, also those whose results the node holds of other jobs")
	return cmd
}
