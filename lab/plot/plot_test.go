//go:build plot

package plot

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Pictures of anything, also of nothing, can be drawn; the size follows from how
// many charts there are.
func TestSavePlot(t *testing.T) {
	x, y := []float64{0, 1, 2}, []float64{3, math.NaN(), math.Inf(1)}
	charts := []Chart{
		{Title: "line", Curves: []Curve{{Name: "a", X: x, Y: y}}},
		{Title: "steps", LogX: true, Curves: []Curve{{As: Steps, X: []float64{-1, 0, 10}, Y: x}}},
		{Title: "bars", FromZero: true, Curves: []Curve{{Name: "a", As: Bars, X: x, Y: x},
			{Name: "b", As: Bars, X: x, Y: x}}},
		{Title: "areas", FromZero: true, Curves: []Curve{{Name: "a", As: Areas, X: x, Y: y},
			{Name: "b", As: Areas, X: x, Y: x, Faint: true}}},
		{Title: "empty"},
		{Title: "no number", Curves: []Curve{{As: Bars, X: x[:1], Y: []float64{math.NaN()}}}},
	}
	dir := t.TempDir()
	size := func(n int) (int, int) {
		t.Helper()
		path := filepath.Join(dir, "p.PNG")
		if err := Save(path, charts[:n]...); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := png.DecodeConfig(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		return c.Width, c.Height
	}
	w, h := size(1)
	if w5, h5 := size(5); w5 != 2*w || h5 != 3*h {
		t.Errorf("one chart is %d x %d, five are %d x %d", w, h, w5, h5)
	}
	svg := filepath.Join(dir, "p.svg")
	if err := Save(svg, charts...); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(svg); strings.Count(string(b), "nothing to show") != 2 {
		t.Error("the two empty charts do not say so")
	}
	if err := Save(filepath.Join(dir, "p.jpg"), charts...); err == nil {
		t.Error("a .jpg was written")
	}
}
