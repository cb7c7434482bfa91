package submitter

import "godwit/scheduler/message"

// finish closes the job when nothing is missing: it holds every task, or the
// leader says that the job is over and has no more results for it. It says
// whether the job is closed, which the leader has then been told.
func (s *Submitter) finish(j *submitted, nothingMore bool) bool {
	whole := j.have.Count() == j.total
	if j.state.Final || !whole && !(nothingMore && j.fetching == 0) && !j.givenUp() {
		return j.state.Final
	}
	for _, r := range j.lacking {
		for i := r.From; i < r.To; i++ {
			delete(s.fetches, ResultKey(j.id, i))
		}
	}
	j.fetching, j.lacking = 0, nil
	if whole && !message.FinalState(j.state.Summary.State) {
		j.state.Summary = j.summary()
	}
	j.state.Final = true
	s.persist(j)
	s.emit(message.JobChanged{Job: j.id})
	s.goodbye(j, nothingMore)
	return true
}

// givenUp says whether the job was ended early and all that is left of it are
// results that are nowhere to be had: nobody will make them again.
func (j *submitted) givenUp() bool {
	ended := j.state.Summary.State == message.JobCancelled || j.state.Summary.State == message.JobExpired
	return ended && j.fetching > 0 && uint64(j.fetching) == j.lacking.Count()
}
