package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/plot"
	"godwit/lab/submission"
	"godwit/lab/table"
	"godwit/lab/timeline"
	"godwit/node"
	"godwit/scheduler/message"
)

// jobFlags say what is told of a job.
type jobFlags struct {
	all     bool
	index   uint64
	one     bool // only the task of that index
	picture string
	graph   string
	audit   int // tasks to run again; 0: none
	draw    bool
}

func newJob() *cobra.Command {
	var c clientFlags
	var f jobFlags
	cmd := &cobra.Command{
		Use:   "job ID",
		Short: "A job's tasks: where each ran, froze and moved, and what came of it",
		Long: `A job's tasks: where each ran, from when to when, why it moved, and what came of it.
Times are since the job's submission. Of a job of many tasks those are listed that
did not simply run.

With --audit some ended tasks run again on this machine, and what comes out is held
against what their workers signed. A task gives the same on every machine, so a
result that differs is wrong, or this machine errs. --task says which task. Exit code 4
if a result differs.

With --draw, which results were to be run again is drawn anew, by the key that is published
when all is checked and whose hash has been in the job's record from the beginning.

Unless a job says verify: off, each result is "held" while it is to be checked, "unchecked"
if it is a stranger's that nobody checked, and else "accepted" or "final". Exit code 5 if a
check found a wrong result, and 4 if results came into doubt after the job had ended with
all checked that was to be.`,
		Example: `  godwit job render
  godwit job render --task 7
  godwit job render --audit 20
  godwit job workflow --graph stages.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := plot.CheckName(f.picture); err != nil {
				return err
			}
			if f.graph != "" && !strings.HasSuffix(f.graph, ".svg") {
				return failure.Usage("give it a name such as stages.svg", "the graph of stages is an .svg file, not %q", f.graph)
			}
			f.one = cmd.Flags().Changed("task")
			if cmd.Flags().Changed("audit") {
				return withClient(&c, func(client *api.Client) error { return f.runAudit(cmd, client, args[0], c.json) })
			}
			if f.draw {
				return withClient(&c, func(client *api.Client) error { return f.runDraw(cmd, client, args[0], c.json) })
			}
			return withClient(&c, func(client *api.Client) error { return f.tell(cmd, client, args[0], c.json) })
		},
	}
	c.add(cmd)
	f.add(cmd)
	return cmd
}

// tell draws and prints a job.
func (f *jobFlags) tell(cmd *cobra.Command, client *api.Client, ref string, asJSON bool) error {
	st, err := f.ask(cmd.Context(), client, ref)
	if err != nil {
		return err
	}
	if f.picture != "" {
		attempts, peers, err := timeline.Draw(f.picture, st, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d attempts on %d peers drawn in %s\n", attempts, peers, f.picture)
	}
	if f.graph != "" {
		if err := drawGraph(f.graph, st); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d stages drawn in %s\n", len(st.Stages), f.graph)
	}
	if err := f.print(cmd.OutOrStdout(), st, asJSON); err != nil {
		return err
	}
	f.printEnd(cmd, client, st, asJSON)
	return submission.Recalled(st)
}

func (f *jobFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.all, "tasks", false, "list all tasks of which anything is known, however many")
	cmd.Flags().Uint64Var(&f.index, "task", 0, "tell the story of the task of this `INDEX` only")
	cmd.Flags().StringVar(&f.picture, "plot", "", "draw where tasks ran in this `FILE`, .png or .svg (with -tags plot)")
	cmd.Flags().StringVar(&f.graph, "graph", "", "draw the stages, and what reads what, in this `FILE.svg`")
	cmd.Flags().IntVar(&f.audit, "audit", 0,
		"run `N` of the ended tasks again on this machine, drawn at random, and compare")
	cmd.Flags().BoolVar(&f.draw, "draw", false,
		"of a job with verify that is over, draw again which results were to be run again, and say whether they were")
	for _, other := range []string{"audit", "plot", "graph", "task"} {
		cmd.MarkFlagsMutuallyExclusive("draw", other)
	}
	cmd.MarkFlagsMutuallyExclusive("tasks", "task")
	cmd.MarkFlagsMutuallyExclusive("audit", "tasks")
	cmd.MarkFlagsMutuallyExclusive("audit", "plot")
	cmd.MarkFlagsMutuallyExclusive("audit", "graph")
}

// drawGraph writes the picture of a job's stages.
func drawGraph(path string, st message.JobStatus) error {
	if len(st.Stages) == 0 {
		return failure.Usage("ask the node that submitted it; `godwit job ID --plot` draws where tasks ran",
			"there are no stages to draw of job %s", table.ShortJob(st.ID))
	}
	f, err := os.Create(path)
	if err != nil {
		return failure.Usage("", "drawing the stages: %w", err)
	}
	return errors.Join(timeline.Graph(f, st), f.Close())
}

func (f *jobFlags) print(out io.Writer, st message.JobStatus, json bool) error {
	switch {
	case json:
		return table.JSON(out, timeline.Job{JobStatus: st, Timeline: timeline.Of(st.TasksList)})
	case f.one:
		timeline.PrintStory(out, st)
	default:
		timeline.Print(out, st, f.all)
	}
	return nil
}

// ask brings the job with the tasks that are told of.
func (f *jobFlags) ask(ctx context.Context, client *api.Client, ref string) (message.JobStatus, error) {
	if f.one {
		st, err := client.JobTasks(ctx, ref, f.index, 1)
		if err != nil {
			return st, err
		}
		if f.index >= st.Tasks.Total {
			return st, failure.Usage("`godwit job ID --tasks` lists them", "task %d: the job has %d, from 0 on", f.index,
				st.Tasks.Total)
		}
		if len(st.TasksList) == 0 || st.TasksList[0].Index != f.index {
			return st, &failure.Error{Code: failure.ExitFailed,
				Err:  fmt.Errorf("task %d: nothing is known of it: it waits, or it ended long ago", f.index),
				Hint: fmt.Sprintf("ask `godwit why %s/%d`", ref, f.index)}
		}
		return st, nil
	}
	st, err := client.Job(ctx, ref)
	for page := st.TasksList; err == nil && len(page) == node.MaxTaskList && (f.all || f.picture != ""); {
		var more message.JobStatus
		more, err = client.JobTasks(ctx, ref, page[len(page)-1].Index+1, node.MaxTaskList)
		page = more.TasksList
		st.TasksList = append(st.TasksList, page...)
	}
	return st, err
}

// printEnd tells people how fast a job goes and when it ends, where the node can say.
func (f *jobFlags) printEnd(cmd *cobra.Command, client *api.Client, st message.JobStatus, json bool) {
	if st.State != message.JobRunning || f.one || json {
		return
	}
	e, err := client.End(cmd.Context(), string(st.ID))
	if err != nil || e.Left == 0 {
		return
	}
	out := cmd.OutOrStdout()
	if e.Rate > 0 {
		fmt.Fprintf(out, "rate       %.3g tasks a minute since it was handed in, %d left\n",
			e.Rate*time.Minute.Seconds(), e.Left)
	}
	if e.Reason != "" {
		fmt.Fprintf(out, "ends       not: %s\n", e.Reason)
		return
	}
	if e.Unknown {
		fmt.Fprintln(out, "ends       not known before a task has ended")
		return
	}
	fmt.Fprintf(out, "ends       in %s\n", submission.Between(&e.Forecast))
}
