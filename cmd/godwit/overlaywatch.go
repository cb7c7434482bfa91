package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/lab/progress"
	"godwit/lab/table"
	"godwit/lab/view"
	"godwit/scheduler"
)

func newOverlayWatch() *cobra.Command {
	c := clientFlags{raw: true}
	var once bool
	cmd := &cobra.Command{
		Use:   "watch NAME|ID",
		Short: "How an overlay's leader schedules: what waits, who runs what, rates, allocation",
		Long: `How an overlay's leader schedules: the policies it follows, what waits by class, each
member with what it runs and at which rates, and how a policy that divides members
among classes divides them. On a terminal it is shown anew each second, until
Ctrl-C; elsewhere once, or with --json a line each second.`,
		Example: `  godwit overlay watch lab
  godwit overlay watch lab --once --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withClient(&c, func(client *api.Client) error {
				out := cmd.OutOrStdout()
				terminal := progress.IsTerminal(out)
				once := once || !terminal && !c.json
				return watchScheduling(cmd.Context(), client, args[0], once, func(s *scheduler.Scheduling) error {
					if c.json {
						return table.JSON(out, s)
					}
					var b strings.Builder
					if terminal && !once {
						b.WriteString(view.ClearScreen)
					}
					view.Scheduling(table.Printable(&b), s)
					_, err := io.WriteString(out, b.String())
					return err
				})
			})
		},
	}
	c.add(cmd)
	cmd.Flags().BoolVar(&once, "once", false, "show it once")
	return cmd
}

// watchScheduling shows an overlay's scheduling each second until ctx ends, or once.
// While nobody leads it waits.
func watchScheduling(ctx context.Context, client *api.Client, ref string, once bool,
	show func(*scheduler.Scheduling) error) error {
	tick := time.NewTicker(view.Every)
	defer tick.Stop()
	for {
		s, err := client.Scheduling(ctx, ref)
		var answered *api.Error
		switch {
		case ctx.Err() != nil:
			return nil // the watcher has seen enough
		case err == nil:
			if err := show(&s); err != nil {
				return err
			}
		case once || !errors.As(err, &answered) || answered.Kind != api.KindUnreachable:
			return err
		}
		if once {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}
