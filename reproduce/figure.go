package reproduce

// A Figure is a diagram like a published one, of what was obtained.
type Figure struct {
	Name   string // for a file: letters, digits, dashes
	Title  string // with the number of the published figure
	X, Y   string // axes
	Bars   bool   // otherwise lines
	Curves []Curve
}

// A Curve is one line or one colour of bars. Y belongs to the X of the same
// index; all curves of a figure of bars have the same X.
type Curve struct {
	Name string
	X, Y []float64
}
