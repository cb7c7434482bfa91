package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"godwit/lab/traces"
	"godwit/trace"
)

func newTraceSynth() *cobra.Command {
	var (
		from    traces.Source
		out, to string
	)
	cmd := &cobra.Command{
		Use:   "synth KIND",
		Short: "Make a set of hosts, labelled synthetic",
		Long: "Make a set of hosts, labelled synthetic. A host depends on KIND, the seed and its\nnumber alone. " +
			"Kinds:\n\n" + kindTable() + rhythmHelp,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			from.Kind = args[0]
			t, err := from.Load("")
			if err != nil {
				return err
			}
			format := trace.Format(to)
			switch {
			case out == "" || out == "-":
				if to == "" {
					format = trace.CSV
				}
				return trace.Write(cmd.OutOrStdout(), t, format)
			case to == "":
				if format, err = traces.FormatOf(out); err != nil {
					return err
				}
			}
			if err := traces.Write(out, t, format); err != nil {
				return fmt.Errorf("writing %s: %w", out, err)
			}
			return nil
		},
	}
	addSynth(&from, cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: standard output, as CSV)")
	cmd.Flags().StringVar(&to, "to", "", fmt.Sprintf("format to write, if the file's name does not tell: %v",
		trace.Formats()))
	return cmd
}

// rhythmHelp says what a kind takes behind a colon.
const rhythmHelp = `
With KIND:rhythm=day the share of hosts that are available goes up and down once each
day, or each day's window: by swing= to either side of its mean (0 to 0.5), most of them
at peak= hours after midnight, UTC. Left out, these are what is published of ucb, sdsc,
lri and deug; of the other sets name a swing. How long hosts stay and are away keeps its
law, so hosts that stay for days can have little of a rhythm. office has its own.
`

func kindTable() string {
	var b strings.Builder
	for _, k := range trace.SynthKinds() {
		fmt.Fprintf(&b, "  %-22s %s\n", k[0], k[1])
	}
	return b.String()
}
