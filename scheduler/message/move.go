package message

import (
	"fmt"
	"time"

	"godwit/overlay"
	"godwit/task"
)

// MaxMoves bounds the moves that one Ack orders, and those that one Report says
// came to nothing: one for each slot that a member may have.
const MaxMoves = overlay.MaxSlots

// A MoveOrder tells a worker to hand a task that it runs over to another, which
// has a lease that awaits it. The order is repeated, for a worker that may have
// missed it; Task and As name it.
type MoveOrder struct {
	Task    task.TaskID `cbor:"1,keyasint"`
	Attempt Attempt     `cbor:"2,keyasint"` // that it runs as at the worker
	To      task.PeerID `cbor:"3,keyasint"` // the destination
	As      Attempt     `cbor:"4,keyasint"` // that it is to run as there
	// Urgent says that the worker's owner wanted the machine when the leader last heard
	// from it, and that this is why the task moves. What to do about it the worker knows
	// by itself, and later: while its owner has the guest stand still it sends nothing
	// ahead. One that only leaves does: it is done hardly later, and the destination has a
	// complete state as soon.
	Urgent bool `cbor:"5,keyasint,omitempty"`
}

// An Unmoved says that a hand-over came to nothing: the task runs on where it
// was, under the attempt that it had.
type Unmoved struct {
	Task    task.TaskID `cbor:"1,keyasint"`
	Attempt Attempt     `cbor:"2,keyasint"`
	As      Attempt     `cbor:"3,keyasint"` // of the order
	Reason  string      `cbor:"4,keyasint"` // for people; at most task.MaxMessage bytes
}

// Handed says of an attempt's end that its guest runs on elsewhere, and what the
// hand-over took as its source measured it. Only To and As mean something to
// machines; the rest is for people, and 0 where it is not known.
type Handed struct {
	To     task.PeerID   `cbor:"1,keyasint"`
	As     Attempt       `cbor:"2,keyasint"`
	Bytes  int64         `cbor:"3,keyasint,omitempty"` // that went to the destination, compressed, of all rounds
	State  int64         `cbor:"4,keyasint,omitempty"` // size of the guest's state, in bytes
	Rounds int           `cbor:"5,keyasint,omitempty"` // of pre-copy, before the last; at most maxRounds
	Took   time.Duration `cbor:"6,keyasint,omitempty"` // from the order to the destination's word that it runs
	Down   time.Duration `cbor:"7,keyasint,omitempty"` // of that, from the freeze on
}

// MaxRounds bounds what a Handed may claim: the giver stops at far fewer.
const MaxRounds = 1 << 10

func (h *Handed) check() error {
	if h.Bytes < 0 || h.State < 0 || h.Rounds < 0 || h.Rounds > MaxRounds || h.Took < 0 || h.Down < 0 {
		return fmt.Errorf("hand-over of %d bytes in %d rounds, %v in all, %v at the end", h.Bytes, h.Rounds, h.Took, h.Down)
	}
	return nil
}

func (a *Ack) check() error {
	if len(a.Moves) > MaxMoves {
		return fmt.Errorf("%d moves at once, the most is %d", len(a.Moves), MaxMoves)
	}
	for i := range a.Moves {
		if m := &a.Moves[i]; m.To == "" || !m.Attempt.Less(m.As) {
			return fmt.Errorf("move of attempt %v to %q as %v, want a later attempt at some worker", m.Attempt, m.To, m.As)
		}
	}
	return nil
}

func (p *Place) check() error {
	for _, holders := range p.Holders {
		if len(holders) > MaxHolders {
			return fmt.Errorf("%d holders of a job, the most is %d", len(holders), MaxHolders)
		}
	}
	for _, key := range p.Keys {
		if len(key) != task.KeySize {
			return fmt.Errorf("key of %d bytes of a job, want %d", len(key), task.KeySize)
		}
	}
	for i := range p.Leases {
		l := &p.Leases[i]
		if a := l.Await; a != nil && (a.Worker == "" || !a.Attempt.Less(l.Attempt)) {
			return fmt.Errorf("lease of attempt %v that awaits attempt %v of %q, want an earlier one of some worker",
				l.Attempt, a.Attempt, a.Worker)
		}
		if err := l.Reads.check(); err != nil {
			return err
		}
		if l.Left < 0 || l.Left > task.MaxDuration {
			return fmt.Errorf("lease of a task with %v left, want 0 to %v", l.Left, task.MaxDuration)
		}
	}
	return nil
}

func (r *Report) checkMoves() error {
	if len(r.Unmoved) > MaxMoves {
		return fmt.Errorf("report of %d moves that came to nothing, the most is %d", len(r.Unmoved), MaxMoves)
	}
	for i := range r.Unmoved {
		if n := len(r.Unmoved[i].Reason); n > task.MaxMessage {
			return fmt.Errorf("reason of %d bytes for a move that came to nothing, the most is %d", n, task.MaxMessage)
		}
	}
	for i := range r.Ended {
		if err := r.Ended[i].Begun.check(); err != nil {
			return err
		}
		if h := r.Ended[i].Handed; h != nil {
			if err := h.check(); err != nil {
				return err
			}
		}
	}
	return nil
}
