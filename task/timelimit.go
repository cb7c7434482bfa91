package task

import "time"

// The time limit of an attempt where the job file states none.
const (
	// limitFactor times the owner's guess of the work: a volunteer's machine
	// may be several times slower than the reference core, and guesses are low.
	limitFactor = 20
	// leastLimit leaves a small guess room for start-up on a busy machine.
	leastLimit = 10 * time.Minute
	// defaultLimit holds where nothing is known of the work. It frees the slot
	// that an endless loop would hold for ever.
	defaultLimit = 24 * time.Hour
)

// TimeLimit returns how long one attempt may run before it has timed out:
// Timeout, or 20 times Work but at least 10 minutes, or 24 hours where Work is
// unknown. It is never 0.
func (j *Job) TimeLimit() time.Duration {
	switch {
	case j.Timeout > 0:
		return j.Timeout
	case j.Work > 0:
		return max(limitFactor*j.Work, leastLimit)
	}
	return defaultLimit
}
