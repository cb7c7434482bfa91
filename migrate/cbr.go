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
	Register("cbr", Kind{
		Params: "threshold adjustment interval incorrect low high hosts",
		Does: "every interval, tasks move from members whose guests get under a threshold of CPU, which adjusts itself " +
			"(Zhang's CBR)",
		Make: func(ps *spec.Params) Policy { return newCBR(ps) },
	})
}

// CBR is migration by case-based reasoning (Zhang section 4.3.2): the one case
// is a threshold on the percentage of its speed that a member gives to guests.
// Below it a member is predicted to go within the interval. When more of the
// last predictions were wrong than right, the threshold moves at random.
type CBR struct {
	scope
	threshold  float64 // percent
	adjustment float64 // most that one step moves it, in percentage points
	low, high  float64 // it stays strictly between, in percent
	interval   time.Duration
	alarmsOnly bool
	judge      Judge
	out        []Prediction
}

func newCBR(ps *spec.Params) *CBR {
	c := &CBR{
		scope:      newScope(ps),
		adjustment: ps.Number("adjustment", 5, 0, 100), // section 7.6
		low:        ps.Number("low", 0, 0, 100),
		high:       ps.Number("high", 100, 0, 100),
		interval:   ps.Duration("interval", 10*time.Minute),
		alarmsOnly: ps.Choice("incorrect", "alarms-and-missed", "alarms") == 1,
	}
	c.threshold = ps.Number("threshold", 25, 0, 100)
	if c.high-c.low < 3*edge {
		ps.Fail(fmt.Errorf("low=%v, high=%v: there is nothing between", c.low, c.high))
	} else if c.threshold <= c.low || c.threshold >= c.high {
		ps.Fail(fmt.Errorf("threshold=%v: it is between low=%v and high=%v", c.threshold, c.low, c.high))
	}
	return c
}

// edge is how near the threshold comes to a bound that it must not reach, in
// percentage points.
const edge = 0.01

// Threshold is the migration threshold now, in percent.
func (c *CBR) Threshold() float64 { return c.threshold }

// Scan implements Policy. It first revises by what came of the last scan.
func (c *CBR) Scan(now time.Time, hosts []Host, _ Forecast, rng *rand.Rand) []Prediction {
	if c.wrong(c.judge.Settle(now)) {
		c.adjust(c.adjustment * (2*rng.Float64() - 1))
	}
	c.out = c.out[:0]
	for i := range hosts {
		h := &hosts[i]
		if !c.includes(h) {
			continue
		}
		q := Prediction{Peer: h.Peer, For: c.interval, Exit: h.CPU < c.threshold}
		if q.Exit {
			q.words, q.gain, q.x, q.y = shareWords, greaterShare, h.CPU, c.threshold
		}
		c.out = append(c.out, q)
	}
	c.judge.Predicted(now, c.out)
	return c.out
}

// greaterShare is how much more of its CPU a task's destination gives to guests.
func greaterShare(p *Prediction, there Destination) float64 { return (there.CPU - p.x) / 100 }

func shareWords(p *Prediction) string {
	return fmt.Sprintf("guests get %.3g %% of its speed, under %.3g %%", p.x, p.y)
}

// wrong says whether the threshold should move. The thesis's text counts false
// alarms as incorrect; its example in section 8.1, where members go from above
// the threshold, needs missed exits to count as well.
func (c *CBR) wrong(o predictor.Outcomes) bool {
	incorrect := o.FA
	if !c.alarmsOnly {
		incorrect += o.MD
	}
	return incorrect > o.CP1
}

// adjust moves the threshold by points, within its bounds.
func (c *CBR) adjust(points float64) {
	c.threshold = min(c.high-edge, max(c.low+edge, c.threshold+points))
}

// Left implements Policy.
func (c *CBR) Left(peer task.PeerID, at time.Time) { c.judge.Left(peer, at) }

// Period implements Policy.
func (c *CBR) Period() time.Duration { return c.interval }
