package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/lab/table"
	"godwit/node"
	"godwit/task"
)

// drainLook is how often `drain --wait` looks what is left.
const drainLook = 200 * time.Millisecond

func newDrain() *cobra.Command {
	var c clientFlags
	var wait bool
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Take nothing new and move what runs to other members, until `godwit resume`",
		Long: `Take nothing new and move what runs to other members, until ` + "`godwit resume`" + `.
Tasks run on while their memory travels. What no member takes is saved, to go on when
one does. If this node leads an overlay, another takes over. The verb prints what is
still here.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := c.dial()
			if err != nil {
				return err
			}
			defer client.Close()
			s, err := client.Drain(cmd.Context())
			if err == nil && wait {
				s, err = awaitEmpty(cmd.Context(), client, cmd.ErrOrStderr(), s)
			}
			if err != nil {
				return err
			}
			if c.json {
				return table.JSON(cmd.OutOrStdout(), s)
			}
			fmt.Fprintln(cmd.OutOrStdout(), stateLine(s))
			printLeft(cmd.OutOrStdout(), s.Running)
			return nil
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&wait, "wait", false, "return when nothing is left here")
	return cmd
}

// awaitEmpty looks until no task is left, and tells what goes where.
func awaitEmpty(ctx context.Context, client *api.Client, notes io.Writer, s node.Status) (node.Status, error) {
	told := map[string]string{}
	look := time.NewTicker(drainLook)
	defer look.Stop()
	for {
		here := map[string]bool{}
		for _, t := range s.Running {
			here[t.Task] = true
			if said := t.State + string(t.Peer) + t.Note; told[t.Task] != said {
				told[t.Task] = said
				fmt.Fprintln(notes, moveLine(&t))
			}
		}
		for id := range told {
			if !here[id] {
				delete(told, id)
				fmt.Fprintf(notes, "%s is gone\n", id)
			}
		}
		switch {
		case len(s.Running) == 0:
			return s, nil
		case !s.Drained:
			return s, fmt.Errorf("somebody has resumed the node")
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-look.C:
		}
		var err error
		if s, err = client.Status(ctx); err != nil {
			return s, err
		}
	}
}

// printLeft says what is still here.
func printLeft(out io.Writer, tasks []node.LocalTask) {
	if len(tasks) == 0 {
		fmt.Fprintln(out, "left     nothing")
	}
	for i := range tasks {
		fmt.Fprintf(out, "left     %s\n", moveLine(&tasks[i]))
	}
}

// printMoves lists the tasks that do anything but run.
func printMoves(out io.Writer, tasks []node.LocalTask) {
	for i := range tasks {
		if t := &tasks[i]; t.State != node.TaskRuns && t.State != node.TaskStands || t.Note != "" {
			fmt.Fprintf(out, "task     %s\n", moveLine(t))
		}
	}
}

// moveLine says in one line where a task is on its way.
func moveLine(t *node.LocalTask) string {
	line := fmt.Sprintf("%s %s", t.Task, t.State)
	if t.Peer != "" {
		line += " for " + table.ShortPeer(t.Peer)
	}
	line += ", " + table.Ago(t.Since)
	if t.Rounds > 0 {
		line += fmt.Sprintf(", %s sent in %d rounds", task.FormatSize(t.Bytes), t.Rounds)
	}
	if t.Note != "" {
		line += ": it was to go, and stays: " + t.Note
	}
	return line
}
