package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/scheduler/message"
)

func newJobs() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "Jobs known to the node, newest first",
		Long: `Jobs known to the node, newest first. Of those that go on the last column has the time to
their end: the middle of the forecast, and what nine in ten ends lie between.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withClient(&c, func(client *api.Client) error {
				jobs, err := client.Jobs(cmd.Context())
				if err != nil {
					return err
				}
				return c.printJobs(cmd, client, jobs)
			})
		},
	}
	c.add(cmd)
	return cmd
}

// mostForecasts is of how many jobs that go on, the newest, a list tells when they end: each takes
// the node some tens of milliseconds.
const mostForecasts = 10

func (c *clientFlags) printJobs(cmd *cobra.Command, client *api.Client, jobs []message.JobStatus) error {
	out := cmd.OutOrStdout()
	rows, asked := make([][]string, 0, len(jobs)), 0
	for _, j := range jobs {
		if c.json {
			if err := table.JSON(out, j); err != nil {
				return err
			}
			continue
		}
		toGo := ""
		if j.State == message.JobRunning && asked < mostForecasts {
			asked++
			toGo = submission.ToGo(cmd.Context(), client, j.ID)
		}
		failed := fmt.Sprint(j.Tasks.Failed)
		if j.State == message.JobCancelled { // most of them were just not run
			failed = "-"
		}
		rows = append(rows, []string{
			table.ShortJob(j.ID), linkedName(&j), j.StateText(), fmt.Sprint(j.Tasks.Done), fmt.Sprint(j.Tasks.Running),
			fmt.Sprint(j.Tasks.Waiting), failed, table.Ago(j.Submitted), toGo,
		})
	}
	if !c.json {
		table.Print(out, "JOB NAME STATE DONE RUNNING WAITING FAILED AGE TO-GO", rows)
	}
	return nil
}

// linkedName is a job's name with its links: what it adds tasks to, and how many tasks were added to it.
func linkedName(j *message.JobStatus) string {
	name := j.Name
	if j.Adds != "" {
		name += " (added to " + table.ShortJob(j.Adds) + ")"
	}
	tasks := uint64(0)
	for _, a := range j.Added {
		tasks += a.Tasks
	}
	if tasks > 0 {
		name += fmt.Sprintf(" (%d tasks added)", tasks)
	}
	return name
}
