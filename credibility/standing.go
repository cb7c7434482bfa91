package credibility

import "time"

// A result that nobody ran again is final once its worker stayed clean for a while after it. A
// worker that errs, or lies, tends to do so again (Kondo et al. 2007), and is found meanwhile.
const (
	// FinalAudits is the number of later audits of its worker that make a result final. A worker that makes every
	// tenth result wrong is found by then with probability .88.
	FinalAudits = 20
	// FinalAfter is the time after which a single later audit suffices, if FinalAudits were right in all. Fewer say
	// too little: of ten keys with every second result wrong, one passes three audits.
	FinalAfter = 30 * 24 * time.Hour
)

// A Mark is what was known of a worker when a result of it was accepted.
type Mark struct {
	Audits int       // Credit.Audits by then
	At     time.Time // when that was
}

// Mark returns what is known of a worker now.
func (c *Credit) Mark(now time.Time) Mark { return Mark{c.Audits, now} }

// Final reports whether a result that was accepted at a mark is final. Its worker was never found wrong, and was found
// right FinalAudits times since the mark. After FinalAfter, a single one of these audits has to be later than the mark.
// Time alone does not suffice: a key that never returns would be the best off.
func (c *Credit) Final(m Mark, now time.Time) bool {
	least := m.Audits + FinalAudits
	if now.Sub(m.At) >= FinalAfter {
		least = max(m.Audits+1, FinalAudits)
	}
	return c.Faults == 0 && c.Audits >= least
}
