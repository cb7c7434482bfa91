package traces

import (
	"fmt"
	"io"
	"time"

	"godwit/lab/table"
	"godwit/trace"
)

// Print writes the statistics for a person, in the order of Zhang 2010, chapter
// 6.
func (r Report) Print(out io.Writer) {
	line := func(key, format string, args ...any) {
		fmt.Fprintf(out, "%-18s %s\n", key, fmt.Sprintf(format, args...))
	}
	line("name", "%s", r.Name)
	if r.Synthetic != "" {
		line("synthetic", "%s", r.Synthetic)
	}
	line("hosts", "%d", r.Hosts)
	line("time", "%s to %s, %d days, watched %s of each", r.Start.Format(time.RFC3339), r.End.Format(time.RFC3339),
		r.Days, r.Window)
	if r.SampleS > 0 {
		line("sampled", "every %s; shorter changes are mostly missing", table.Seconds(r.SampleS))
	}
	states := ""
	for _, s := range r.States {
		if s.Share > 0 {
			states += fmt.Sprintf("%s %.3f  ", s.State, s.Share)
		}
	}
	line("states", "%s(shares of the time observed, %d spells)", states, r.Spells)
	line("host available", "mean %.3f, quartiles %.3f %.3f %.3f", r.Share.Mean, r.Share.Q1, r.Share.Q2, r.Share.Q3)
	line("available at once", "%d to %d; by time of day %.1f to %.1f, variance %.3f", r.AtOnce.Min, r.AtOnce.Max,
		r.AtOnce.MeanMin, r.AtOnce.MeanMax, r.AtOnce.Variance)
	lengths := func(key string, l trace.Lengths) {
		line(key, "mean %.3f h, median %.3f h, 90%% within %.3f h (%d whole ones, %d cut off)", l.Mean, l.Median, l.P90,
			l.Count, l.Cut)
	}
	lengths("up intervals", r.Up)
	lengths("down intervals", r.Down)
	line("events", "%d in %d host-days, %.3f each", r.Events, r.HostDays, r.PerHostDay)
	types := func(key string, t trace.Types) {
		up, down, mixed := t.Shares()
		line(key, "up throughout %.3f, down %.3f, mixed %.3f (%d)", up, down, mixed, t.Total())
	}
	types("days", r.DayTypes)
	types("hours", r.HourTypes)
	pmcc := func(key string, c trace.Correlation) {
		line(key, "mean %.3f, %.3f to %.3f; below 0.3 %.1f%%, below 0.7 %.1f%%, above %.1f%% (%d pairs of %d)",
			c.Mean, c.Min, c.Max, 100*c.Low, 100*c.Medium, 100*c.High, c.Pairs, c.Series)
	}
	pmcc("PMCC of days", r.Daily)
	pmcc("PMCC of hours", r.Hourly)
	if len(r.ByInterval) > 0 {
		fmt.Fprintln(out)
		r.printApart(out)
	}
	if r.Acceptance != nil {
		fmt.Fprintln(out)
		r.printAcceptance(out)
	}
}

// printApart prints what depends on the days between two series.
func (r Report) printApart(out io.Writer) {
	var rows [][]string
	again := func(s trace.Recurrence) string {
		if s.Of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3f", s.Probability())
	}
	for i, p := range r.ByInterval {
		mean := "-"
		if p.Pairs > 0 {
			mean = fmt.Sprintf("%.3f", p.Mean)
		}
		rows = append(rows, []string{fmt.Sprint(p.Days), mean, again(r.UpDays[i]), again(r.DownDays[i]), again(r.UpHours[i]),
			again(r.DownHours[i])})
	}
	table.Print(out, "days-apart PMCC up-day-again down-day-again up-hour-again down-hour-again", rows)
}

func (r Report) printAcceptance(out io.Writer) {
	var rows [][]string
	for _, c := range r.Acceptance {
		verdict := "within"
		if !c.Pass {
			verdict = "outside"
		}
		rows = append(rows, []string{c.Figure, fmt.Sprintf("%.3f", c.Published), fmt.Sprintf("%.3f", c.Obtained),
			fmt.Sprintf("%.3f to %.3f", c.Least, c.Most), verdict})
	}
	table.Print(out, "figure published here accepted verdict", rows)
}

// A Report is the JSON of `godwit trace info`.
type Report struct {
	*trace.Stats
	Acceptance []trace.Check `json:"acceptance,omitempty"`
}

// PrintWorkload writes the statistics of a workload for a person.
func PrintWorkload(out io.Writer, s *trace.WorkloadStats) {
	fmt.Fprintf(out, "name          %s\n", s.Name)
	if s.Synthetic != "" {
		fmt.Fprintf(out, "synthetic     %s\n", s.Synthetic)
	}
	fmt.Fprintf(out, "jobs          %d by %d users in %.1f days, one every %s\n", s.Jobs, s.Users, s.SpanS/86400,
		table.Seconds(s.InterArrival))
	fmt.Fprintf(out, "run time      mean %s, median %s, 90%% within %s, longest %s; %d did not run\n",
		table.Seconds(s.RunMean), table.Seconds(s.RunMedian), table.Seconds(s.RunP90), table.Seconds(s.RunMax), s.NotRun)
	fmt.Fprintf(out, "processors    mean %.1f, at most %d; %.0f%% of the jobs take one\n", s.ProcsMean, s.ProcsMax,
		100*s.Serial)
}
