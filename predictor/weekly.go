package predictor

import (
	"fmt"
	"math"
	"time"

	"godwit/trace"
)

// WeeklyConfig says how a Weekly predicts. The zero value is the published default.
type WeeklyConfig struct {
	// Slots is the number of equal intervals of a day, P; 0 is 24, which the
	// publication leaves to its users.
	Slots int
	// Weights are w_1 to w_K of the weighted window (3.1), the latest week's first;
	// nil is 0.4, 0.3, 0.2, 0.1. They need not sum to 1.
	Weights []float64
	// Recursive has (3.2) in place of (3.1), with Share c of the latest reading; 0 is
	// 0.5. Weights is not looked at then.
	Recursive bool
	Share     float64
}

const (
	weeklySlots, mostWeeklySlots = 24, 288 // of a day; 5 minutes are the shortest
	mostWeeks                    = 52
	weeklyShare                  = 0.5
	// weeklyFirst is the first prediction of (3.2), and what is said without any
	// reading.
	weeklyFirst = 0.5
)

// complete fills in what is zero and refuses what is out of range.
func (c *WeeklyConfig) complete() error {
	if c.Slots == 0 {
		c.Slots = weeklySlots
	}
	if c.Weights == nil {
		c.Weights = []float64{.4, .3, .2, .1}
	}
	if c.Share == 0 {
		c.Share = weeklyShare
	}
	if c.Slots < 1 || c.Slots > mostWeeklySlots || len(c.Weights) > mostWeeks || !(c.Share > 0 && c.Share <= 1) {
		return fmt.Errorf("weekly with slots=%d, %d weights, c=%v: slots is 1 to %d, weights are at most %d, c is above 0, "+
			"at most 1", c.Slots, len(c.Weights), c.Share, mostWeeklySlots, mostWeeks)
	}
	sum := 0.0
	for _, w := range c.Weights {
		if !(w >= 0 && w <= 1e6) {
			return fmt.Errorf("weekly with a weight of %v: none is negative, or above a million", w)
		}
		sum += w
	}
	if sum == 0 {
		return fmt.Errorf("weekly with weights of sum 0: one is above 0")
	}
	return nil
}

// Weekly predicts a host's availability in an interval of a day from the same
// interval of the same weekday in earlier weeks (Kokaly 2008, section 3.2), either by
// a weighted window,
//
//	(3.1) a_j = sum over k of w_k a_{j-k} / sum of w_k
//
// or by exponential smoothing,
//
//	(3.2) a_j = c a_{j-1} + (1-c) predicted a_{j-1}
//
// with a_{j-k} what was measured k weeks before. Weeks in which nobody looked at an
// interval are left out, and of (3.1) their weights with them. It can be told
// readings, such as the share of the processor that tasks would have got; as a
// Predictor it takes for one the share of each interval that the host was there.
// Weekdays and intervals are those of UTC.
type Weekly struct {
	config WeeklyConfig
	length int64 // of an interval, ms
	cells  [][]float64

	spell    spell
	upTo     int64 // what is before it is booked
	up, seen int64 // of the interval that upTo is in
}

// NewWeekly returns the predictor of one host. The error names what is out of range.
func NewWeekly(c WeeklyConfig) (*Weekly, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	return &Weekly{config: c, length: msPerDay / int64(c.Slots)}, nil
}

// cell is the interval of the week that contains a time.
func (w *Weekly) cell(at int64) int {
	const week = 7 * msPerDay
	in := (at%week + week) % week
	return int(min(in/msPerDay*int64(w.config.Slots)+in%msPerDay/w.length, int64(7*w.config.Slots-1)))
}

// Read tells the availability, 0 to 1, that was measured in the interval that
// contains a time. Calls come in the order of time.
func (w *Weekly) Read(at time.Time, availability float64) { w.read(w.cell(millis(at)), availability) }

func (w *Weekly) read(cell int, a float64) {
	if w.cells == nil {
		w.cells = make([][]float64, 7*w.config.Slots)
	}
	a = min(1, max(0, a))
	c := w.cells[cell]
	switch {
	case w.config.Recursive && len(c) == 0:
		w.cells[cell] = []float64{w.config.Share*a + (1-w.config.Share)*weeklyFirst}
	case w.config.Recursive:
		c[0] = w.config.Share*a + (1-w.config.Share)*c[0]
	case len(c) < len(w.config.Weights):
		w.cells[cell] = append([]float64{a}, c...)
	default:
		copy(c[1:], c)
		c[0] = a
	}
}

// Availability is what is predicted for the interval that contains a time. known is
// false, and a 0.5, where no earlier week tells of it.
func (w *Weekly) Availability(at time.Time) (a float64, known bool) {
	return w.availability(w.cell(millis(at)))
}

func (w *Weekly) availability(cell int) (a float64, known bool) {
	if w.cells == nil || len(w.cells[cell]) == 0 {
		return weeklyFirst, false
	}
	c := w.cells[cell]
	if w.config.Recursive {
		return c[0], true
	}
	sum, total := 0.0, 0.0
	for k, v := range c {
		sum += w.config.Weights[k] * v
		total += w.config.Weights[k]
	}
	if total == 0 {
		return weeklyFirst, false
	}
	return sum / total, true
}

// Observe implements Predictor.
func (w *Weekly) Observe(at time.Time, s trace.State) {
	w.change(millis(at), s == trace.Available, false)
}

// Blind implements Blinder.
func (w *Weekly) Blind(at time.Time) { w.change(millis(at), false, true) }

func (w *Weekly) change(at int64, up, blind bool) {
	w.pass(at)
	w.spell.turn(at, up, blind)
}

// pass books the time up to now by intervals.
func (w *Weekly) pass(now int64) {
	if !w.spell.begun {
		w.upTo = now
		return
	}
	// No more weeks can matter than are kept, however long nothing changed.
	if least := now - int64(mostWeeks+1)*7*msPerDay; w.upTo < least {
		w.upTo, w.up, w.seen = least, 0, 0
	}
	for w.upTo < now {
		day := w.upTo - (w.upTo%msPerDay+msPerDay)%msPerDay
		end := day + min(((w.upTo-day)/w.length+1)*w.length, msPerDay)
		if int((w.upTo-day)/w.length) >= w.config.Slots-1 {
			end = day + msPerDay // the last has what division leaves
		}
		part := min(now, end) - w.upTo
		if !w.spell.blind {
			w.seen += part
			if w.spell.up {
				w.up += part
			}
		}
		if w.upTo+part == end {
			// An interval that was seen for less than half tells of another time.
			if w.seen*2 >= w.length {
				w.read(w.cell(w.upTo), float64(w.up)/float64(w.seen))
			}
			w.up, w.seen = 0, 0
		}
		w.upTo += part
	}
}

// Stay is the least availability that is predicted for the intervals that d
// touches: a score that falls with the horizon, no probability, as (3.1) and (3.2)
// predict shares of time. Intervals of which no week tells leave it as it is.
func (w *Weekly) Stay(now time.Time, d time.Duration) (float64, bool) {
	at := millis(now)
	w.pass(at)
	if d <= 0 {
		_, known := w.availability(w.cell(at))
		return 1, known
	}
	least, any := 1.0, false
	const week = 7 * msPerDay
	for end := at + min(d.Milliseconds(), week); at <= end; at += w.length {
		if a, known := w.availability(w.cell(at)); known {
			least, any = min(least, a), true
		}
	}
	if a, known := w.availability(w.cell(millis(now.Add(min(d, week*time.Millisecond))))); known {
		least, any = min(least, a), true
	}
	return least, any
}

// weeklyModel reads a Weekly's parameters. Weights have a slash between them, the
// latest week's first.
func weeklyModel(ps *Params) func(*Pool) Predictor {
	c := WeeklyConfig{
		Slots: ps.Integer("slots", weeklySlots, 1, mostWeeklySlots), Weights: ps.Numbers("weights"),
		Recursive: ps.Choice("by", "weights", "recursion") == 1,
		Share:     ps.Number("c", weeklyShare, math.SmallestNonzeroFloat64, 1),
	}
	ps.Fail(c.complete())
	return func(*Pool) Predictor {
		w, err := NewWeekly(c)
		if err != nil {
			panic("predictor: " + err.Error()) // it was complete above
		}
		return w
	}
}
