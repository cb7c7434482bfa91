package place

import (
	"math/rand/v2"
	"time"

	"godwit/internal/spec"
)

func init() {
	Register("flp", Kind{
		Params: "lambda interval from " + fcfsppParams + " " + tdeParams,
		Does:   "fcfspp whose threshold rises when more tasks are lost than before and falls when not (Zhang's FLP)",
		Make: func(ps *spec.Params) Policy {
			p := &FLP{
				FCFSPP:    *newFCFSPP(ps),
				lambda:    ps.Number("lambda", 1, minLambda, 1e6),
				interval:  ps.Duration("interval", 10*time.Minute),
				fromStart: ps.Choice("from", "first-prediction-day", "start") == 1,
			}
			p.percent = p.Threshold * 100
			return p
		},
	})
}

// minLambda keeps the division by it finite.
const minLambda = 1e-6

// FLP is FCFSPP with fuzzy logic (Zhang section 4.2.4): at the end of each
// interval the threshold moves by up to one percentage point, up if more tasks
// were lost in it than in the one before, down if not.
type FLP struct {
	FCFSPP
	lambda    float64 // width of the fuzzy sets, in tasks
	interval  time.Duration
	fromStart bool

	percent float64 // the threshold; points do not add up to what they should as fractions
	begun   bool
	next    time.Time // end of the running interval
	lost    int       // in it
	before  int       // in the one before
}

// Traits implements Policy.
func (p *FLP) Traits() Traits {
	t := p.FCFSPP.Traits()
	t.Lost = p.Lost
	return t
}

// Lost implements Traits.Lost. Before the first adjustment interval it does not
// count.
func (p *FLP) Lost(now time.Time, tasks int) {
	if p.fromStart && !p.begun {
		p.begin(now)
	}
	if p.begun {
		p.advance(now)
		p.lost += tasks
	}
}

// Place implements Policy. With from=start the first interval begins at the
// first call, else at the first forecast that rests on something: the thesis's
// vectors need either (sections 7.3, B.II).
func (p *FLP) Place(now time.Time, queue Queue, hosts []Host, f Forecast, _ *rand.Rand) []Placement {
	if p.fromStart && !p.begun {
		p.begin(now)
	}
	if p.begun {
		p.advance(now)
	}
	return p.place(now, queue, hosts, f, func() {
		if !p.begun {
			p.begin(now)
		}
	})
}

func (p *FLP) begin(now time.Time) {
	p.begun = true
	p.next = now.Add(p.interval)
}

// quietest is how many quiet intervals, each of which lowers the threshold by a
// point but perhaps the first, bring it to 0 from anywhere.
const quietest = 102

// advance adjusts the threshold at the end of each interval up to now. After a
// long silence it is 0, and the intervals need not be counted.
func (p *FLP) advance(now time.Time) {
	for range quietest {
		if p.next.After(now) {
			return
		}
		p.percent = min(100, max(0, p.percent+adjustment(p.lost-p.before, p.lambda)))
		p.Threshold = p.percent / 100
		p.before, p.lost = p.lost, 0
		p.next = p.next.Add(p.interval)
	}
	if past := now.Sub(p.next); past >= 0 {
		p.next = p.next.Add((past/p.interval + 1) * p.interval)
	}
}

// adjustment is by how many percentage points, -1 to 1, the threshold moves when
// so many more tasks were lost than in the interval before (Eq 4.3, Fig 4-11).
// The sets negative, zero and positive have straight shoulders of width lambda
// and always sum to 1. The rule for zero lowers: B.II needs it.
func adjustment(more int, lambda float64) float64 {
	d := float64(more) / lambda
	negative := min(1, max(0, -d))
	positive := min(1, max(0, d))
	zero := 1 - negative - positive
	return positive*positive - negative*negative - zero*zero
}
