package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"godwit/internal/failure"
	"godwit/lab/files"
	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/lab/traces"
	"godwit/trace"
)

func newTrace() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Availability records and workloads: describe them, convert them, make some",
		Example: `  godwit trace info event_trace.tab --plot statistics.png
  godwit trace convert sessions.csv.gz relays.avt
  godwit trace synth office --hosts 50 --days 28 -o office.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return failure.Usage("say one of info, convert, synth", "what to do with a trace?")
		},
	}
	for _, c := range []*cobra.Command{newTraceInfo(), newTraceConvert(), newTraceSynth()} {
		c.Args = explained(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

func newTraceInfo() *cobra.Command {
	var (
		from    traces.Source
		asJSON  bool
		picture string
	)
	cmd := &cobra.Command{
		Use:   "info [FILE | DIR]",
		Short: "Statistics of a trace or of a workload (.swf)",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := plot.CheckName(picture); err != nil {
				return err
			}
			path := strings.Join(args, "")
			if from.Kind == "" && isWorkload(path) {
				return workloadInfo(cmd.OutOrStdout(), path, picture, asJSON)
			}
			t, err := from.Load(path)
			if err != nil {
				return err
			}
			s, err := trace.Describe(t)
			if err != nil {
				return failure.Usage("", "%s: %w", path, err)
			}
			if picture != "" {
				if err := plot.Save(picture, traces.Charts(s)...); err != nil {
					return err
				}
			}
			r := traces.Report{Stats: s, Acceptance: trace.Acceptance(s)}
			if asJSON {
				return table.JSON(cmd.OutOrStdout(), r)
			}
			r.Print(cmd.OutOrStdout())
			return nil
		},
	}
	addTrace(&from, cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&picture, "plot", "", "draw the statistics to this file, .png or .svg (with -tags plot)")
	return cmd
}

func newTraceConvert() *cobra.Command {
	var (
		from traces.Source
		to   string
	)
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Write a trace in another format; .gz is compressed",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			format := trace.Format(to)
			if to == "" {
				var err error
				if format, err = traces.FormatOf(args[1]); err != nil {
					return err
				}
			}
			t, err := from.Load(args[0])
			if err != nil {
				return err
			}
			if err := traces.Write(args[1], t, format); err != nil {
				return fmt.Errorf("writing %s: %w", args[1], err)
			}
			return nil
		},
	}
	addTraceFile(&from, cmd)
	cmd.Flags().StringVar(&to, "to", "", fmt.Sprintf("format to write, if OUT's name does not tell: %v", trace.Formats()))
	return cmd
}

func isWorkload(path string) bool {
	return filepath.Ext(strings.TrimSuffix(path, ".gz")) == ".swf"
}

func workloadInfo(out io.Writer, path, picture string, asJSON bool) error {
	var l *trace.Workload
	err := files.Read(path, func(r io.Reader) (err error) {
		l, err = trace.ReadSWF(path, r)
		return err
	})
	if err != nil {
		return failure.Usage("", "reading the workload: %w", err)
	}
	s := trace.DescribeWorkload(l)
	if picture != "" {
		if err := plot.Save(picture, traces.WorkloadCharts(l)...); err != nil {
			return err
		}
	}
	if asJSON {
		return table.JSON(out, s)
	}
	traces.PrintWorkload(out, s)
	return nil
}
