package place

import "errors"

// A Patient is a Policy that has tasks given up at members that take too long for
// them: MGST's time-out (Kokaly 2008, section 8.1.2 and appendix B), of which the
// thesis's example is 3. Who runs the policy sees to it.
type Patient interface {
	Policy
	// Patience is how many times as long as is expected of its class at its member a
	// task may take before it waits for another; 0 is forever.
	Patience() float64
}

// patient is what policies share that have the parameter patience.
type patient struct{ times float64 }

// Patience implements Patient.
func (p *patient) Patience() float64 { return p.times }

// mostPatience bounds the parameter: beyond it nothing is ever given up.
const mostPatience = 1000

// patience reads the parameter of that name.
func patience(ps *Params) patient {
	n := ps.Number("patience", 0, 0, mostPatience)
	if n > 0 && n < 1 {
		ps.Fail(errors.New("patience: a task may take as long as expected: write 1 or more, or 0 for ever"))
	}
	return patient{n}
}
