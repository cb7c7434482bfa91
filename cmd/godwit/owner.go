package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/node"
)

// stateLine says what the node does and why, in one line.
func stateLine(s node.Status) string {
	line := fmt.Sprintf("state    %s for %s: %s", s.State, table.Ago(s.Since), s.Reason)
	var rests []string
	if s.Rule != "" {
		rests = append(rests, "rule "+s.Rule)
	}
	if s.Sensor != "" {
		rests = append(rests, "sensor "+s.Sensor)
	}
	if len(rests) > 0 {
		line += " (" + strings.Join(rests, ", ") + ")"
	}
	return line
}

func newPause() *cobra.Command {
	var c clientFlags
	var d time.Duration
	cmd := &cobra.Command{
		Use:   "pause",
		Short: "Stop all tasks at once, until `godwit resume`",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("for") && d <= 0 {
				return failure.Usage("durations are written like 30m or 2h", "--for must be above 0")
			}
			return c.tell(cmd, func(ctx context.Context, client *api.Client) (node.Status,
				error) {
				return client.Pause(ctx, d)
			})
		},
	}
	c.add(cmd)
	cmd.Flags().DurationVar(&d, "for", 0, "resume by itself after this long, like 2h")
	return cmd
}

func newResume() *cobra.Command {
	var c clientFlags
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Take back a pause and a drain; the other rules still hold",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.tell(cmd, func(ctx context.Context, client *api.Client) (node.Status, error) { return client.Resume(ctx) })
		},
	}
	c.add(cmd)
	return cmd
}

// tell asks the node for something and prints its new state.
func (c *clientFlags) tell(cmd *cobra.Command, ask func(context.Context, *api.Client) (node.Status, error)) error {
	client, err := c.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	s, err := ask(cmd.Context(), client)
	if err != nil {
		return err
	}
	if c.json {
		return table.JSON(cmd.OutOrStdout(), s)
	}
	fmt.Fprintln(cmd.OutOrStdout(), stateLine(s))
	return nil
}
