package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"godwit/api"
	"godwit/node"
	"godwit/scheduler/message"
)

// jobFlags say what is told of a job.
type jobFlags struct {
	all     bool
	index   uint64
	one     bool // only the task of that index
	picture string
}

func newJob() *cobra.Command {
	var c clientFlags
	var f jobFlags
	cmd := &cobra.Command{
		Use:   "job ID",
		Short: "A job's tasks: where each ran, froze and moved, and what came of it",
		Long: `A job's tasks: where each ran, from when to when, why it moved, and what came of it.
Times are since the job's submission. Of a job of many tasks those are listed that
did not simply run.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := plotEnding(f.picture); err != nil {
				return err
			}
			f.one = cmd.Flags().Changed("task")
			return withClient(&c, func(client *api.Client) error {
				st, err := f.ask(cmd.Context(), client, args[0])
				if err != nil {
					return err
				}
				if f.picture != "" {
					g := layOut(timelineOf(st.TasksList), st.Submitted, time.Now())
					if err := saveGantt(f.picture, st.Name, &g); err != nil {
						return err
					}
					fmt.Fprintf(cmd.ErrOrStderr(), "%d attempts on %d peers drawn in %s\n", len(g.bars), len(g.rows), f.picture)
				}
				if c.json {
					return printJSON(cmd.OutOrStdout(), jobWithTimeline{st, timelineOf(st.TasksList)})
				}
				f.print(cmd.OutOrStdout(), st)
				return nil
			})
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&f.all, "tasks", false, "list all tasks of which anything is known, however many")
	cmd.Flags().Uint64Var(&f.index, "task", 0, "tell the story of the task of this index only")
	cmd.Flags().StringVar(&f.picture, "plot", "", "draw where tasks ran in this file, .png or .svg")
	cmd.MarkFlagsMutuallyExclusive("tasks", "task")
	return cmd
}

// jobWithTimeline is what --json prints.
type jobWithTimeline struct {
	message.JobStatus
	Timeline []stint `json:"timeline"`
}

// ask brings the job with the tasks that are told of.
func (f *jobFlags) ask(ctx context.Context, client *api.Client, ref string) (message.JobStatus, error) {
	if f.one {
		st, err := client.JobTasks(ctx, ref, f.index, 1)
		if err != nil {
			return st, err
		}
		if f.index >= st.Tasks.Total {
			return st, usage("`godwit job ID --tasks` lists them", "task %d: the job has %d, from 0 on", f.index, st.Tasks.Total)
		}
		if len(st.TasksList) == 0 || st.TasksList[0].Index != f.index {
			return st, &failure{code: exitFailed, err: fmt.Errorf("task %d: nothing is known of it: it waits, or it ended long ago", f.index),
				hint: fmt.Sprintf("ask `godwit why %s/%d`", ref, f.index)}
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

func (f *jobFlags) print(out io.Writer, st message.JobStatus) {
	if f.one {
		printStory(out, st)
		return
	}
	printJobHead(out, st)
	shown, left := st.TasksList, ""
	if !f.all {
		shown, left = worthTelling(shown)
	}
	printTable(out, "TASK PARAMS STATE WHEN RAN-ON WHAT-HAPPENED", taskRows(st, shown))
	if left != "" {
		fmt.Fprintln(out, left)
	}
}

func printJobHead(out io.Writer, st message.JobStatus) {
	fmt.Fprintf(out, "job        %s\n", st.ID)
	fmt.Fprintf(out, "name       %s, submitted %s ago to %s\n", st.Name, ago(st.Submitted), st.Overlay)
	fmt.Fprintf(out, "state      %s: %d tasks, %d done, %d running, %d waiting, %d failed\n",
		st.State, st.Tasks.Total, st.Tasks.Done, st.Tasks.Running, st.Tasks.Waiting, st.Tasks.Failed)
	fmt.Fprintf(out, "cpu        %s useful, %s wasted\n", seconds(st.UsefulCPU), seconds(st.WastedCPU))
	if st.Migrations > 0 {
		fmt.Fprintf(out, "moved      %d times\n", st.Migrations)
	}
	if n, mean, most := standstills(timelineOf(st.TasksList)); n > 0 {
		fmt.Fprintf(out, "stood      still for %s in the mean of %d moves, at most %s\n", seconds(mean), n, seconds(most))
	}
	fmt.Fprintln(out)
}

// standstills counts the moves of which it is known how long the task stood still,
// with the mean and the most, in seconds.
func standstills(stints []stint) (n int, mean, most float64) {
	for _, s := range stints {
		if s.StillS > 0 {
			n++
			mean += (s.StillS - mean) / float64(n)
			most = max(most, s.StillS)
		}
	}
	return n, mean, most
}

// printStory tells of one task what happened to it, line by line.
func printStory(out io.Writer, st message.JobStatus) {
	t := st.TasksList[0]
	fmt.Fprintf(out, "task       %d of %s", t.Index, st.Name)
	if params := paramsOf(t); params != "" {
		fmt.Fprintf(out, " (%s)", params)
	}
	fmt.Fprintf(out, ", %s\n", t.State)
	for _, h := range happenings(timelineOf(st.TasksList)) {
		fmt.Fprintf(out, "%10s %s\n", since(st.Submitted, h.at), h.what)
	}
}

func paramsOf(t message.TaskStatus) string {
	params := make([]string, 0, len(t.Params))
	for _, name := range slices.Sorted(maps.Keys(t.Params)) {
		params = append(params, name+"="+t.Params[name])
	}
	return strings.Join(params, " ")
}

// taskRows has one row for each attempt of each task.
func taskRows(st message.JobStatus, tasks []message.TaskStatus) [][]string {
	var rows [][]string
	for _, t := range tasks {
		head := []string{strconv.FormatUint(t.Index, 10), paramsOf(t), t.State}
		if len(t.Attempts) == 0 {
			rows = append(rows, append(head, "-", "-", "-"))
		}
		for _, s := range timelineOf([]message.TaskStatus{t}) {
			when := since(st.Submitted, s.Start) + " to "
			if s.End.IsZero() {
				when += "now"
			} else {
				when += since(st.Submitted, s.End)
			}
			rows = append(rows, append(head, when, shortPeer(s.Peer), s.tell()))
			head = []string{"", "", ""}
		}
	}
	return rows
}

// tell says what happened in a stint, in a line.
func (s *stint) tell() string {
	what := s.Outcome
	if s.End.IsZero() {
		what += " for " + ago(s.Start)
	} else {
		what += " after " + rough(s.End.Sub(s.Start))
	}
	if s.Resumed {
		what = fmt.Sprintf("went on from a checkpoint (%s saved), %s", seconds(s.SavedS), what)
	}
	if s.MovedTo != "" {
		what += " to " + shortPeer(s.MovedTo)
	}
	if s.StillS > 0 {
		what += " (stood still for " + seconds(s.StillS) + ")"
	}
	return what + because(s.Reason)
}
