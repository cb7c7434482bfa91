package message

import (
	"fmt"

	"godwit/task"
)

const (
	// MaxAgain bounds the tasks of a job that may be run once more at a time: enough for members that
	// are idle, and 60 KB at most.
	MaxAgain = 128
	// MaxBarred bounds the workers that are named with each.
	MaxBarred = 16
)

// Again is a task of which the submitter has a result, and wants another, of another worker: an
// ordinary lease, in which nothing says that the task ran before. It is heard of the submitter's own
// jobs only.
type Again struct {
	Index uint64 `cbor:"1,keyasint"`
	// Not are workers that are not to have it: who ran it, or left a state that it went on from.
	Not []task.PeerID `cbor:"2,keyasint,omitempty" most:"16"`
	// Only are those that alone may have it; empty for all others.
	Only []task.PeerID `cbor:"3,keyasint,omitempty" most:"16"`
}

// checkAgain keeps the bounds of a list of them.
func checkAgain(list []Again) error {
	if len(list) > MaxAgain {
		return fmt.Errorf("%d tasks to be run once more, the most is %d", len(list), MaxAgain)
	}
	for i := range list {
		if n := max(len(list[i].Not), len(list[i].Only)); n > MaxBarred {
			return fmt.Errorf("%d workers named for a task, the most is %d", n, MaxBarred)
		}
	}
	return nil
}
