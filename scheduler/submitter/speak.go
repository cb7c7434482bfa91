package submitter

import (
	"crypto/ed25519"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// speak offers the job, which also asks for what is missing, and repeats the
// owner's wish to cancel it, and what cannot be had.
func (s *Submitter) speak(j *submitted) {
	if s.leader == "" || j.reusing.waits {
		return // LeaderChanged wakes every job, and a Reuse this one
	}
	j.staged.skip(s, j)
	s.pace.offers++
	s.pace.bytes += len(j.record.Job) + bytesPerRange*len(j.have)
	s.emit(message.Send{To: s.leader, Message: message.Message{Submit: &message.Submit{Record: j.record,
		Have: slices.Clone(j.told()), Accepted: j.state.Accepted, Delivery: j.state.Delivery, Signature: s.signHeld(j),
		Refused: s.audits.refused(j), Again: s.audits.abroad.again(j),
		Taken: j.taken(), Own: j.own()}}})
	j.againTold = true
	if j.state.Cancelled || j.state.Ending {
		s.sayCancel(j)
	}
	if len(j.lacking) > 0 {
		s.got(j)
	}
	backups{s}.watch(j)
	s.later(j, j.pause)
	j.pause = min(2*j.pause, s.timing.RetryMax)
}

func (s *Submitter) got(j *submitted) {
	if s.leader == "" {
		return
	}
	j.said.next, j.said.armed = s.now.Add(gotPause), false
	g := &message.Got{Job: j.id, Have: slices.Clone(j.told()), Final: j.state.Final, Lacking: slices.Clone(j.lacking),
		Delivery: j.state.Delivery, Held: s.signHeld(j), Refused: s.audits.refused(j), Taken: j.taken(),
		Own: j.own(), Rejected: j.takeRejected(s.leader)}
	if !j.againTold {
		g.Again, j.againTold = s.audits.abroad.again(j), true
	}
	if g.Final && j.have.Count() < j.total { // all that it has says itself that it is over
		g.Signature = signEnd(s.key, j.id)
	}
	s.emit(message.Send{To: s.leader, Message: message.Message{Got: g}})
}

// signEnd signs that a job is over for its submitter.
func signEnd(key ed25519.PrivateKey, id task.JobID) []byte {
	if len(key) == 0 {
		return nil // of a test of one machine: nobody is to be convinced
	}
	return task.SignCancel(id, key)
}

// heard puts off the next asking, since the leader is well.
func (s *Submitter) heard(j *submitted, news bool) {
	backups{s}.watch(j)
	if news || j.pause < s.cfg.AskEvery {
		j.pause = min(s.cfg.AskEvery, s.timing.RetryMax)
	}
	pause := j.pause
	if j.state.Cancelled {
		pause = s.timing.RetryMin // it does not count as heard until it says cancelled
	}
	s.later(j, pause)
}

// refusedForNow obeys a leader that takes the job later.
func (s *Submitter) refusedForNow(j *submitted, a *message.Accepted) {
	j.refusal = task.ClipMessage(a.Error)
	s.later(j, min(max(a.RetryAfter, s.timing.RetryMin), s.timing.RetryMax))
	s.emit(message.JobChanged{Job: j.id})
}
