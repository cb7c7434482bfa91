package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/trace"
)

// of returns the peer that a verb is about: its argument, or the node itself.
func of(args []string) string {
	if len(args) == 0 {
		return "self"
	}
	return args[0]
}

func newHistory() *cobra.Command {
	var c clientFlags
	var since time.Duration
	var export string
	cmd := &cobra.Command{
		Use:   "history [PEER]",
		Short: "Availability record of this node or of a member",
		Example: `  godwit history                          this machine, the last week
  godwit history h7Kp2xQm --export h.csv  a member's whole record, as a trace`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if since <= 0 {
				return failure.Usage("durations are written like 48h", "--since must be above 0")
			}
			client, err := c.dial()
			if err != nil {
				return err
			}
			defer client.Close()
			var from time.Time
			if export == "" || cmd.Flags().Changed("since") {
				from = time.Now().Add(-since)
			}
			h, err := client.History(cmd.Context(), of(args), from)
			if err != nil {
				return err
			}
			switch out := cmd.OutOrStdout(); {
			case export != "":
				return exportHistory(export, h)
			case c.json:
				for i := range h.Len() {
					if s := h.Spell(i); s.End.After(from) {
						if err := table.JSON(out, spellJSON{s.State.String(), s.Start, s.End, s.CPU}); err != nil {
							return err
						}
					}
				}
				return nil
			default:
				printHistory(out, h, from)
				return nil
			}
		},
	}
	c.add(cmd)
	cmd.Flags().DurationVar(&since, "since", 7*24*time.Hour, "how far back; --export takes all of it unless this is given")
	cmd.Flags().StringVar(&export, "export", "",
		"write a trace to this `FILE` (.csv, .avt, .tab), which sim, score and trace read")
	return cmd
}

type spellJSON struct {
	State string    `json:"state"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	CPU   float64   `json:"cpu"`
}

func printHistory(out io.Writer, h *trace.History, from time.Time) {
	rows := [][]string{}
	var up, all time.Duration
	for i := range h.Len() {
		s := h.Spell(i)
		if !s.End.After(from) {
			continue
		}
		if s.Start.Before(from) {
			s.Start = from
		}
		if s.State != trace.Unobserved {
			all += s.Length()
		}
		cpu := "-"
		if s.State == trace.Available {
			up += s.Length()
			cpu = fmt.Sprintf("%.0f%%", 100*s.CPU)
		}
		rows = append(rows, []string{s.Start.Local().Format("Mon 02 Jan 15:04:05"), s.Length().Round(time.Second).String(),
			s.State.String(), cpu})
	}
	fmt.Fprintf(out, "%s\n", h.Host)
	if all > 0 {
		fmt.Fprintf(out, "ran tasks, or could have, %.1f%% of %s\n", 100*up.Seconds()/all.Seconds(), all.Round(time.Second))
	}
	table.Print(out, "FROM FOR STATE CPU", rows)
}

// exportHistory writes a history as a trace of one host, in the format that the
// file's name ends in.
func exportHistory(path string, h *trace.History) error {
	if h.Len() == 0 {
		return failure.Usage("", "nothing is known of %s", h.Host)
	}
	format, err := traces.FormatOf(path)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return traces.Write(path, &trace.Trace{Name: name, Start: h.Since(), End: h.Until(),
		Hosts: []trace.Host{{History: h}}}, format)
}
