package submitter

import (
	"slices"
	"time"

	"godwit/scheduler/durable"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// lackAfter is how often a result's blocks are fetched in vain before the
	// leader is told: with the pauses between, holders that were only restarted
	// are back by then.
	lackAfter = 4
	// gotEvery is how many fetched results one Got tells of, while others are
	// still on their way.
	gotEvery = 32
	// maxFetching bounds the results of one job whose blocks are on their way,
	// and so the memory that a leader can take here. It is what an honest one
	// sends ahead of a Got.
	maxFetching = message.Window
)

// A resultFetch is a result that was verified and whose blocks are not here.
type resultFetch struct {
	job     *submitted
	summary message.TaskSummary
	instead *message.TaskSummary // another end of the task that came since, tried next
	holders []task.PeerID
	tries   int           // that failed
	pause   time.Duration // before the next try
	waiting bool          // between tries
}

func (s *Submitter) receive(from task.PeerID, m *message.Message) {
	if from != s.leader {
		return
	}
	switch {
	case m.Accepted != nil:
		s.accepted(m.Accepted)
	case m.Progress != nil:
		s.progress(from, m.Progress)
	}
}

func (s *Submitter) accepted(a *message.Accepted) {
	j := s.jobs[a.Job]
	switch {
	case j == nil:
		s.askedWhenForgotten(a.Job)
	case j.state.Final:
		s.askedWhenOver(j, false)
	case a.Error == "":
		news := !j.state.Accepted || j.refusal != ""
		j.refusal = ""
		if !j.state.Accepted {
			j.state.Accepted = true
			s.persist(j)
		}
		if news {
			s.emit(message.JobChanged{Job: j.id})
		}
		s.heard(j, true)
	case a.RetryAfter > 0:
		s.refusedForNow(j, a)
	case !j.state.Accepted: // a job once accepted is never given up
		j.state.Error, j.state.Final = task.ClipMessage(a.Error), true
		s.persist(j)
		s.emit(message.JobChanged{Job: j.id})
	}
}

// progress takes results, and answers what is held so far, which also asks
// for the next batch.
func (s *Submitter) progress(from task.PeerID, p *message.Progress) {
	j := s.jobs[p.Job]
	over := message.FinalState(p.Summary.State) && len(p.Tasks) == 0
	switch {
	case j == nil:
		s.askedWhenForgotten(p.Job)
		return
	case j.state.Final:
		s.askedWhenOver(j, over)
		return
	}
	news := j.state.Summary != p.Summary || len(p.Tasks) > 0
	j.state.Summary = p.Summary
	for i := range p.Tasks {
		if !j.state.Final {
			s.take(from, j, &p.Tasks[i])
		}
	}
	if news {
		s.emit(message.JobChanged{Job: j.id})
	}
	if s.finish(j, over) {
		return
	}
	if len(p.Tasks) > 0 {
		s.got(j)
	}
	s.heard(j, news)
}

// take verifies one task's end and holds it, once its blocks are here. What
// this node's own coordinator sends was verified there.
func (s *Submitter) take(from task.PeerID, j *submitted, t *message.TaskSummary) {
	if t.Index >= j.total || j.have.Contains(t.Index) {
		return
	}
	key := ResultKey(j.id, t.Index)
	old := s.fetches[key]
	if old != nil && old.instead == nil && sameEnd(&old.summary, t) {
		return
	}
	if err := checkSummary(j, t, from != s.self); err != nil {
		s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: t.Index}, Action: "refused", Peer: from,
			Reason: err.Error()})
		return
	}
	switch {
	case old != nil:
		s.replace(key, old, t)
	case len(message.OutputsOf(t)) == 0:
		s.hold(j, t)
	case j.fetching < maxFetching:
		f := &resultFetch{job: j, summary: *t, pause: s.timing.RetryMin}
		j.fetching++
		s.fetches[key] = f
		s.fetch(key, f)
	}
}

// sameEnd says whether two ends of a task are the same results of the same
// workers.
func sameEnd(a, b *message.TaskSummary) bool {
	return a.Failed == b.Failed && slices.EqualFunc(a.Results, b.Results, func(x, y task.Result) bool {
		return x.Worker == y.Worker && slices.Equal(x.Signature, y.Signature)
	})
}

// replace goes on with another end of a task whose first one is on its way: the
// leader had it run again, or knows of more workers that hold the blocks.
func (s *Submitter) replace(key string, f *resultFetch, t *message.TaskSummary) {
	f.instead = t
	if f.waiting {
		f.waiting = false
		s.fetch(key, f)
	}
}

// fetch begins the next try.
func (s *Submitter) fetch(key string, f *resultFetch) {
	if t := f.instead; t != nil {
		f.summary, f.instead, f.tries, f.pause = *t, nil, 0, s.timing.RetryMin
		f.job.lacking = f.job.lacking.Minus(only(t.Index))
	}
	if len(message.OutputsOf(&f.summary)) == 0 {
		s.arrived(key, f)
		return
	}
	f.holders = holdersOf(&f.summary, s.leader)
	s.emit(message.Fetch{Key: key, CIDs: message.OutputsOf(&f.summary), Holders: f.holders})
}

// holdersOf lists who should have the blocks of a task's end, the leader first.
func holdersOf(t *message.TaskSummary, leader task.PeerID) []task.PeerID {
	var holders []task.PeerID
	if leader != "" {
		holders = append(holders, leader)
	}
	for i := range t.Results {
		if w := t.Results[i].Worker; !slices.Contains(holders, w) && len(holders) < message.MaxHolders {
			holders = append(holders, w)
		}
	}
	return holders
}

func (s *Submitter) fetched(ev message.Fetched) {
	f := s.fetches[ev.Key]
	switch {
	case f == nil || f.waiting:
	case ev.Err == "":
		s.arrived(ev.Key, f)
	case f.instead != nil:
		s.fetch(ev.Key, f)
	default:
		s.missed(ev.Key, f, ev.Err)
	}
}

// arrived holds a result whose blocks are here.
func (s *Submitter) arrived(key string, f *resultFetch) {
	j := f.job
	delete(s.fetches, key)
	j.fetching--
	j.lacking = j.lacking.Minus(only(f.summary.Index))
	s.hold(j, &f.summary)
	s.emit(message.JobChanged{Job: j.id})
	if !s.finish(j, false) && j.fetching%gotEvery == 0 {
		s.got(j)
	}
}

// missed tries again later, and says so when it was in vain too often.
func (s *Submitter) missed(key string, f *resultFetch, why string) {
	j, i := f.job, f.summary.Index
	f.waiting = true
	f.tries++
	s.timers.Set(s.now.Add(f.pause), key)
	f.pause = min(2*f.pause, s.timing.RetryMax)
	if f.tries < lackAfter || j.lacking.Contains(i) || len(j.lacking) >= message.MaxLacking {
		return
	}
	j.lacking.Add(i)
	s.emit(message.Decided{
		Task: task.TaskID{Job: j.id, Index: i}, Action: "lacking", Peer: s.leader,
		Reason: task.ClipMessage("its output is nowhere to be had: " + why),
	})
	if !s.finish(j, false) {
		s.got(j)
	}
}

func only(i uint64) ledger.Set { return ledger.Set{{From: i, To: i + 1}} }

// hold makes a task's end durable.
func (s *Submitter) hold(j *submitted, t *message.TaskSummary) {
	j.keep(t.Index, t.Failed)
	s.emit(message.Persist{Key: ResultKey(j.id, t.Index), Value: durable.Encode(t)})
}

func (j *submitted) keep(i uint64, failed bool) {
	if j.have.Add(i) && failed {
		j.failed++
	}
}

func (s *Submitter) got(j *submitted) {
	if s.leader == "" {
		return
	}
	g := &message.Got{Job: j.id, Have: slices.Clone(j.have), Final: j.state.Final, Lacking: slices.Clone(j.lacking)}
	if g.Final && j.have.Count() < j.total { // all that it has says itself that it is over
		g.Signature = s.signEnd(j.id)
	}
	s.emit(message.Send{To: s.leader, Message: message.Message{Got: g}})
}

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
