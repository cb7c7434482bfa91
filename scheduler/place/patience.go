package place

import "errors"

// mostPatience bounds the parameter: beyond it nothing is ever given up.
const mostPatience = 1000

// patience reads the parameter of that name: see Traits.Patience.
func patience(ps *Params) float64 {
	times := ps.Number("patience", 0, 0, mostPatience)
	if times > 0 && times < 1 {
		ps.Fail(errors.New("patience: a task may take as long as expected: write 1 or more, or 0 for ever"))
	}
	return times
}
