//go:build plot

package timeline

import (
	"fmt"
	"image/color"
	"math"
	"time"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"godwit/lab/plot"
	"godwit/lab/table"
	"godwit/scheduler/message"
)

// barColors are of the palette, but for what ended otherwise.
var barColors = [barKinds]color.Color{
	barCompleted: plot.Palette[2], barMoved: plot.Palette[0], barLost: plot.Palette[1], barRunning: plot.Palette[4],
	barOther: color.Gray{0x99},
}

const (
	rowHeight  = 0.35 * vg.Inch  // of a peer
	laneHeight = 0.08 * vg.Inch  // at least, of a task that runs beside others there
	mostHeight = 60 * vg.Inch    // of a picture
	legendRows = 2.5             // above the first peer, for the legend
	barShare   = 0.8             // of its row that bars fill
	gap        = vg.Length(0.75) // between bars
	headLength = vg.Length(5)    // of an arrow, in points
)

// Draw draws where the tasks of a job ran, up to now, in a .png or .svg file. It returns how many attempts there
// are, and on how many peers.
func Draw(path string, st message.JobStatus, now time.Time) (attempts, peers int, err error) {
	g := layOut(Of(st.TasksList), st.Submitted, now)
	return len(g.bars), len(g.rows), save(path, st.Name, &g)
}

// save writes the picture of a job's timeline.
func save(path, title string, g *chart) error {
	p := gonum.New()
	p.Title.Text = title
	if g.left > 0 {
		p.Title.Text += fmt.Sprintf(" (without %d attempts)", g.left)
	}
	unit, name := g.unit()
	p.X.Label.Text = name + " since submission"
	p.Legend.Top = true
	if len(g.rows) == 0 {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		p.Title.Text += " (nothing to show)"
	} else {
		p.Add(plotter.NewGrid(), chartPlotter{g, unit})
		p.Y.Min, p.Y.Max = -0.5, float64(len(g.rows))-0.5+legendRows
		p.Y.Tick.Marker = g.ticks()
		if err := addKinds(p, g); err != nil {
			return fmt.Errorf("drawing %q: %w", title, err)
		}
	}
	height := plot.Height/2 + legendRows*rowHeight
	for _, r := range g.rows {
		height += max(rowHeight, vg.Length(r.lanes)*laneHeight)
	}
	return plot.SavePicture(path, 1.5*plot.Width, min(height, mostHeight), [][]*gonum.Plot{{p}})
}

// addKinds tells the colours of the kinds that there are.
func addKinds(p *gonum.Plot, g *chart) error {
	var there [barKinds]bool
	for _, b := range g.bars {
		there[b.kind] = true
	}
	for kind, is := range there {
		if !is {
			continue
		}
		key, err := plotter.NewPolygon(plotter.XYs{{X: 0, Y: 0}})
		if err != nil {
			return err
		}
		key.Color = barColors[kind]
		p.Legend.Add(barNames[kind], key)
	}
	return nil
}

// unit is the longest of which the picture has a few.
func (g *chart) unit() (time.Duration, string) {
	var last time.Duration
	for _, b := range g.bars {
		last = max(last, b.to)
	}
	const few = 3
	switch {
	case last > few*time.Hour:
		return time.Hour, "hours"
	case last > few*time.Minute:
		return time.Minute, "minutes"
	}
	return time.Second, "seconds"
}

// ticks name the peers. The first is on top.
func (g *chart) ticks() gonum.ConstantTicks {
	var out gonum.ConstantTicks
	for k, r := range g.rows {
		out = append(out, gonum.Tick{Value: g.height(k), Label: table.ShortPeer(r.peer)})
	}
	return out
}

func (g *chart) height(row int) float64 { return float64(len(g.rows) - 1 - row) }

// middle is the height of a bar's middle, and half of its thickness.
func (g *chart) middle(b *bar) (y, half float64) {
	thick := barShare / float64(g.rows[b.row].lanes)
	return g.height(b.row) + barShare/2 - (float64(b.lane)+0.5)*thick, 0.45 * thick
}

// chartPlotter draws a gantt whose times are told in a unit.
type chartPlotter struct {
	g    *chart
	unit time.Duration
}

func (p chartPlotter) at(d time.Duration) float64 { return float64(d) / float64(p.unit) }

// DataRange implements plot.DataRanger.
func (p chartPlotter) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, b := range p.g.bars {
		xmin, xmax = min(xmin, p.at(b.from)), max(xmax, p.at(b.to))
	}
	if xmax <= xmin {
		xmax = xmin + 1
	}
	return xmin, xmax, -0.5, float64(len(p.g.rows)) - 0.5
}

// Plot implements plot.Plotter.
func (p chartPlotter) Plot(c draw.Canvas, plt *gonum.Plot) {
	x, y := plt.Transforms(&c)
	for i := range p.g.bars {
		b := &p.g.bars[i]
		middle, half := p.g.middle(b)
		left, right, low, high := x(p.at(b.from)), x(p.at(b.to)), y(middle-half), y(middle+half)
		right = max(right-gap, left+gap) // those that follow each other are told apart, and one of no time is seen
		c.FillPolygon(barColors[b.kind], []vg.Point{{X: left, Y: low}, {X: left, Y: high}, {X: right, Y: high},
			{X: right, Y: low}})
	}
	for _, a := range p.g.arrows {
		from, to := &p.g.bars[a.from], &p.g.bars[a.to]
		fy, _ := p.g.middle(from)
		ty, _ := p.g.middle(to)
		drawArrow(c, vg.Point{X: x(p.at(from.to)), Y: y(fy)}, vg.Point{X: x(p.at(max(from.to, to.from))), Y: y(ty)})
	}
}

// drawArrow draws a line with a head at its end.
func drawArrow(c draw.Canvas, from, to vg.Point) {
	line := draw.LineStyle{Color: color.Black, Width: vg.Points(0.75)}
	c.StrokeLine2(line, from.X, from.Y, to.X, to.Y)
	d := to.Sub(from)
	long := vg.Length(math.Sqrt(float64(d.Dot(d))))
	if long <= 0 {
		return
	}
	d = d.Scale(headLength / long)
	side := vg.Point{X: -d.Y / 3, Y: d.X / 3}
	back := to.Sub(d)
	c.FillPolygon(color.Black, []vg.Point{to, back.Add(side), back.Sub(side)})
}
