package migrate

import (
	"fmt"
	"math/rand/v2"
	"time"

	"godwit/internal/spec"
	"godwit/predictor"
	"godwit/task"
)

func init() {
	Register("pspp", Kind{
		Params: "p interval t hosts n reading missing_days absent weights",
		Does:   "every interval, tasks move from members that stay for p with probability under t (Zhang's PSPP)",
		Make:   func(ps *spec.Params) Policy { return newPSPP(ps) },
	})
}

// tdeParams are the parameters of the published predictor. M is always 1.
var tdeParams = []string{"n", "reading", "missing_days", "absent", "weights"}

// PSPP is periodical scanning plus predictor (Zhang section 4.3.1, Fig 4-14): a
// member is predicted to go when its probability of staying for the prediction
// period is below the threshold, which is 1 in the thesis: see predictor.Threshold. Of a member without
// history it predicts a stay.
type PSPP struct {
	scope
	period    time.Duration // P
	interval  time.Duration
	threshold float64
	oracle    string
	out       []Prediction
}

func newPSPP(ps *spec.Params) *PSPP {
	p := &PSPP{scope: newScope(ps), period: ps.Duration("p", 10*time.Minute), threshold: ps.Number("t", predictor.Threshold(ps.With()), 0, 1),
		oracle: "tde"}
	p.interval = ps.Duration("interval", p.period) // as in the experiments
	if own := ps.Pass(tdeParams...); own != "" {
		p.oracle = "tde:" + own
	}
	if own, why := predictor.Own(ps.With()); !own {
		ps.Ignore(why, tdeParams...)
	}
	if _, err := predictor.Parse(p.oracle); err != nil {
		ps.Fail(err)
	}
	return p
}

// Predictor implements Foreteller. M is always 1.
func (p *PSPP) Predictor() string { return p.oracle }

// slip is what a sum of weights that should be 1 may lack.
const slip = 1e-9

// Scan implements Policy.
func (p *PSPP) Scan(now time.Time, hosts []Host, f Forecast, _ *rand.Rand) []Prediction {
	p.out = p.out[:0]
	for i := range hosts {
		h := &hosts[i]
		if !p.includes(h) {
			continue
		}
		stay, known := f.Stay(h.Peer, now, p.period)
		q := Prediction{Peer: h.Peer, For: p.period, Blind: !known, Exit: known && stay < p.threshold-slip}
		if q.Exit {
			q.words, q.gain, q.x, q.y = stayWords, longerStay, stay, p.threshold
		}
		p.out = append(p.out, q)
	}
	return p.out
}

// longerStay is how much more likely a task's destination stays.
func longerStay(p *Prediction, there Destination) float64 { return there.Stay - p.x }

func stayWords(p *Prediction) string {
	return fmt.Sprintf("it stays for %v with probability %.3g, under %.3g", p.For, p.x, p.y)
}

// Left implements Policy.
func (p *PSPP) Left(task.PeerID, time.Time) {}

// Period implements Policy.
func (p *PSPP) Period() time.Duration { return p.interval }
