package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/table"
)

func newForecast() *cobra.Command {
	var c clientFlags
	var d time.Duration
	cmd := &cobra.Command{
		Use:   "forecast [PEER]",
		Short: "How likely this node or a member is to stay, and what that rests on",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if d <= 0 {
				return failure.Usage("durations are written like 90m or 24h", "--for must be above 0")
			}
			client, err := c.dial()
			if err != nil {
				return err
			}
			defer client.Close()
			f, err := client.Forecast(cmd.Context(), of(args), d)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if c.json {
				return table.JSON(out, f)
			}
			fmt.Fprintf(out, "%s stays for %v with probability %.2f\n", table.ShortPeer(f.Peer), d, f.Stay)
			if !f.Known && f.Stay > 0 {
				fmt.Fprintln(out, "too little is known of this host: it is what holds for hosts at large")
			}
			for _, r := range f.Rests {
				fmt.Fprintln(out, "  "+r)
			}
			return nil
		},
	}
	c.add(cmd)
	cmd.Flags().DurationVar(&d, "for", time.Hour, "how long the node or member is to stay")
	return cmd
}
