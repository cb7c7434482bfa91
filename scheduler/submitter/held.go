package submitter

import (
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A lastWord is what was last said of what is held of a job.
type lastWord struct {
	held  task.Held // the last that was signed
	next  time.Time // when more may be said; see gotSoon
	armed bool      // a timer reminds of it
}

// gotPause is how long results that come gather before the leader hears of them. Each word is signed here, and looked
// at there; with 2,000 short tasks whose results come a few at a time there were 1,400 of them, most of what the
// submitter sent. A Progress brings 256, so 12,800 a second may come, more than a leader ends.
const gotPause = 20 * time.Millisecond

// gotTimer begins the keys of the timers that remind of what is to be said.
const gotTimer = "got/"

// gotSoon says what is held, and that more may come: at once, where little was said of late.
func gotSoon(s *Submitter, j *submitted) {
	switch {
	case j.said.armed:
	case s.now.Before(j.said.next):
		j.said.armed = true
		s.timers.Set(j.said.next, gotTimer+string(j.id))
	default:
		s.got(j)
	}
}

// gotLate says what was to be said later, unless it was said meanwhile. j may be nil.
func gotLate(s *Submitter, j *submitted) {
	if j == nil || !j.said.armed {
		return
	}
	j.said.armed = false
	if !j.state.Final {
		s.got(j)
	}
}

// signHeld signs what is held of a job now; nil where nothing is signed.
func (s *Submitter) signHeld(j *submitted) []byte {
	if !s.cfg.Signs || len(s.key) == 0 {
		return nil
	}
	if h := &j.said.held; len(h.Signature) > 0 && h.Delivery == j.state.Delivery && h.Count == j.told().Count() {
		return h.Signature // what is held only grows
	}
	h, err := ledger.HeldOf(j.state.Delivery, j.told())
	if err != nil {
		s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "not signed", Reason: task.ClipMessage(err.Error())})
		return nil
	}
	h.Sign(j.id, s.key)
	j.said.held = h
	return h.Signature
}

// remind takes in a word of this submitter's own that the leader shows: when it is later than
// what is known here, results were lost since, as with a disk, and another delivery begins
// that stands for it.
func (s *Submitter) remind(j *submitted, h *task.Held) {
	if h == nil || !s.cfg.Signs || h.Delivery < j.state.Delivery || h.Delivery >= ledger.MaxDelivery ||
		!h.Verify(j.id, s.Key()) {
		return
	}
	if h.Delivery == j.state.Delivery {
		told := j.told()
		held := told.Count()
		now, err := ledger.HeldOf(h.Delivery, told)
		if err != nil || h.Count < held || h.Count == held && h.Digest == now.Digest {
			return
		}
	}
	j.state.Delivery = h.Delivery + 1
	s.persist(j)
	s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "delivered anew", Peer: s.leader,
		Reason: "this node has said that it holds results that it does not have: it asks for them again"})
	s.soon(j)
}
