package node

import (
	"runtime"

	"godwit/node/signatures"
	"godwit/p2p/cost"
	"godwit/scheduler/message"
	"godwit/task"
)

// mostLooked bounds the results of a frame whose signatures are looked at beside the loop: some tens
// of milliseconds. The machines look at the rest, in their peer's turns.
const mostLooked = 1024

// signed is how this node looks at who signed results, on the goroutines that messages come on.
type signed struct {
	verifier signatures.Verifier
	// looking has a token of each frame that is looked at: those whose peers send too much of it take no
	// more than half of the machine.
	looking chan struct{}
}

func newSigned() *signed { return &signed{looking: make(chan struct{}, max(1, runtime.NumCPU()/2))} }

// lookAtSignatures marks results of a frame that are signed, where its peer is one that the node works
// with: of others' messages most are not heard at all.
func (c *core) lookAtSignatures(from task.PeerID, msgs []message.Message) {
	if c.net.Class(from) >= cost.Worker {
		message.LookAtSignatures(from, msgs, mostLooked, c.signed.verify)
	}
}

// verify says which of some results Result.Verify finds nothing wrong with.
func (s *signed) verify(results []*task.Result) []bool {
	s.looking <- struct{}{}
	defer func() { <-s.looking }()
	checks := make([]signatures.Check, len(results))
	for i, r := range results {
		if key, message, err := r.ToCheck(); err == nil {
			checks[i] = signatures.Check{Key: key, Message: message, Signature: r.Signature}
		}
	}
	return s.verifier.Verify(checks)
}
