package migrate

import (
	"fmt"
	"time"
)

// A Destination is a member that a task may move to.
type Destination struct {
	Stay float64 // the probability that it stays for Move.Period; 1 where nothing is known of it
	CPU  float64 // percent of its greatest speed that guests get now, as Host.CPU
}

// Period is the time over which a move has to pay: that of the prediction it was made of. It is 0 where the task's member
// goes anyway.
func (m *Move) Period() time.Duration {
	if m.of == nil || m.of.gain == nil {
		return 0
	}
	return m.of.For
}

// Pays reports whether a task is better off at a destination by more than its move costs, which is the time that the task
// stands still. The published policies move tasks to any member that the placement policy takes. Where all members are
// alike, tasks then move at every scan.
func (m *Move) Pays(there Destination, cost time.Duration) bool {
	over := m.Period()
	return over == 0 || m.of.gain(m.of, there)*float64(over) > float64(cost)
}

// WhyNot says, for people, why a move does not pay.
func (m *Move) WhyNot(cost time.Duration) string {
	return fmt.Sprintf("no member that has room for it is better by more than the move costs (%v in %v)",
		cost.Round(time.Millisecond), m.Period())
}
