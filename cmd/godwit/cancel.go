package main

import (
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
)

func newCancel() *cobra.Command {
	var c clientFlags
	var soon bool
	cmd := &cobra.Command{
		Use:   "cancel ID[/TASKS]",
		Short: "End a job that this node submitted, or some of its tasks",
		Long: `End a job that this node submitted: what runs is stopped. With --soon what runs goes on to its
end, and no more is begun.

With ID/5, ID/5-20 or ID/5-20,30 only these tasks end: none that waits begins, and what runs
of them is dropped. The job ends when all others have ended. Tasks that have ended stay.`,
		Args: cobra.ExactArgs(1),
		Example: `  godwit cancel render
  godwit cancel render/5-20`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				ref, tasks, single := strings.Cut(args[0], "/")
				if single && soon {
					return failure.Usage("leave it out", "single tasks end at once, without --soon")
				}
				if single {
					id, err := client.CancelTasks(cmd.Context(), ref, tasks)
					if err != nil {
						return err
					}
					return printID(cmd.OutOrStdout(), id, c.json)
				}
				end := client.Cancel
				if soon {
					end = client.CancelSoon
				}
				id, err := end(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return printID(cmd.OutOrStdout(), id, c.json)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&soon, "soon", false, "let what runs end, and begin no more")
	return cmd
}

func newForget() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "forget ID",
		Short: "Drop a job that is over, and its results",
		Long: `Drop a job that this node submitted and that is over, and its results: they cannot
be had again. A job that is not over has to be cancelled first.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				id, err := client.Forget(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return printID(cmd.OutOrStdout(), id, c.json)
			})
		},
	}
	c.add(cmd)
	return cmd
}
