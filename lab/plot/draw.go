//go:build plot

package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Able reports with nil that this binary draws.
func Able() error { return nil }

// Palette tells curves apart also for the colour-blind (Okabe and Ito 2008).
var Palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff}, color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff},
}

// The size of one chart in a picture.
const (
	Width  = 6.5 * vg.Inch
	Height = 4 * vg.Inch
)

// Save writes charts, two in a row, as PNG or SVG by the file's ending.
func Save(path string, charts ...Chart) error {
	var rows [][]*plot.Plot
	for i, c := range charts {
		p, err := c.plot()
		if err != nil {
			return fmt.Errorf("drawing %q: %w", c.Title, err)
		}
		if i%2 == 0 {
			rows = append(rows, nil)
		}
		rows[i/2] = append(rows[i/2], p)
	}
	return SavePicture(path, vg.Length(len(rows[0]))*Width, vg.Length(len(rows))*Height, rows)
}

// SavePicture writes diagrams, in rows, as PNG or SVG by the file's ending.
func SavePicture(path string, width, height vg.Length, rows [][]*plot.Plot) error {
	if err := CheckName(path); err != nil {
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

func (c Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	drawn := 0
	var top []float64 // of the areas so far, by the index of x
	for i, v := range c.Curves {
		points := v.points(c.LogX)
		if len(points) == 0 {
			continue
		}
		drawn++
		if v.As == Areas {
			if len(top) < len(v.X) {
				top = append(top, make([]float64, len(v.X)-len(top))...)
			}
			if err := v.addArea(p, Palette[i%len(Palette)], top); err != nil {
				return nil, err
			}
			continue
		}
		if v.As == Bars {
			if err := c.addBars(p, i, points); err != nil {
				return nil, err
			}
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = Palette[i%len(Palette)], vg.Points(1.5)
		if v.As == Steps {
			line.StepStyle = plotter.PostStep
		}
		p.Add(line)
		if v.Name != "" {
			p.Legend.Add(v.Name, line)
		}
	}
	if c.FromZero {
		p.Y.Min = 0
	}
	if top != nil { // space for the legend
		p.Y.Max *= 1 + legendSpace*float64(drawn)
	}
	if drawn == 0 { // axes of nothing cannot be scaled
		p.X.Scale, p.X.Tick.Marker = plot.LinearScale{}, plot.DefaultTicks{}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		p.Title.Text += " (nothing to show)"
	}
	return p, nil
}

// legendSpace is the part of a chart's height that an entry of the legend takes.
const legendSpace = 0.075

// faint is the color of curves that are drawn faint.
var faint = color.RGBA{0xe0, 0xe0, 0xe0, 0xff}

// addArea draws a curve as steps on top of others, and adds it to their top. The last step is as long as the one before
// it.
func (v Curve) addArea(p *plot.Plot, shade color.Color, top []float64) error {
	if v.Faint {
		shade = faint
	}
	var low, high plotter.XYs
	for k, x := range v.X {
		next := x
		if k+1 < len(v.X) {
			next = v.X[k+1]
		} else if k > 0 {
			next += x - v.X[k-1]
		}
		low = append(low, plotter.XY{X: x, Y: top[k]}, plotter.XY{X: next, Y: top[k]})
		if Finite(v.Y[k]) {
			top[k] += v.Y[k]
		}
		high = append(high, plotter.XY{X: x, Y: top[k]}, plotter.XY{X: next, Y: top[k]})
	}
	slices.Reverse(high)
	area, err := plotter.NewPolygon(append(low, high...))
	if err != nil {
		return err
	}
	area.Color, area.LineStyle.Width = shade, 0
	p.Add(area)
	if v.Name != "" {
		p.Legend.Add(v.Name, area)
	}
	return nil
}

// addBars draws curve i as bars beside those of the other curves.
func (c Chart) addBars(p *plot.Plot, i int, points plotter.XYs) error {
	gap := 1.0
	if len(points) > 1 {
		gap = points[1].X - points[0].X
	}
	width := 0.8 * gap / float64(len(c.Curves))
	for _, pt := range points {
		left := pt.X - 0.4*gap + float64(i)*width
		right := left + width
		bar, err := plotter.NewPolygon(plotter.XYs{{X: left, Y: 0}, {X: left, Y: pt.Y}, {X: right, Y: pt.Y},
			{X: right, Y: 0}})
		if err != nil {
			return err
		}
		bar.Color, bar.LineStyle.Width = Palette[i%len(Palette)], 0
		p.Add(bar)
	}
	if c.Curves[i].Name != "" {
		key, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: 0}})
		if err != nil {
			return err
		}
		key.Color = Palette[i%len(Palette)]
		p.Legend.Add(c.Curves[i].Name, key)
	}
	return nil
}

// points leaves out what cannot be drawn.
func (v Curve) points(logX bool) plotter.XYs {
	var out plotter.XYs
	for i, x := range v.X {
		if y := v.Y[i]; Finite(x) && Finite(y) && (!logX || x > 0) {
			out = append(out, plotter.XY{X: x, Y: y})
		}
	}
	return out
}
