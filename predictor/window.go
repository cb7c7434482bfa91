package predictor

import (
	"time"

	"godwit/trace"
)

// windowed looks at the time just before now: the sliding windows of Dinda as
// Rood and Lewis compare them. With one state it is the share of the window that
// the host was there, a score that does not depend on the horizon; with more it
// counts runs of the horizon's length against exits, as TDE does.
type windowed struct {
	past  past
	span  int64
	multi bool
}

func (w *windowed) Observe(at time.Time, s trace.State) {
	w.past.change(millis(at), s == trace.Available, false)
}

func (w *windowed) Blind(at time.Time) { w.past.change(millis(at), false, true) }

func (w *windowed) Stay(now time.Time, d time.Duration) (float64, bool) {
	at := millis(now)
	known := w.past.spell.seen(at)
	if d <= 0 {
		return 1, known
	}
	if !w.past.spell.begun {
		return 1, false
	}
	from := max(at-w.span, w.past.spell.first)
	if !w.multi {
		there := int64(0)
		w.past.window(from, at, at, func(up bool, length int64) {
			if up {
				there += length
			}
		})
		return (float64(there) + 1) / (float64(at-from) + 1), known
	}
	l := max(1, d.Milliseconds())
	var fits, exits int64
	was := false
	w.past.window(from, at, at, func(up bool, length int64) {
		if up {
			fits += length / l
		} else if was {
			exits++
		}
		was = up
	})
	if fits+exits == 0 {
		return 0, known
	}
	return float64(fits) / float64(fits+exits), known
}

const defaultSpan = 24 * time.Hour

func windowModel(ps *Params) func(*Pool) Predictor {
	span := ps.Duration("span", defaultSpan).Milliseconds()
	multi := ps.Choice("states", "multi", "single") == 0
	return func(*Pool) Predictor {
		return &windowed{past: past{keep: span}, span: max(1, span), multi: multi}
	}
}

// semiMarkov is the predictor of Ren et al. (HPDC 2006) for hosts that a task
// can use in one state and that every other state fails: the semi-Markov process
// then comes down to how long the host stays in that one state, taken from its
// sojourns in the same window of recent days. Sojourns that the window cuts off
// are censored there. As published the window is the horizon, so more sojourns
// count for a longer one, and the answer may rise a little with it.
type semiMarkov struct {
	past past
	days int
}

func (m *semiMarkov) Observe(at time.Time, s trace.State) {
	m.past.change(millis(at), s == trace.Available, false)
}

func (m *semiMarkov) Blind(at time.Time) { m.past.change(millis(at), false, true) }

// A sojourn is a stay of a length, ended by an exit or cut off.
type sojourn struct {
	length int64
	exit   bool
}

func (m *semiMarkov) Stay(now time.Time, d time.Duration) (float64, bool) {
	at, ms := millis(now), d.Milliseconds()
	known := false
	var all []sojourn
	for i := int64(1); i <= int64(m.days); i++ {
		from := at - i*msPerDay
		if !m.past.known(from) {
			continue
		}
		known = true
		var run int64
		m.past.window(from, from+ms, at, func(up bool, length int64) {
			if up {
				run += length
				return
			}
			if run > 0 {
				all = append(all, sojourn{run, true})
			}
			run = 0
		})
		if run > 0 {
			all = append(all, sojourn{run, false})
		}
	}
	if d <= 0 || len(all) == 0 {
		return 1, known
	}
	return productLimit(all, ms), known
}

func renModel(ps *Params) func(*Pool) Predictor {
	days := ps.Integer("days", 5, 1, mostDays)
	return func(*Pool) Predictor {
		return &semiMarkov{past: past{keep: int64(days+1) * msPerDay}, days: days}
	}
}
