package trials

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactDegrees is the largest number of degrees of freedom for which the distribution function is inverted. Beyond it
// the iteration loses digits, while the series that replaces it is exact to ten.
const exactDegrees = 100_000

// StudentQuantile returns the p-quantile of Student's t distribution, for 0 < p < 1 and at least one degree of freedom.
//
// Above 100,000 degrees it uses the first two terms of the expansion by the normal quantile z, z + (z³ + z)/4ν, formula
// 26.7.5 of M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964.
func StudentQuantile(p float64, degrees uint64) float64 {
	if degrees <= exactDegrees {
		return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(degrees)}.Quantile(p)
	}
	z := math.Sqrt2 * math.Erfinv(2*p-1)
	return z + (z*z*z+z)/(4*float64(degrees))
}
