package predictor

import (
	"fmt"
	"time"

	"godwit/trace"
)

// A Reading is what TDE makes of one past day. The thesis defines the first and
// uses the second in examples (docs/spec/zhang.md section 3.4).
type Reading uint8

// The readings.
const (
	Transitional Reading = iota // Eq 4.1: runs of the job's length over those and the exits
	Prefix                      // the time until the first exit over the window
	Fraction                    // the time available over the window
)

// Missing is what TDE makes of a checking day on which the host was not known.
type Missing uint8

// The ways with missing days.
const (
	MissingZero Missing = iota // it counts as a day without availability
	MissingSkip                // it does not count
)

// Absent is what TDE makes of a checking window that has neither an exit nor time
// for a job, most often because the host was away all through it: Eq 4.1 is then
// 0/0, under the Transitional reading.
type Absent uint8

// The ways with such windows.
const (
	AbsentLeaves Absent = iota // probability 0: a host that was away is not qualified (Appendix B.I)
	AbsentStays                // probability 1: no exit was seen (the counts of section 7.5 are of exits)
)

// TDEConfig are the parameters of TDE.
type TDEConfig struct {
	N       int // checking days, 1 to 31; 0 is 1
	M       int // window in job lengths, 1 to 24; 0 is 1
	Reading Reading
	Missing Missing
	Absent  Absent

	// Weights of the days, oldest first, N of them, none negative, of sum 1; nil
	// is all alike. (Eq 7.3 and 7.4 number the days so.)
	Weights []float64
}

// Most that TDE keeps: a month of days, a window of a day of jobs.
const (
	mostDays   = 31
	mostFactor = 24
	weightSlip = 1e-6 // of weights written with a few digits, from a sum of 1
)

// Validate fills in what is zero and refuses what is out of range.
func (c *TDEConfig) Validate() error {
	if c.N == 0 {
		c.N = 1
	}
	if c.M == 0 {
		c.M = 1
	}
	if c.N < 1 || c.N > mostDays || c.M < 1 || c.M > mostFactor {
		return fmt.Errorf("TDE with n=%d, m=%d: n is 1 to %d, m is 1 to %d", c.N, c.M, mostDays, mostFactor)
	}
	if c.Weights == nil {
		return nil
	}
	sum := 0.0
	for _, w := range c.Weights {
		if !(w >= 0) {
			return fmt.Errorf("TDE with a weight of %v: none is negative", w)
		}
		sum += w
	}
	if len(c.Weights) != c.N || sum < 1-weightSlip || sum > 1+weightSlip {
		return fmt.Errorf("TDE with %d weights of sum %v: there are n=%d, of sum 1", len(c.Weights), sum, c.N)
	}
	return nil
}

// TDE predicts from the same window of the last N days (Rood and Lewis 2008;
// Zhang section 4.2.1). Its answer does not increase with the horizon when M is
// 1 and the reading is Transitional, or the reading is Prefix; Fraction, and
// Transitional with M above 1, are not monotone as published.
type TDE struct {
	config TDEConfig
	past   past
}

// NewTDE returns the predictor of one host; it panics on a config that Validate
// refuses.
func NewTDE(c TDEConfig) *TDE {
	if err := c.Validate(); err != nil {
		panic("predictor: " + err.Error())
	}
	return &TDE{config: c, past: past{keep: int64(c.N+1) * msPerDay}}
}

// Observe tells of a change.
func (t *TDE) Observe(at time.Time, s trace.State) {
	t.past.change(millis(at), s == trace.Available, false)
}

// Blind tells that observation stopped.
func (t *TDE) Blind(at time.Time) { t.past.change(millis(at), false, true) }

// Stay is the Resource Availability Probability (Eq 4.2) of a job of length d.
// Without a known day it is 1, false: the thesis then places jobs as if there
// were no predictor.
func (t *TDE) Stay(now time.Time, d time.Duration) (p float64, known bool) {
	ms := max(1, d.Milliseconds())
	at := millis(now)
	n := t.config.N
	sum, total := 0.0, 0.0
	for i := 1; i <= n; i++ {
		w := 1 / float64(n)
		if t.config.Weights != nil {
			w = t.config.Weights[n-i]
		}
		from := at - int64(i)*msPerDay
		if t.past.known(from) {
			known = true
			sum += w * t.day(from, ms, at)
			total += w
		} else if t.config.Missing == MissingZero {
			total += w
		}
	}
	switch {
	case d <= 0:
		return 1, known
	case !known:
		return 1, false
	case total == 0: // all weight is on days that are missing
		return 0, true
	}
	return min(1, sum/total), true
}

// day is P_day of the checking day whose window begins at from, for a job of l.
func (t *TDE) day(from, l, now int64) float64 {
	window := int64(t.config.M) * l
	var fits, exits, there, prefix, run int64
	broken := false
	t.past.window(from, from+window, now, func(up bool, length int64) {
		if up {
			there += length
			run += length
			return
		}
		if run > 0 {
			exits++
			fits += run / l
		}
		if !broken {
			prefix, broken = run, true
		}
		run = 0
	})
	fits += run / l
	if !broken {
		prefix = run
	}
	switch {
	case t.config.Reading == Prefix:
		return float64(prefix) / float64(window)
	case t.config.Reading == Fraction:
		return float64(there) / float64(window)
	case fits+exits == 0 && t.config.Absent == AbsentStays:
		return 1
	case fits+exits == 0:
		return 0
	}
	return float64(fits) / float64(fits+exits)
}
