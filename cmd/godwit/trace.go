package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

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
			return usage("say one of info, convert, synth", "what to do with a trace?")
		},
	}
	for _, c := range []*cobra.Command{newTraceInfo(), newTraceConvert(), newTraceSynth()} {
		c.Args = explained(c.Args)
		cmd.AddCommand(c)
	}
	return cmd
}

// infoReport is the JSON of `godwit trace info`.
type infoReport struct {
	*trace.Stats
	Acceptance []trace.Check `json:"acceptance,omitempty"`
}

func newTraceInfo() *cobra.Command {
	var (
		from   traceFlags
		asJSON bool
		plot   string
	)
	cmd := &cobra.Command{
		Use:   "info [FILE | DIR]",
		Short: "Statistics of a trace or of a workload (.swf)",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := plotEnding(plot); err != nil {
				return err
			}
			path := strings.Join(args, "")
			if from.synth == "" && isWorkload(path) {
				return workloadInfo(cmd.OutOrStdout(), path, plot, asJSON)
			}
			t, err := from.load(path)
			if err != nil {
				return err
			}
			s, err := trace.Describe(t)
			if err != nil {
				return usage("", "%s: %w", path, err)
			}
			if plot != "" {
				if err := savePlot(plot, statsCharts(s)...); err != nil {
					return err
				}
			}
			r := infoReport{s, trace.Acceptance(s)}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			r.print(cmd.OutOrStdout())
			return nil
		},
	}
	from.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&plot, "plot", "", "draw the statistics to this file, .png or .svg")
	return cmd
}

func newTraceConvert() *cobra.Command {
	var (
		from traceFlags
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
				if format, err = formatOf(args[1]); err != nil {
					return err
				}
			}
			t, err := from.load(args[0])
			if err != nil {
				return err
			}
			if err := writeTrace(args[1], t, format); err != nil {
				return fmt.Errorf("writing %s: %w", args[1], err)
			}
			return nil
		},
	}
	from.addFile(cmd)
	cmd.Flags().StringVar(&to, "to", "", fmt.Sprintf("format to write, if OUT's name does not tell: %v", trace.Formats()))
	return cmd
}

func newTraceSynth() *cobra.Command {
	var (
		from    traceFlags
		out, to string
	)
	cmd := &cobra.Command{
		Use:   "synth KIND",
		Short: "Make a set of hosts, labelled synthetic",
		Long:  "Make a set of hosts, labelled synthetic. A host depends on KIND, the seed and its\nnumber alone. Kinds:\n\n" + kindTable(),
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			from.synth = args[0]
			t, err := from.load("")
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
				if format, err = formatOf(out); err != nil {
					return err
				}
			}
			if err := writeTrace(out, t, format); err != nil {
				return fmt.Errorf("writing %s: %w", out, err)
			}
			return nil
		},
	}
	from.addSynth(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write (default: standard output, as CSV)")
	cmd.Flags().StringVar(&to, "to", "", fmt.Sprintf("format to write, if the file's name does not tell: %v", trace.Formats()))
	return cmd
}

func kindTable() string {
	var b strings.Builder
	for _, k := range trace.SynthKinds() {
		fmt.Fprintf(&b, "  %-22s %s\n", k[0], k[1])
	}
	return b.String()
}

func isWorkload(path string) bool {
	return filepath.Ext(strings.TrimSuffix(path, ".gz")) == ".swf"
}

func workloadInfo(out io.Writer, path, plot string, asJSON bool) error {
	var l *trace.Workload
	err := withFile(path, func(r io.Reader) (err error) {
		l, err = trace.ReadSWF(path, r)
		return err
	})
	if err != nil {
		return usage("", "reading the workload: %w", err)
	}
	s := trace.DescribeWorkload(l)
	if plot != "" {
		if err := savePlot(plot, workloadCharts(l)...); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(out, s)
	}
	fmt.Fprintf(out, "name          %s\n", s.Name)
	if s.Synthetic != "" {
		fmt.Fprintf(out, "synthetic     %s\n", s.Synthetic)
	}
	fmt.Fprintf(out, "jobs          %d by %d users in %.1f days, one every %s\n", s.Jobs, s.Users, s.SpanS/86400, seconds(s.InterArrival))
	fmt.Fprintf(out, "run time      mean %s, median %s, 90%% within %s, longest %s; %d did not run\n",
		seconds(s.RunMean), seconds(s.RunMedian), seconds(s.RunP90), seconds(s.RunMax), s.NotRun)
	fmt.Fprintf(out, "processors    mean %.1f, at most %d; %.0f%% of the jobs take one\n", s.ProcsMean, s.ProcsMax, 100*s.Serial)
	return nil
}
