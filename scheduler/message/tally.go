package message

import "godwit/task"

// Told brings what another submitter of the overlay, a member, found right of workers. Its signature
// was verified. It is read only.
type Told struct{ Tally *task.Tally }

func (Told) event() {}

// Redone says what came of a result that a teller showed of a tally of its own, drawn among those
// that it offered: this node ran the task itself. Right is false also where the teller did not show it.
type Redone struct {
	Teller task.PeerID
	Issued int64 // of the tally
	Right  bool
	// Wrong says that the teller showed it, and that it is proven wrong: who ran it cannot have found it right.
	Wrong bool
}

func (Redone) event() {}
