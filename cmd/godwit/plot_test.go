package main

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
	charts := []chart{
		{title: "line", curves: []curve{{name: "a", x: x, y: y}}},
		{title: "steps", logX: true, curves: []curve{{as: asSteps, x: []float64{-1, 0, 10}, y: x}}},
		{title: "bars", fromZero: true, curves: []curve{{name: "a", as: asBars, x: x, y: x}, {name: "b", as: asBars, x: x, y: x}}},
		{title: "empty"},
		{title: "no number", curves: []curve{{as: asBars, x: x[:1], y: []float64{math.NaN()}}}},
	}
	dir := t.TempDir()
	size := func(n int) (int, int) {
		t.Helper()
		path := filepath.Join(dir, "p.PNG")
		if err := savePlot(path, charts[:n]...); err != nil {
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
	if err := savePlot(svg, charts...); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(svg); strings.Count(string(b), "nothing to show") != 2 {
		t.Error("the two empty charts do not say so")
	}
	if err := savePlot(filepath.Join(dir, "p.jpg"), charts...); err == nil {
		t.Error("a .jpg was written")
	}
}
