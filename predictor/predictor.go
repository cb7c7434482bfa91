package predictor

import (
	"time"

	"godwit/trace"
)

// A Predictor follows one host. It is for one goroutine at a time.
type Predictor interface {
	// Observe tells that the host has been in a state since at. Calls come in
	// the order of time. What follows a change is not known until the next one:
	// the running spell is censored at whatever time is asked about.
	Observe(at time.Time, s trace.State)

	// Stay is the probability that the host, available at now, stays available
	// without a break for d. It is 1 at d = 0 and does not increase with d.
	// known is false when the answer rests on nothing seen of this host, such as
	// before its first day; then p is what the predictor holds of hosts at large.
	Stay(now time.Time, d time.Duration) (p float64, known bool)
}
