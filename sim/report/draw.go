//go:build plot

package report

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"godwit/sim"
)

// The size of one chart in a picture, and the space around it.
const (
	chartWidth  = 6.5 * vg.Inch
	chartHeight = 4 * vg.Inch
	gap         = 8 * vg.Millimeter
	columns     = 2
)

// Draw writes charts of reports, two in a row: the thesis's counts (figures 7-2
// to 7-9), success, response and host time, with intervals where there are
// several seeds. Policies that differ in one numeric parameter, of three values
// or more, are a line over it; otherwise there are bars for each pair of
// policies.
func Draw(w io.Writer, f Format, reports []*sim.Report, o Options) error {
	if len(reports) == 0 {
		return fmt.Errorf("no runs, nothing to draw")
	}
	groups := Groups(reports)
	s := findSweep(groups)
	var plots []*plot.Plot
	for _, c := range chartsOf(groups) {
		p, err := c.plot(groups, s, o)
		if err != nil {
			return fmt.Errorf("drawing %q: %w", c.title, err)
		}
		p.Title.Text += "\n" + heading(reports[0])
		plots = append(plots, p)
	}
	rows := (len(plots) + columns - 1) / columns
	width, height := columns*chartWidth, vg.Length(rows)*chartHeight
	var canvas vg.CanvasWriterTo
	switch f {
	case SVG:
		canvas = vgsvg.New(width, height)
	case PNG:
		canvas = vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	default:
		return fmt.Errorf("no format of pictures is called %q: use png or svg", f)
	}
	tiles := draw.Tiles{Rows: rows, Cols: columns, PadX: gap, PadY: gap, PadTop: gap / 2, PadBottom: gap / 2,
		PadLeft: gap / 2, PadRight: gap / 2}
	dc := draw.New(canvas)
	for i, p := range plots {
		p.Draw(tiles.At(dc, i%columns, i/columns))
	}
	_, err := canvas.WriteTo(w)
	return err
}
