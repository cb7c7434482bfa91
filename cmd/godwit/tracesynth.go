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
			"Kinds:\n\n" + kindTable(),
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

func kindTable() string {
	var b strings.Builder
	for _, k := range trace.SynthKinds() {
		fmt.Fprintf(&b, "  %-22s %s\n", k[0], k[1])
	}
	return b.String()
}
