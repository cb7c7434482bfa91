package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart is one diagram of a picture.
type chart struct {
	title, x, y string
	logX        bool // points with x <= 0 are left out
	fromZero    bool // the y axis begins at 0
	curves      []curve
}

// A curve is what a chart shows under one name. Its y values belong to the x
// values of the same index.
type curve struct {
	name string // "": not in the legend
	as   drawnAs
	x, y []float64
}

// drawnAs is how a curve is drawn.
type drawnAs int

const (
	asLine  drawnAs = iota // from point to point
	asSteps                // each value holds to the next point
	asBars                 // a bar at each x; all curves of a chart have the same x then
)

// palette tells curves apart also for the colour-blind (Okabe and Ito 2008).
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff},
}

// The size of one chart in a picture.
const (
	chartWidth  = 6.5 * vg.Inch
	chartHeight = 4 * vg.Inch
)

// plotEnding checks that a picture can be written under a name, before the work
// for it is done; the empty name asks for none.
func plotEnding(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".svg":
		return nil
	}
	if path == "" {
		return nil
	}
	return usage("name a file that ends in .png or .svg", "no format of pictures belongs to %s", path)
}

// savePlot writes charts, two in a row, as PNG or SVG by the file's ending.
func savePlot(path string, charts ...chart) error {
	var rows [][]*plot.Plot
	for i, c := range charts {
		p, err := c.plot()
		if err != nil {
			return fmt.Errorf("drawing %q: %w", c.title, err)
		}
		if i%2 == 0 {
			rows = append(rows, nil)
		}
		rows[i/2] = append(rows[i/2], p)
	}
	return savePicture(path, vg.Length(len(rows[0]))*chartWidth, vg.Length(len(rows))*chartHeight, rows)
}

// savePicture writes diagrams, in rows, as PNG or SVG by the file's ending.
func savePicture(path string, width, height vg.Length, rows [][]*plot.Plot) error {
	if err := plotEnding(path); err != nil {
		return err
	}
	var (
		canvas vg.CanvasWriterTo
		b      bytes.Buffer
	)
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		canvas = vgsvg.New(width, height)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.New(width, height)}
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: len(rows[0]), PadX: 8 * vg.Millimeter, PadY: 8 * vg.Millimeter,
		PadTop: 4 * vg.Millimeter, PadBottom: 4 * vg.Millimeter, PadLeft: 4 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	dc := draw.New(canvas)
	for y, row := range rows {
		for x, p := range row {
			p.Draw(tiles.At(dc, x, y))
		}
	}
	if _, err := canvas.WriteTo(&b); err != nil {
		return fmt.Errorf("drawing %s: %w", path, err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}

func (c chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.title, c.x, c.y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	if c.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	drawn := 0
	for i, v := range c.curves {
		points := v.points(c.logX)
		if len(points) == 0 {
			continue
		}
		drawn++
		if v.as == asBars {
			if err := c.addBars(p, i, points); err != nil {
				return nil, err
			}
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = palette[i%len(palette)], vg.Points(1.5)
		if v.as == asSteps {
			line.StepStyle = plotter.PostStep
		}
		p.Add(line)
		if v.name != "" {
			p.Legend.Add(v.name, line)
		}
	}
	if c.fromZero {
		p.Y.Min = 0
	}
	if drawn == 0 { // axes of nothing cannot be scaled
		p.X.Scale, p.X.Tick.Marker = plot.LinearScale{}, plot.DefaultTicks{}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		p.Title.Text += " (nothing to show)"
	}
	return p, nil
}

// addBars draws curve i as bars beside those of the other curves.
func (c chart) addBars(p *plot.Plot, i int, points plotter.XYs) error {
	gap := 1.0
	if len(points) > 1 {
		gap = points[1].X - points[0].X
	}
	width := 0.8 * gap / float64(len(c.curves))
	for _, pt := range points {
		left := pt.X - 0.4*gap + float64(i)*width
		bar, err := plotter.NewPolygon(plotter.XYs{{X: left, Y: 0}, {X: left, Y: pt.Y}, {X: left + width, Y: pt.Y}, {X: left + width, Y: 0}})
		if err != nil {
			return err
		}
		bar.Color, bar.LineStyle.Width = palette[i%len(palette)], 0
		p.Add(bar)
	}
	if c.curves[i].name != "" {
		key, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: 0}})
		if err != nil {
			return err
		}
		key.Color = palette[i%len(palette)]
		p.Legend.Add(c.curves[i].name, key)
	}
	return nil
}

// points leaves out what cannot be drawn.
func (v curve) points(logX bool) plotter.XYs {
	var out plotter.XYs
	for i, x := range v.x {
		if y := v.y[i]; finite(x) && finite(y) && (!logX || x > 0) {
			out = append(out, plotter.XY{X: x, Y: y})
		}
	}
	return out
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
