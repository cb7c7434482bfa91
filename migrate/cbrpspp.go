package migrate

import (
	"math/rand/v2"
	"time"

	"godwit/internal/spec"
	"godwit/task"
)

func init() {
	Register("cbr-pspp", Kind{
		Params: "threshold adjustment incorrect low high p interval t hosts n reading missing_days absent weights",
		Does:   "every interval, tasks move from members that CBR or PSPP predict to go (both of Zhang's, with one interval)",
		Make:   func(ps *spec.Params) Policy { return newEither(ps) },
	})
}

// Either predicts an exit where CBR or PSPP predicts one. Both scan at PSPP's
// interval. CBR adjusts its threshold by its own predictions alone.
type Either struct {
	cbr  *CBR
	pspp *PSPP
	out  []Prediction
}

func newEither(ps *spec.Params) *Either {
	e := &Either{cbr: newCBR(ps), pspp: newPSPP(ps)}
	e.cbr.interval = e.pspp.interval
	return e
}

// Predictor implements Foreteller.
func (e *Either) Predictor() string { return e.pspp.Predictor() }

// Scan implements Policy. The reason of an exit that both predict is PSPP's. Both look at the same hosts.
func (e *Either) Scan(now time.Time, hosts []Host, f Forecast, rng *rand.Rand) []Prediction {
	e.out = append(e.out[:0], e.pspp.Scan(now, hosts, f, rng)...)
	for i, p := range e.cbr.Scan(now, hosts, f, rng) {
		if p.Exit && !e.out[i].Exit {
			e.out[i] = p
		}
	}
	return e.out
}

// Left implements Policy.
func (e *Either) Left(peer task.PeerID, at time.Time) {
	e.cbr.Left(peer, at)
	e.pspp.Left(peer, at)
}

// Period implements Policy.
func (e *Either) Period() time.Duration { return e.pspp.interval }
