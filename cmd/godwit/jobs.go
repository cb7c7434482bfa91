package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/lab/table"
)

func newJobs() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "Jobs known to the node, newest first",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(&c, func(client *api.Client) error {
				jobs, err := client.Jobs(cmd.Context())
				if err != nil {
					return err
				}
				out := cmd.OutOrStdout()
				rows := make([][]string, 0, len(jobs))
				for _, j := range jobs {
					if c.json {
						if err := table.JSON(out, j); err != nil {
							return err
						}
						continue
					}
					rows = append(rows, []string{
						table.ShortJob(j.ID), j.Name, j.State, fmt.Sprint(j.Tasks.Done), fmt.Sprint(j.Tasks.Running),
						fmt.Sprint(j.Tasks.Waiting), fmt.Sprint(j.Tasks.Failed), table.Ago(j.Submitted),
					})
				}
				if !c.json {
					table.Print(out, "JOB NAME STATE DONE RUNNING WAITING FAILED AGE", rows)
				}
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}
