package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"godwit/api"
	"godwit/internal/failure"
	"godwit/lab/table"
)

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
				if w.More > 0 {
					fmt.Fprintf(cmd.OutOrStdout(), "%d more reasons are not shown\n", w.More)
				}
				if index == nil && w.Asked < w.Total {
					fmt.Fprintf(cmd.OutOrStdout(), "these are of the first %d of %d tasks that ran here or wait; "+
						"ID/TASK asks of any other\n", w.Asked, w.Total)
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
		return "", nil, failure.Usage("write it as ID/INDEX, for example bafy.../17",
			"reading the task's index %q: not a whole number", text)
	}
	return ref, &i, nil
}
