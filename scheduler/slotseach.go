package scheduler

import (
	"fmt"
	"math"
)

// The rules of a closed pool can limit the slots of each submitter (Rules.SlotsEach). Every lease counts, including those that
// wait at a member, replicas and copies. At the limit, the submitter's other tasks wait until one of its slots is free.

// slotsLeft returns the number of further leases that the submitter of a job may get.
func (t *jobTable) slotsLeft(j *job) int {
	most := t.c.cfg.Rules.SlotsEach
	if most == 0 {
		return math.MaxInt
	}
	held := 0
	for _, other := range t.accountOf(j.submitter).jobs {
		held += other.held
	}
	return max(0, most-held)
}

// heldBySlots is why a job gets no slot though some are idle; "" if its submitter may have more.
func (t *jobTable) heldBySlots(j *job) string {
	if t.slotsLeft(j) > 0 {
		return ""
	}
	return fmt.Sprintf("its submitter's jobs have %d slots, as many as the rules of the pool give one submitter",
		t.c.cfg.Rules.SlotsEach)
}
