package worker

import (
	"slices"
	"time"

	"godwit/scheduler/message"
)

// keepArrived is how long a state is kept that arrived whole, of a task that did
// not: the leader fetches it if it is the best there is. At 20 Mbit/s half a
// gigabyte takes three and a half minutes.
const keepArrived = 5 * time.Minute

// arrivals are states whose tasks did not come with them, the oldest first.
type arrivals []arrivedState

// An arrivedState is a state whose task did not come with it.
type arrivedState struct {
	saved message.SavedState
	until time.Time
}

// add takes in a state that arrived at now; it is kept for keepArrived, or until there
// are too many.
func (a *arrivals) add(s message.SavedState, now time.Time) {
	if len(*a) >= message.MaxSaved {
		*a = slices.Delete(*a, 0, 1)
	}
	*a = append(*a, arrivedState{s, now.Add(keepArrived)})
}

// next returns the states that arrived without their tasks, at most so
// many, and forgets those that were kept for long enough.
func (a *arrivals) next(now time.Time, most int) []message.SavedState {
	*a = slices.DeleteFunc(*a, func(o arrivedState) bool { return !now.Before(o.until) })
	var out []message.SavedState
	for _, s := range *a {
		if len(out) < most {
			out = append(out, s.saved)
		}
	}
	return out
}
