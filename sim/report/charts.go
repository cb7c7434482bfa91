//go:build plot

package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"godwit/sim"
)

// palette tells lines and bars apart also for the colour-blind (Okabe and Ito
// 2008).
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff},
}

func shade(i int) color.Color { return palette[i%len(palette)] }

// A chart is a diagram: its measures over all groups. With a scale figures are
// divided by it, for another unit.
type chart struct {
	title, y string
	measures []measure
	scale    float64 // 0 is 1
	stacked  bool    // parts of a whole; as lines they are not stacked
}

// chartsOf lists the diagrams that reports call for.
func chartsOf(groups []Group) []chart {
	charts := []chart{
		{title: "Allocated, succeeded and failed tasks", y: "tasks", measures: []measure{allocated, succeeded, failed}},
		{title: "Success: S / (S + F)", y: "%", measures: []measure{success}},
		{title: "Response", y: "hours", scale: 3600, measures: []measure{response, response95}},
		{title: "Donated host time", y: "hours", measures: []measure{useful, wasted, idle, pending}, stacked: true},
	}
	for _, g := range groups {
		if g.over(exits).N > 0 {
			return append(charts, chart{title: "Predicted exits: detection and correctness", y: "%",
				measures: []measure{detection, correct}})
		}
	}
	return charts
}

// value is a measure of a group in the chart's unit.
func (c *chart) value(g *Group, m measure) Estimate {
	e := g.over(m)
	if c.scale != 0 {
		e.Mean, e.Std = e.Mean/c.scale, e.Std/c.scale
	}
	return e
}

// plot draws a chart: lines over what is swept, otherwise bars.
func (c *chart) plot(groups []Group, s *sweep, o Options) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = c.title, c.y
	p.Legend.Top = true
	p.Legend.TextStyle.Font.Size = vg.Points(8)
	p.Y.Min = 0
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	p.Add(grid)
	var err error
	if s != nil {
		err = c.lines(p, s, o)
	} else {
		err = c.bars(p, groups, o)
	}
	if err != nil {
		return nil, err
	}
	if !(p.Y.Max > 0) || math.IsInf(p.Y.Max, 0) {
		p.Y.Max = 1
	}
	// Room for the legend above what is drawn.
	const margin, line = 1.1, 0.04
	entries := len(c.measures)
	if s != nil {
		entries *= len(s.series) + len(s.fixed)
	}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*(margin+line*float64(entries))
	return p, nil
}

// bars draws a bar for each measure of each group, beside each other or stacked.
func (c *chart) bars(p *plot.Plot, groups []Group, o Options) error {
	const share = 0.8 // of a group's width is bars
	names := make([]string, len(groups))
	base := make([]float64, len(groups))
	var spans whiskers
	for j, m := range c.measures {
		for i := range groups {
			names[i] = groups[i].name()
			e := c.value(&groups[i], m)
			if math.IsNaN(e.Mean) || math.IsInf(e.Mean, 0) {
				continue
			}
			left, width := float64(i)-share/2, share
			if !c.stacked {
				width = share / float64(len(c.measures))
				left += float64(j) * width
				base[i] = 0
			}
			if err := box(p, left, width, base[i], base[i]+e.Mean, shade(j)); err != nil {
				return err
			}
			base[i] += e.Mean
			at := left + width/2
			if c.stacked { // side by side, as one would hide the other
				at = left + width*float64(j+1)/float64(len(c.measures)+1)
			}
			spans.add(at, base[i], o.half(e))
		}
		key, err := plotter.NewPolygon(plotter.XYs{{}})
		if err != nil {
			return err
		}
		key.Color = shade(j)
		p.Legend.Add(m.legend(), key)
	}
	p.NominalX(names...)
	const crowded = 4 // names beside each other
	if len(groups) > crowded {
		p.X.Tick.Label.Rotation = math.Pi / 6
		p.X.Tick.Label.XAlign = -1
	}
	p.X.Min, p.X.Max = -0.5, float64(len(groups))-0.5
	return spans.draw(p, color.Black)
}

func box(p *plot.Plot, left, width, low, high float64, c color.Color) error {
	b, err := plotter.NewPolygon(plotter.XYs{{X: left, Y: low}, {X: left, Y: high}, {X: left + width, Y: high},
		{X: left + width, Y: low}})
	if err != nil {
		return err
	}
	b.Color, b.LineStyle.Width = c, 0
	p.Add(b)
	return nil
}

// dashes tell the measures of one series apart.
var dashes = [][]vg.Length{nil, {vg.Points(6), vg.Points(3)}, {vg.Points(2), vg.Points(2)},
	{vg.Points(8), vg.Points(2), vg.Points(2), vg.Points(2)}}

// lines draws a line for each measure of each series; groups that have not the
// parameter are level lines.
func (c *chart) lines(p *plot.Plot, s *sweep, o Options) error {
	p.X.Label.Text = s.param
	if s.hours {
		p.X.Label.Text += " in hours"
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range s.series {
		low, high = min(low, l.x[0]), max(high, l.x[len(l.x)-1])
	}
	all := slices.Clone(s.series)
	for _, g := range s.fixed {
		all = append(all, series{name: g.name(), x: []float64{low, high}, groups: []Group{g, g}})
	}
	// Intervals of different lines are moved apart, by shares of the axis.
	apart := (high - low) * 0.006
	for i, l := range all {
		var spans whiskers
		for j, m := range c.measures {
			var points plotter.XYs
			aside := apart * float64(i*len(c.measures)+j)
			for k, x := range l.x {
				if e := c.value(&l.groups[k], m); !math.IsNaN(e.Mean) && !math.IsInf(e.Mean, 0) {
					points = append(points, plotter.XY{X: x, Y: e.Mean})
					spans.add(x+aside, e.Mean, o.half(e))
				}
			}
			name := l.name
			if len(c.measures) > 1 {
				name = fmt.Sprintf("%s: %s", l.name, m.legend())
			}
			if err := addLine(p, name, points, shade(i), dashes[j%len(dashes)]); err != nil {
				return err
			}
		}
		if err := spans.draw(p, shade(i)); err != nil {
			return err
		}
	}
	return nil
}

func addLine(p *plot.Plot, name string, points plotter.XYs, c color.Color, dash []vg.Length) error {
	if len(points) == 0 {
		return nil
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = c, vg.Points(1.5), dash
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// legend is what a chart calls a measure: its axis has the unit.
func (m measure) legend() string {
	if m.title == response.title {
		return "mean"
	}
	return strings.TrimSuffix(strings.TrimSuffix(m.title, "-h"), "-%")
}

// half is half of the interval that the options ask for.
func (o Options) half(e Estimate) float64 {
	if o.Margin {
		return e.Margin()
	}
	return e.Half()
}

// whiskers are the intervals of a chart.
type whiskers struct {
	plotter.XYs
	plotter.YErrors
}

func (s *whiskers) add(x, y, half float64) {
	if half > 0 && !math.IsInf(half, 0) {
		s.XYs = append(s.XYs, plotter.XY{X: x, Y: y})
		s.YErrors = append(s.YErrors, struct{ Low, High float64 }{half, half})
	}
}

func (s *whiskers) draw(p *plot.Plot, c color.Color) error {
	if len(s.XYs) == 0 {
		return nil
	}
	bars, err := plotter.NewYErrorBars(s)
	if err != nil {
		return err
	}
	bars.Color = c
	p.Add(bars)
	return nil
}

// heading is what a picture is of, as above the tables.
func heading(r *sim.Report) string {
	label := fmt.Sprintf("%s: %d hosts, %.4g days", r.Trace, r.Hosts, r.Days)
	if r.Synthetic != "" {
		label += ", synthetic"
	}
	return label
}
