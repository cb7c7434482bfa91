package report

// A Format is of a picture.
type Format string

// The formats.
const (
	PNG Format = "png"
	SVG Format = "svg"
)
