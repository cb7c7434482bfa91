// Package plot draws charts as PNG and SVG files.
//
// It draws where it is built with the tag plot. A binary without that tag links nothing that
// draws, since no volunteer's machine needs it; there Check and Save say how to have pictures.
package plot

import (
	"math"
	"path/filepath"
	"strings"

	"godwit/internal/failure"
)

// A Chart is one diagram of a picture.
type Chart struct {
	Title, X, Y string
	LogX        bool // points with x <= 0 are left out
	FromZero    bool // the y axis begins at 0
	Curves      []Curve
}

// A Curve is what a chart shows under one name. Its y values belong to the x
// values of the same index.
type Curve struct {
	Name string // "": not in the legend
	As   Style
	X, Y []float64
	// Faint draws areas in light gray.
	Faint bool
}

// A Style is how a curve is drawn.
type Style int

const (
	Line  Style = iota // from point to point
	Steps              // each value holds to the next point
	Bars               // a bar at each x; all curves of a chart have the same x then
	Areas              // steps on top of the curves before, filled; all curves have the same ascending x, at least two
)

// CheckName checks that a picture can be written under a name, before the work
// for it is done; the empty name asks for none.
func CheckName(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".svg":
		return Able()
	}
	if path == "" {
		return nil
	}
	return failure.Usage("name a file that ends in .png or .svg", "no format of pictures belongs to %s", path)
}

// Finite reports whether x is neither infinite nor NaN.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
