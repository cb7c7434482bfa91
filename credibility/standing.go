package credibility

import "time"

// A result that nobody ran again is final once its worker stayed clean for a while after it. A
// worker that errs, or lies, tends to do so again (Kondo et al. 2007), and is found meanwhile.
const (
	// FinalAudits is for how many more audits of its worker a result waits. One that makes every
	// tenth result wrong is found by then with .88.
	FinalAudits = 20
	// FinalAfter is the time after which a single later audit suffices.
	FinalAfter = 30 * 24 * time.Hour
)

// A Mark is what was known of a worker when a result of it was accepted.
type Mark struct {
	Audits int       // Credit.Audits by then
	At     time.Time // when that was
}

// Mark returns what is known of a worker now.
func (c *Credit) Mark(now time.Time) Mark { return Mark{c.Audits, now} }

// Final reports whether a result that was accepted at a mark is final: its worker was found right
// FinalAudits times since then, or at least once and FinalAfter has passed, and it was never found wrong. Time alone
// does not suffice: a key that never returns would be the best off.
func (c *Credit) Final(m Mark, now time.Time) bool {
	return c.Faults == 0 && (c.Audits >= m.Audits+FinalAudits || c.Audits > m.Audits && now.Sub(m.At) >= FinalAfter)
}
