package worker

import (
	"godwit/scheduler/message"
	"godwit/task"
)

// Signing is how a worker signs results that come unsigned: where they are told, made durable or given to their
// submitter, those of a moment together, so that what ended and the next task do not wait for it. The zero value
// signs none: then they have to come signed.
type Signing struct {
	// Sign signs as ed25519.Sign does with the worker's key.
	Sign func(message []byte) []byte
	// Together reports whether everybody who may come to hold results of a submitter's jobs reads such as were
	// signed together; submitter is "" where it is not known. Nil for no: then each is signed alone.
	Together func(submitter task.PeerID) bool
}

// SignWith has the worker sign its results, from then on.
func (w *Worker) SignWith(s Signing) { w.results.signing = s }

// sign signs those of some results that are unsigned.
func (r *results) sign(some []*unacked) {
	if r.signing.Sign == nil {
		return
	}
	var alone, together []*task.Result
	var readers task.PeerID // whose results were asked about last
	read := false
	for _, u := range some {
		res := &u.ending.Result
		switch {
		case len(res.Signature) > 0:
			continue
		case len(alone)+len(together) == 0 || u.submitter != readers:
			readers = u.submitter
			read = r.signing.Together != nil && len(some) > 1 && r.signing.Together(readers)
		}
		if read {
			together = append(together, res)
		} else {
			alone = append(alone, res)
		}
	}
	r.signed(together)
	for i := range alone {
		r.signed(alone[i : i+1])
	}
}

// signed signs results together. Whoever ran the tasks has seen that they can be signed (task.Result.Signable): what
// cannot would be refused by every leader.
func (r *results) signed(some []*task.Result) {
	if len(some) == 0 {
		return
	}
	if err := task.SignTogether(some, some[0].Worker, r.signing.Sign); err != nil {
		r.out.emit(message.Decided{Task: some[0].Task, Action: "not signed", Reason: task.ClipMessage(err.Error())})
	}
}
