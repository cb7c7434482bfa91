package trace

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"

	"godwit/internal/spec"
)

// A rhythm is how the share of hosts that are up goes over the day, as one asks for it: as a
// wave once over the window in which hosts are watched. The zero rhythm is none.
type rhythm struct {
	swing float64 // how far the share goes to either side of its mean: half of the wave's height
	peak  float64 // when most are up, in hours after midnight
}

// mostSwing is half of all hosts: then none is up at one end and all are at the other.
const mostSwing = 0.5

// readRhythm reads the parameters of a kind. published is the kind's own, zero where nothing
// is published of it.
func readRhythm(values map[string]string, published rhythm) (rhythm, error) {
	ps := spec.Read(values, []string{"rhythm", "swing", "peak"})
	daily := ps.Choice("rhythm", "none", "day") == 1
	r := rhythm{ps.Number("swing", published.swing, 0, mostSwing), ps.Number("peak", published.peak, 0, day.Hours())}
	_, swings := values["swing"]
	_, peaks := values["peak"]
	switch {
	case ps.Err() != nil:
		return rhythm{}, ps.Err()
	case !daily && (swings || peaks):
		return rhythm{}, fmt.Errorf("swing and peak are of a rhythm: add rhythm=day")
	case !daily:
		return rhythm{}, nil
	case !swings && published == rhythm{}:
		return rhythm{}, fmt.Errorf("of its daily rhythm nothing is published: say how far the share of hosts goes to " +
			"either side, such as swing=0.1")
	}
	return r, nil
}

// text is the rhythm as it is asked for.
func (r rhythm) text() string {
	if r == (rhythm{}) {
		return ""
	}
	return fmt.Sprintf(":rhythm=day,swing=%v,peak=%v", r.swing, r.peak)
}

// A wave pulls at a host through the day: where it is high a host is up rather than down. Its
// height is found by fitWave. A nil wave pulls nowhere.
type wave struct {
	period  float64    // hours
	through bool       // intervals go on from day to day; else nothing is seen behind the period
	first   float64    // by how much the share differs from its mean at the opening
	pull    complex128 // height and phase, from the opening on
	// even is, by length, the logarithm of the weight that a length has over all hours in the
	// mean: of down intervals, and of up ones.
	even [2][evenSteps + 1]float64
}

// evenSteps are so many lengths of a period, and hours of it, at which weights are averaged.
const evenSteps = 48

// set gives the wave a height and a phase.
func (w *wave) set(pull complex128) {
	w.pull = pull
	for k, toward := range towards {
		for i := range w.even[k] {
			sum := 0.0
			for j := range evenSteps {
				at := w.period * (float64(j) + .5) / evenSteps
				sum += math.Exp(toward * w.over(at, w.period*float64(i)/evenSteps))
			}
			w.even[k][i] = math.Log(sum / evenSteps)
		}
	}
}

// towards is how the wave's sum counts for down and for up intervals.
var towards = [2]float64{-1, 1}

// over is the wave summed from an hour after the opening for a length.
func (w *wave) over(at, length float64) float64 {
	omega := 2 * math.Pi / w.period
	up := func(hour float64) float64 {
		return imag(cmplx.Conj(w.pull)*cmplx.Exp(complex(0, omega*hour))) / omega
	}
	to := at + length
	if !w.through {
		to = max(at, min(to, w.period))
	}
	return up(to) - up(at)
}

// usual is the logarithm of the weight of a length over all hours in the mean.
func (w *wave) usual(kind int, length float64) float64 {
	if w.through {
		length = math.Mod(length, w.period)
	}
	x := min(length/w.period, 1) * evenSteps
	i := min(int(x), evenSteps-1)
	even := &w.even[kind]
	return even[i] + (x-float64(i))*(even[i+1]-even[i])
}

// upFirst says whether a host begins a day up, where a share of hosts would.
func (w *wave) upFirst(share float64, rng *rand.Rand) bool {
	if w != nil {
		share += w.first
	}
	return rng.Float64() < share
}

// lengths are what intervals of one host last, one after the other: next draws one that
// begins an hour after the opening.
type lengths interface {
	next(up bool, at float64) float64
}

// lengths returns those of two laws.
func (w *wave) lengths(up, down law, rng *rand.Rand) lengths {
	if w == nil {
		return &drawn{up, down, rng}
	}
	return &chosen{wave: w, rng: rng, urns: [2]urn{{law: down}, {law: up}}}
}

// drawn lengths are as the laws have them.
type drawn struct {
	up, down law
	rng      *rand.Rand
}

func (d *drawn) next(up bool, _ float64) float64 {
	if up {
		return d.up.draw(d.rng)
	}
	return d.down.draw(d.rng)
}

// chosen lengths come from urns: each is drawn as its law has it, and waits for an hour that
// suits it. So over time they have the law that they were drawn by, and only their order is
// the rhythm's. A length that suits some hour better than most is not taken sooner for that:
// its weight is by what it has at other hours.
type chosen struct {
	wave *wave
	rng  *rand.Rand
	urns [2]urn // of down and of up intervals
}

// urnSize is of how many lengths one is chosen. With 4 SDSC's rhythm could not be had; with 12
// so many lengths were held back in the end that those of a month were off their law.
const urnSize = 6

// An urn has lengths that were drawn and not used yet.
type urn struct {
	law  law
	held []float64
}

func (c *chosen) next(up bool, at float64) float64 {
	kind := 0
	if up {
		kind = 1
	}
	u, toward := &c.urns[kind], towards[kind]
	for len(u.held) < urnSize {
		u.held = append(u.held, u.law.draw(c.rng))
	}
	var weight [urnSize]float64
	sum := 0.0
	for i, length := range u.held {
		weight[i] = math.Exp(toward*c.wave.over(at, length) - c.wave.usual(kind, length))
		sum += weight[i]
	}
	x, i := c.rng.Float64()*sum, 0
	for ; i < urnSize-1 && x >= weight[i]; i++ {
		x -= weight[i]
	}
	length := u.held[i]
	u.held[i] = u.law.draw(c.rng)
	return length
}
