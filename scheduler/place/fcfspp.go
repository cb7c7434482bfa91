package place

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"godwit/internal/spec"
	"godwit/predictor"
)

func init() {
	Register("fcfspp", Kind{
		Params: fcfsppParams + " " + tdeParams,
		Does:   "idle members in turn, each only if it stays for the task with probability t or more (Zhang's FCFSPP)",
		Make:   func(ps *spec.Params) Policy { return newFCFSPP(ps) },
	})
}

// Parameters that several policies have.
const (
	fcfsppParams = "t ahead blocked"
	tdeParams    = "n m reading missing_days weights"
)

// again is how often a policy that leaves tasks waiting looks anew: a forecast
// changes without any event. The thesis names no interval; its jobs arrive each
// minute.
const again = time.Minute

// FCFSPP is first come, first served plus a predictor (Zhang section 4.2.3): the
// task at the head goes to the next idle member, in turn, whose probability of
// staying for the task's length is at least Threshold. If there is none, the
// task waits and those behind it wait too. Members without history qualify.
type FCFSPP struct {
	Threshold float64 // T, 0 to 1. 0 is FCFS, 1 (the thesis's setting) the most careful: see predictor.Threshold
	Skip      bool    // a task that nobody qualifies for lets those of other jobs pass
	turn      Turn
	oracle    string
}

func newFCFSPP(ps *spec.Params) *FCFSPP {
	return &FCFSPP{
		Threshold: ps.Number("t", predictor.Threshold(ps.With()), 0, 1),
		Skip:      ps.Choice("blocked", "wait", "pass") == 1,
		turn:      Turn{Ahead: ps.Choice("ahead", "no", "yes") == 1},
		oracle:    tde(ps),
	}
}

// tde reads the parameters of the published predictor and names it. With another predictor they have no effect.
func tde(ps *spec.Params) string {
	if own, why := predictor.Own(ps.With()); !own {
		ps.Ignore(why, strings.Fields(tdeParams)...)
	}
	ps.Integer("n", 1, 1, 31)
	ps.Integer("m", 1, 1, 24)
	ps.Choice("reading", "transitional", "prefix", "fraction")
	ps.Choice("missing_days", "zero", "skip")
	if own := ps.Pass("n", "m", "reading", "missing_days", "weights"); own != "" {
		return "tde:" + own
	}
	return "tde"
}

// Traits implements Policy.
func (p *FCFSPP) Traits() Traits {
	return Traits{Predictor: p.oracle, Again: again, Waits: p.waits}
}

// waits implements Traits.Waits.
func (p *FCFSPP) waits(now time.Time, t *Task, hosts []Host, f Forecast) string {
	best, length := -1.0, t.Work
	for i := range hosts {
		h := &hosts[i]
		if !h.Fits(t) {
			continue
		}
		stay, known := f.Stay(h.Peer, now, h.Length(t))
		if !known || qualifies(stay, p.Threshold) {
			return ""
		}
		if stay > best {
			best, length = stay, h.Length(t)
		}
	}
	if best < 0 {
		return ""
	}
	return fmt.Sprintf("no member is predicted to stay %v with probability %.3g or more; the best is %.3g",
		length.Round(time.Second), p.Threshold, best)
}

// Place implements Policy.
func (p *FCFSPP) Place(now time.Time, queue Queue, hosts []Host, f Forecast, _ *rand.Rand) []Placement {
	return p.place(now, queue, hosts, f, func() {})
}

// place calls foreseen before it uses a forecast that rests on something; what
// that does to the threshold holds at once.
func (p *FCFSPP) place(now time.Time, queue Queue, hosts []Host, f Forecast, foreseen func()) []Placement {
	r := p.turn.round.begin(hosts)
	r.ahead, r.skip = p.turn.Ahead, p.Skip
	return r.fill(queue, false, func(t *Task, open []*Host) (int, Reason, bool) {
		return p.turn.next(t, open, func(h *Host) (Reason, bool) {
			length := h.Length(t)
			stay, known := f.Stay(h.Peer, now, length)
			if !known {
				return Because("next in order; the next in turn, of which nothing is known that speaks against it"), true
			}
			foreseen()
			if !qualifies(stay, p.Threshold) {
				return Reason{}, false
			}
			return Reason{words: stayWords, n: int64(length), x: stay, y: p.Threshold}, true
		})
	})
}

func stayWords(r *Reason) string {
	return fmt.Sprintf("next in order; the next in turn that stays for %v with probability %.3g, and %.3g is asked for",
		time.Duration(r.n).Round(time.Second), r.x, r.y)
}

// slip is what a sum of weights that should be 1 may lack.
const slip = 1e-9

// qualifies includes equality: a threshold of 1 could not be passed otherwise.
func qualifies(stay, threshold float64) bool { return stay >= threshold-slip }
