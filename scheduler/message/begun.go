package message

import (
	"fmt"
	"time"

	"godwit/task"
)

// A Begun says when a worker began an attempt, in lengths of time of the worker's
// clock, which need not agree with anybody's. What it says is known when the attempt
// has ended: until then nobody needs it, and it costs no message.
//
// The leader knows when it gave the lease and when it heard of the end. What of the
// time between the worker does not account for was spent on the two ways; each is
// taken for half of that, as clocks are set over a network (Mills 1991). The
// first has what it takes to make the lease durable too, so that an attempt begins
// later than is reckoned by up to half of that.
type Begun struct {
	Queued time.Duration `cbor:"1,keyasint,omitempty"` // from taking the lease to beginning
	Ago    time.Duration `cbor:"2,keyasint,omitempty"` // from beginning to saying so; of a result said again that is more
}

// Lag is how long after its lease was given an attempt began of whose end the leader
// hears now: at least a nanosecond; 0 where b is nil. An attempt that ran before its
// lease, as one does that was taken over from another leader, began with it.
func (b *Begun) Lag(given, heard time.Time) time.Duration {
	if b == nil {
		return 0
	}
	all := heard.Sub(given)
	ways := all - b.Queued - b.Ago
	if ways < 0 { // it was queued before
		return max(1, all-b.Ago)
	}
	return max(1, b.Queued+ways/2)
}

// check keeps the bounds that lag relies on. b may be nil.
func (b *Begun) check() error {
	if b != nil && (b.Queued < 0 || b.Queued > task.MaxDuration || b.Ago < 0 || b.Ago > task.MaxDuration) {
		return fmt.Errorf("an attempt began %v ago, after %v: want 0 to %v", b.Ago, b.Queued, task.MaxDuration)
	}
	return nil
}
