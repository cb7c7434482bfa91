package submitter

import (
	"godwit/scheduler/message"
	"godwit/task"
)

// maxGoodbyes is how often a submitter says unasked that it has all it wants of
// a job, with doubling pauses: half a minute in all, in which a connection that
// broke is made again. Whoever did not hear it by then asks.
const maxGoodbyes = 5

// goodbye says for the first time that the job is over.
func (s *Submitter) goodbye(j *submitted, heard bool) {
	j.over = farewell{heard: heard}
	j.pause = s.timing.RetryMin
	s.sayGoodbye(j)
}

// sayGoodbye repeats it until the leader says so too, or it was said enough.
func (s *Submitter) sayGoodbye(j *submitted) {
	f := &j.over
	if s.leader == "" || f.n >= maxGoodbyes || f.n > 0 && f.heard || j.state.Error != "" {
		return
	}
	f.n++
	s.pace.offers++
	s.pace.bytes += bytesPerRange * len(j.have)
	s.sayFinal(j)
	if !f.heard {
		s.later(j, j.pause)
		j.pause = min(2*j.pause, s.timing.RetryMax)
	}
}

func (s *Submitter) sayFinal(j *submitted) {
	j.over.leader, j.over.epoch, j.over.at = s.leader, s.epoch, s.now
	s.got(j)
}

// askedWhenOver answers a leader that speaks of a job that is over here: one
// that took over with an old copy of the ledger must learn it. over says that
// it knows already, and only waits to hear that nothing more is wanted; that
// is said once a term.
func (s *Submitter) askedWhenOver(j *submitted, over bool) {
	f := &j.over
	told := f.leader == s.leader && f.epoch == s.epoch && !f.at.IsZero()
	if over {
		f.heard = true
	}
	if told && (over || s.now.Sub(f.at) < s.timing.RetryMin) {
		return
	}
	s.sayFinal(j)
}

// askedWhenForgotten does the same for a job of which nothing else is known.
func (s *Submitter) askedWhenForgotten(id task.JobID) {
	f := s.forgotten[id]
	if f == nil || !f.said.IsZero() && s.now.Sub(f.said) < s.timing.RetryMin {
		return
	}
	f.said = s.now
	s.emit(message.Send{To: s.leader, Message: message.Message{Got: &message.Got{Job: id, Final: true,
		Signature: signEnd(s.key, id)}}})
}
