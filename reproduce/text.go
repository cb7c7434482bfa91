package reproduce

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Mean is the mean of some values; NaN of none.
func Mean(xs []float64) float64 {
	sum := 0.0
	for _, v := range xs {
		sum += v
	}
	return sum / float64(len(xs))
}

// Interval is the mean of some values and half of its interval of 95 % by Student's t.
// half is -1 of one value, which has none.
func Interval(xs []float64) (mean, half float64) {
	if len(xs) < 2 {
		return stat.Mean(xs, nil), -1
	}
	const quantile = 0.975 // at which a two-sided interval of 95 % ends
	mean, std := stat.MeanStdDev(xs, nil)
	n := float64(len(xs))
	return mean, distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(quantile) * std / math.Sqrt(n)
}

// Percent writes a share in percent, a digit only where it is needed.
func Percent(x float64) string {
	s := fmt.Sprintf("%.1f", 100*x)
	if n := len(s) - 2; s[n:] == ".0" {
		s = s[:n]
	}
	return s + " %"
}
