package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/scheduler/message"
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

func newResults() *cobra.Command {
	var c clientFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "results ID --out DIR",
		Short: "Fetch and verify a job's results",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				return failure.Usage("for example --out results", "no directory given for the results")
			}
			return withClient(&c, func(client *api.Client) error {
				st, err := client.Job(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				n, err := submission.Collect(cmd.Context(), client, args[0], dir)
				if err != nil {
					return err
				}
				if c.json {
					err = table.JSON(cmd.OutOrStdout(), map[string]any{"id": st.ID, "state": st.State, "files": n, "dir": dir})
				} else {
					fmt.Fprintf(cmd.ErrOrStderr(), "%d files verified and written to %s\n", n, dir)
				}
				switch {
				case err != nil:
					return err
				case !message.FinalState(st.State):
					return &failure.Error{Code: failure.ExitPartly, Err: fmt.Errorf("the job is still running: %d of %d tasks are done", st.Tasks.Done, st.Tasks.Total),
						Hint: "ask again when it has ended"}
				}
				return submission.Verdict(st)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().StringVar(&dir, "out", "", "directory to write to")
	return cmd
}

func newCancel() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "End a job that this node submitted",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				id, err := client.Cancel(cmd.Context(), args[0])
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

func newWhy() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "why ID[/TASK]",
		Short: "Why a task waits, or why it is where it is",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, index, err := splitTask(args[0])
			if err != nil {
				return err
			}
			return withClient(&c, func(client *api.Client) error {
				w, err := client.Why(cmd.Context(), ref, index)
				if err != nil {
					return err
				}
				if c.json {
					return table.JSON(cmd.OutOrStdout(), w)
				}
				for _, r := range w.Reasons {
					fmt.Fprintf(cmd.OutOrStdout(), "%6d  %s\n", r.Tasks, r.Reason)
				}
				return nil
			})
		},
	}
	c.add(cmd)
	return cmd
}

// splitTask reads ID or ID/INDEX.
func splitTask(s string) (ref string, index *uint64, err error) {
	ref, text, found := strings.Cut(s, "/")
	if !found {
		return ref, nil, nil
	}
	i, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return "", nil, failure.Usage("write it as ID/INDEX, for example bafy.../17", "reading the task's index %q: not a whole number", text)
	}
	return ref, &i, nil
}

func withClient(c *clientFlags, f func(*api.Client) error) error {
	client, err := c.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	return f(client)
}
