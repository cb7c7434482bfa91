package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"godwit/trace"
)

// print writes the statistics for a person, in the order of Zhang 2010, chapter
// 6.
func (r infoReport) print(out io.Writer) {
	line := func(key, format string, args ...any) {
		fmt.Fprintf(out, "%-18s %s\n", key, fmt.Sprintf(format, args...))
	}
	line("name", "%s", r.Name)
	if r.Synthetic != "" {
		line("synthetic", "%s", r.Synthetic)
	}
	line("hosts", "%d", r.Hosts)
	line("time", "%s to %s, %d days, watched %s of each", r.Start.Format(time.RFC3339), r.End.Format(time.RFC3339), r.Days, r.Window)
	if r.SampleS > 0 {
		line("sampled", "every %s; shorter changes are mostly missing", seconds(r.SampleS))
	}
	states := ""
	for _, s := range r.States {
		if s.Share > 0 {
			states += fmt.Sprintf("%s %.3f  ", s.State, s.Share)
		}
	}
	line("states", "%s(shares of the time observed, %d spells)", states, r.Spells)
	line("host available", "mean %.3f, quartiles %.3f %.3f %.3f", r.Share.Mean, r.Share.Q1, r.Share.Q2, r.Share.Q3)
	line("available at once", "%d to %d; by time of day %.1f to %.1f, variance %.3f", r.AtOnce.Min, r.AtOnce.Max, r.AtOnce.MeanMin, r.AtOnce.MeanMax, r.AtOnce.Variance)
	lengths := func(key string, l trace.Lengths) {
		line(key, "mean %.3f h, median %.3f h, 90%% within %.3f h (%d whole ones, %d cut off)", l.Mean, l.Median, l.P90, l.Count, l.Cut)
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
func (r infoReport) printApart(out io.Writer) {
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
		rows = append(rows, []string{fmt.Sprint(p.Days), mean, again(r.UpDays[i]), again(r.DownDays[i]), again(r.UpHours[i]), again(r.DownHours[i])})
	}
	printTable(out, "days-apart PMCC up-day-again down-day-again up-hour-again down-hour-again", rows)
}

func (r infoReport) printAcceptance(out io.Writer) {
	var rows [][]string
	for _, c := range r.Acceptance {
		verdict := "within"
		if !c.Pass {
			verdict = "outside"
		}
		rows = append(rows, []string{c.Figure, fmt.Sprintf("%.3f", c.Published), fmt.Sprintf("%.3f", c.Obtained), fmt.Sprintf("%.3f to %.3f", c.Least, c.Most), verdict})
	}
	printTable(out, "figure published here accepted verdict", rows)
}

// fewest is how many series a probability takes to be drawn: of fewer it jumps
// from 0 to 1.
const fewest = 10

// statsCharts draws what print prints.
func statsCharts(s *trace.Stats) []chart {
	label := s.Name
	if s.Synthetic != "" {
		label += " (synthetic)"
	}
	minutes := make([]float64, len(s.AtOnce.ByTime))
	opens := s.WindowFrom.Hours()
	for i := range minutes {
		minutes[i] = opens + float64(i)/60
	}
	days, means := []float64{}, []float64{}
	for _, p := range s.ByInterval {
		m := math.NaN()
		if p.Pairs > 0 {
			m = p.Mean
		}
		days, means = append(days, float64(p.Days)), append(means, m)
	}
	again := func(name string, rs []trace.Recurrence) curve {
		c := curve{name: name, x: days}
		for _, r := range rs {
			p := math.NaN()
			if r.Of >= fewest {
				p = r.Probability()
			}
			c.y = append(c.y, p)
		}
		return c
	}
	return []chart{
		{title: label + ": available at once", x: "hour of the day, UTC", y: "hosts, mean of the days", fromZero: true, curves: []curve{{as: asSteps, x: minutes, y: s.AtOnce.ByTime}}},
		{title: "Intervals longer than", x: "hours", y: "share", logX: true, curves: []curve{longer("available", s.Up.Hours), longer("unavailable", s.Down.Hours)}},
		{title: "PMCC of one host's mixed series", x: "PMCC", y: "share of pairs", curves: []curve{histogram("days", s.Daily), histogram("hours", s.Hourly)}},
		{title: "PMCC of days by distance", x: "days apart", y: "mean PMCC", curves: []curve{{as: asBars, x: days, y: means}}},
		{title: "The same again", x: "days later", y: "probability", curves: []curve{again("up days", s.UpDays), again("down days", s.DownDays), again("up hours", s.UpHours), again("down hours", s.DownHours)}},
	}
}

// longer is the share of intervals that are longer, at a few hundred lengths.
func longer(name string, sorted []float64) curve {
	const most = 500
	c := curve{name: name, as: asSteps}
	step := max(1, len(sorted)/most)
	for i := 0; i < len(sorted); i += step {
		c.x, c.y = append(c.x, sorted[i]), append(c.y, 1-float64(i)/float64(len(sorted)))
	}
	return c
}

func histogram(name string, p trace.Correlation) curve {
	c := curve{name: name, as: asBars}
	width := 2 / float64(len(p.Histogram))
	for i, n := range p.Histogram {
		c.x = append(c.x, -1+width*(float64(i)+0.5))
		c.y = append(c.y, float64(n)/math.Max(1, float64(p.Pairs)))
	}
	return c
}

// workloadCharts draws a workload: how long its jobs ran, and when they came.
func workloadCharts(l *trace.Workload) []chart {
	var runs []float64
	var hours [24]float64
	for _, j := range l.Jobs {
		if j.RunTime > 0 {
			runs = append(runs, j.RunTime)
		}
		hours[int(math.Mod(j.Submit, 86400)/3600)]++
	}
	slices.Sort(runs)
	label := l.Name
	if l.Synthetic != "" {
		label += " (synthetic)"
	}
	arrivals := curve{as: asBars}
	for h, n := range hours {
		arrivals.x, arrivals.y = append(arrivals.x, float64(h)+0.5), append(arrivals.y, n)
	}
	return []chart{
		{title: label + ": run times longer than", x: "seconds", y: "share of the jobs", logX: true, curves: []curve{longer("", runs)}},
		{title: "Submissions", x: "hours after the log's start, modulo 24", y: "jobs", curves: []curve{arrivals}},
	}
}
