package submitter

import (
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// signHeld signs what is held of a job now; nil where nothing is signed.
func (s *Submitter) signHeld(j *submitted) []byte {
	if !s.cfg.Signs || len(s.key) == 0 {
		return nil
	}
	if h := &j.said; len(h.Signature) > 0 && h.Delivery == j.state.Delivery && h.Count == j.told().Count() {
		return h.Signature // what is held only grows
	}
	h, err := ledger.HeldOf(j.state.Delivery, j.told())
	if err != nil {
		s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "not signed", Reason: task.ClipMessage(err.Error())})
		return nil
	}
	h.Sign(j.id, s.key)
	j.said = h
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
