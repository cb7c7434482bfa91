package trace

import (
	"fmt"
	"math"
	"math/cmplx"
)

// How a wave's pull is found: of so many hosts, or fewer with so many spells, for so many
// days, how far the share goes. So a swing comes out within some .003 for the heaviest
// tails, in about a second.
const (
	fitHosts  = 8000
	fitSpells = 200_000
	fitDays   = 7
	fitTries  = 8
	// fitNear ends the search; fitFar is what is no longer the swing that was asked for.
	fitNear      = 0.001
	fitFar       = 0.004
	fitFarShare  = 0.1
	mostPullStep = 2.0  // times as much pull as in the try before
	leastSpread  = 0.05 // of p(1-p), where nearly all hosts are up or down
)

// fitWave finds what pull gives a kind's hosts the rhythm. It looks at hosts of a seed of
// their own, so a rhythm is the same for each seed.
func (g *generator) fitWave(r rhythm) (*wave, error) {
	if r == (rhythm{}) {
		return nil, nil
	}
	base, share, err := g.harmonic(nil)
	if err != nil {
		return nil, err
	}
	w := &wave{period: g.window.Length().Hours(), through: g.through}
	turn := cmplx.Exp(complex(0, 2*math.Pi*(r.peak-g.window.From.Hours())/w.period))
	wanted := complex(r.swing, 0) * turn
	w.first = real(wanted)
	// To begin with: hosts that forget their past within a part of the period.
	pull := (wanted - base) / complex(max(share*(1-share), leastSpread)*w.period/(2*math.Pi), 0)
	most, best, off := 0.0, pull, math.Inf(1)
	for range fitTries {
		w.set(pull)
		got, _, err := g.harmonic(w)
		if err != nil {
			return nil, err
		}
		most = max(most, real(got/turn))
		if now := cmplx.Abs(wanted - got); now < off {
			best, off = pull, now
		}
		gain := (got - base) / pull
		if off < fitNear || gain == 0 {
			break
		}
		step := (wanted - got) / gain
		if farthest := mostPullStep * cmplx.Abs(pull); cmplx.Abs(step) > farthest {
			step *= complex(farthest/cmplx.Abs(step), 0)
		}
		pull += step
	}
	w.set(best)
	if off > max(fitFar, fitFarShare*r.swing) {
		return nil, fmt.Errorf("a swing of %.3g is more than hosts can have whose intervals are as long as theirs: "+
			"%.2g was the most", r.swing, most)
	}
	return w, nil
}

// harmonic makes hosts and returns the first harmonic of the share of them that is up over
// the window, and its mean.
func (g *generator) harmonic(w *wave) (first complex128, share float64, err error) {
	t := g.frame(SynthConfig{Days: fitDays, Start: g.start})
	omega := 2 * math.Pi / g.window.Length().Hours()
	wave := func(hour float64) complex128 { return complex(math.Sin(omega*hour), -math.Cos(omega*hour)) }
	opens := midnight(t.Start).Add(g.window.From)
	up, all := 0.0, 0.0
	for n, spells := 0, 0; n < fitHosts && spells < fitSpells; n++ {
		h := Host{History: &History{}}
		if err := g.host(&h, t, hostRand(g.kind+" rhythm", 0, n), w); err != nil {
			return 0, 0, err
		}
		spells += h.History.Len()
		for i := range h.History.Len() {
			s := h.History.Spell(i)
			if s.State == Unobserved {
				continue
			}
			all += s.Length().Hours()
			if s.State == Available {
				up += s.Length().Hours()
				// Windows are opened each day at one phase, so a day's hours count from there.
				from := s.Start.Sub(opens) % day
				first += wave((from + s.Length()).Hours()) - wave(from.Hours())
			}
		}
	}
	return first * complex(2/(omega*all), 0), up / all, nil
}
