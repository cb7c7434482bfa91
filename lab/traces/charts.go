package traces

import (
	"math"
	"slices"

	"godwit/lab/plot"
	"godwit/trace"
)

// fewest is how many series a probability takes to be drawn: of fewer it jumps
// from 0 to 1.
const fewest = 10

// Charts draws what print prints.
func Charts(s *trace.Stats) []plot.Chart {
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
	again := func(name string, rs []trace.Recurrence) plot.Curve {
		c := plot.Curve{Name: name, X: days}
		for _, r := range rs {
			p := math.NaN()
			if r.Of >= fewest {
				p = r.Probability()
			}
			c.Y = append(c.Y, p)
		}
		return c
	}
	return []plot.Chart{
		{Title: label + ": available at once", X: "hour of the day, UTC", Y: "hosts, mean of the days", FromZero: true,
			Curves: []plot.Curve{{As: plot.Steps, X: minutes, Y: s.AtOnce.ByTime}}},
		{Title: "Intervals longer than", X: "hours", Y: "share", LogX: true,
			Curves: []plot.Curve{longer("available", s.Up.Hours), longer("unavailable", s.Down.Hours)}},
		{Title: "PMCC of one host's mixed series", X: "PMCC", Y: "share of pairs",
			Curves: []plot.Curve{histogram("days", s.Daily), histogram("hours", s.Hourly)}},
		{Title: "PMCC of days by distance", X: "days apart", Y: "mean PMCC",
			Curves: []plot.Curve{{As: plot.Bars, X: days, Y: means}}},
		{Title: "The same again", X: "days later", Y: "probability",
			Curves: []plot.Curve{again("up days", s.UpDays), again("down days", s.DownDays), again("up hours", s.UpHours),
				again("down hours", s.DownHours)}},
	}
}

// longer is the share of intervals that are longer, at a few hundred lengths.
func longer(name string, sorted []float64) plot.Curve {
	const most = 500
	c := plot.Curve{Name: name, As: plot.Steps}
	step := max(1, len(sorted)/most)
	for i := 0; i < len(sorted); i += step {
		c.X, c.Y = append(c.X, sorted[i]), append(c.Y, 1-float64(i)/float64(len(sorted)))
	}
	return c
}

func histogram(name string, p trace.Correlation) plot.Curve {
	c := plot.Curve{Name: name, As: plot.Bars}
	width := 2 / float64(len(p.Histogram))
	for i, n := range p.Histogram {
		c.X = append(c.X, -1+width*(float64(i)+0.5))
		c.Y = append(c.Y, float64(n)/math.Max(1, float64(p.Pairs)))
	}
	return c
}

// WorkloadCharts draws a workload: how long its jobs ran, and when they came.
func WorkloadCharts(l *trace.Workload) []plot.Chart {
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
	arrivals := plot.Curve{As: plot.Bars}
	for h, n := range hours {
		arrivals.X, arrivals.Y = append(arrivals.X, float64(h)+0.5), append(arrivals.Y, n)
	}
	return []plot.Chart{
		{Title: label + ": run times longer than", X: "seconds", Y: "share of the jobs", LogX: true,
			Curves: []plot.Curve{longer("", runs)}},
		{Title: "Submissions", X: "hours after the log's start, modulo 24", Y: "jobs", Curves: []plot.Curve{arrivals}},
	}
}
