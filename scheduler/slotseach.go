package scheduler

import (
	"fmt"
	"math"
)

// The rules of a closed pool may limit the slots of each submitter (Rules.SlotsEach). Every lease counts: also one that waits
// at its member, a replica and a copy. A task of a submitter that has all its slots waits until one of them is free.

// slotsLeft returns how many more leases the submitter of a job may get.
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
