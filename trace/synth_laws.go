package trace

import (
	"math/rand/v2"
	"strings"
	"time"
)

// A Law is what the literature fitted to the lengths of the available and
// unavailable intervals of one set: two laws each, in hours, and the means that
// were measured.
type Law struct {
	Name                       string
	About                      string
	UpWeibull, DownWeibull     [2]float64 // shape, scale
	UpLognormal, DownLognormal [2]float64 // mu, sigma
	UpMean, DownMean           float64    // of the set itself
}

// Laws returns nine sets of the Failure Trace Archive (Javadi, Kondo, Iosup and
// Epema, Journal of Parallel and Distributed Computing 73, 2013). All shapes of
// available intervals are below 1: the longer a host has been up, the safer it
// is. A fit does not keep the mean of a heavy tail: compare UpMean with
// MeanHours.
func Laws() []Law {
	return []Law{
		{"Microsoft99", "desktop machines", [2]float64{.55, 35.30}, [2]float64{.60, 9.34}, [2]float64{2.62, 1.84},
			[2]float64{1.42, 1.54}, 67.0, 16.5},
		{"ND07CPU", "desktop grid, processor", [2]float64{.45, 4.16}, [2]float64{.51, 0.74}, [2]float64{.30, 2.20},
			[2]float64{-1.02, 1.27}, 13.7, 4.25},
		{"Overnet03", "peers", [2]float64{.85, 2.04}, [2]float64{.44, 2.98}, [2]float64{.19, .98}, [2]float64{.08, 1.80},
			2.29, 12.0},
		{"Skype06", "superpeers", [2]float64{.64, 10.86}, [2]float64{.63, 9.48}, [2]float64{1.60, 1.57},
			[2]float64{1.40, 1.73}, 16.3, 14.3},
		{"PL05", "PlanetLab", [2]float64{.33, 19.35}, [2]float64{.36, 5.59}, [2]float64{1.44, 2.86}, [2]float64{.40, 2.45},
			159.5, 49.6},
		{"Websites02", "web sites", [2]float64{.46, 3.68}, [2]float64{.65, 0.61}, [2]float64{.23, 2.02},
			[2]float64{-1.12, 1.13}, 11.9, 1.18},
		{"LDNS04", "name servers", [2]float64{.51, 79.30}, [2]float64{.63, 5.62}, [2]float64{3.25, 2.33},
			[2]float64{.91, 1.64}, 141.1, 8.61},
		{"G5K06", "a grid's nodes", [2]float64{.48, 14.37}, [2]float64{.35, 0.47}, [2]float64{1.51, 2.42},
			[2]float64{-2.0, 2.2}, 32.4, 7.41},
		{"LANL05", "a laboratory's nodes", [2]float64{.48, 816.6}, [2]float64{.58, 2.18}, [2]float64{5.56, 2.39},
			[2]float64{.05, 1.42}, 1780, 5.92},
	}
}

// MeanHours returns the means of available and unavailable intervals that a fit
// implies: of the lognormal laws, or of the Weibull ones.
func (l Law) MeanHours(lognormals bool) (up, down float64) {
	u, d := l.laws(lognormals)
	return u.mean(), d.mean()
}

func (l Law) laws(lognormals bool) (up, down law) {
	if lognormals {
		return lognormal{l.UpLognormal[0], l.UpLognormal[1]}, lognormal{l.DownLognormal[0], l.DownLognormal[1]}
	}
	return weibull{l.UpWeibull[0], l.UpWeibull[1]}, weibull{l.DownWeibull[0], l.DownWeibull[1]}
}

// generator makes hosts that are all alike and independent: an alternating
// renewal process, met at a random time.
func (l Law) generator(lognormals bool) generator {
	kind, family := strings.ToLower(l.Name), "Weibull"
	if lognormals {
		kind, family = kind+"-lognormal", "lognormal"
	}
	up, down := l.laws(lognormals)
	return generator{
		kind: kind, name: l.Name + "-like", hosts: 100, days: 30,
		about:   l.About + ", " + family + " intervals as fitted for the Failure Trace Archive",
		start:   time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC), // a Monday
		through: true,
		host: func(h *Host, t *Trace, rng *rand.Rand, w *wave) error {
			isUp := w.upFirst(up.mean()/(up.mean()+down.mean()), rng)
			first := down.residual(rng)
			if isUp {
				first = up.residual(rng)
			}
			return renew(h.History, t.Start, t.End, isUp, first, w.lengths(up, down, rng))
		},
	}
}
