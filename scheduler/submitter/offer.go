package submitter

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// offer keeps a job and offers it to the leader. A record that does not open
// is left alone: the driver signed it, and was told when it could not.
func (s *Submitter) offer(ev message.Offer) {
	rec := ev.Record
	id, _ := s.cfg.Opened.Names(&rec)
	if s.jobs[id] != nil || s.forgotten[id] != nil {
		return
	}
	spec, err := s.cfg.Opened.Open(&rec)
	if err != nil {
		s.emit(message.Decided{Task: task.TaskID{Job: id}, Action: "refused", Peer: s.self, Reason: err.Error()})
		return
	}
	j := s.add(id, spec, submittedState{Record: rec})
	j.reusing.waits = ev.Waits
	s.persist(j)
	s.emit(message.JobChanged{Job: id})
}

// cancel ends a job, at once or when what runs of it has ended.
func (s *Submitter) cancel(id task.JobID, soon bool) {
	j := s.jobs[id]
	if j == nil || j.state.Cancelled || j.state.Final || soon && j.state.Ending {
		return
	}
	if soon {
		j.state.Ending = true
	} else {
		j.state.Cancelled = true
	}
	s.persist(j)
	s.emit(message.JobChanged{Job: id})
	s.soon(j)
}

func (s *Submitter) follow(ev message.LeaderChanged) {
	if ev.Leader == s.leader && ev.Epoch == s.epoch {
		return
	}
	s.leader, s.epoch = ev.Leader, ev.Epoch
	s.followed.add(ev.Leader)
	s.foldLoans()
	s.toOffer = s.toOffer[:0]
	if s.leader == "" {
		return
	}
	for id, j := range s.jobs {
		if !j.state.Final {
			s.toOffer = append(s.toOffer, id)
		}
	}
	slices.Sort(s.toOffer)
}

// offerAgain offers the jobs to a new leader, as far as the pace allows.
func (s *Submitter) offerAgain() {
	for len(s.toOffer) > 0 && s.maySpeak() {
		j := s.jobs[s.toOffer[0]]
		s.toOffer = s.toOffer[1:]
		if j != nil && !j.state.Final {
			j.againTold = false
			j.refusal, j.disputed, j.pause = "", dispute{}, s.timing.RetryMin // what was said was another's
			s.speak(j)
		}
	}
}
