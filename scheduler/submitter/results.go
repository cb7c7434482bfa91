package submitter

import (
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

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
		s.remind(j, a.Held)
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
	switch {
	case j == nil:
		s.askedWhenForgotten(p.Job)
		return
	case j.state.Final:
		s.askedWhenOver(j, message.FinalState(p.Summary.State) && len(p.Tasks) == 0)
		return
	}
	sum := s.atHome(j, p.Summary)
	sum.Ahead = 0 // for lending alone
	over := message.FinalState(sum.State) && len(p.Tasks) == 0
	news := j.state.Summary != sum || len(p.Tasks) > 0
	j.state.Summary = sum
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
	takings{s}.recall(j, p.Unknown)
	if len(p.Tasks) > 0 {
		gotSoon(s, j)
	}
	if over && j.fetching == 0 {
		s.deny(j)
		return
	}
	s.heard(j, news)
	s.lendMore(j)
}

// take verifies one task's end and holds it, once its blocks are here. What
// this node's own coordinator sends was verified there.
func (s *Submitter) take(from task.PeerID, j *submitted, t *message.TaskSummary) {
	switch {
	case t.Index >= j.total:
		return
	case j.checks != nil && j.checks.away.Contains(t.Index):
		s.audits.abroad.came(from, j, t)
		return
	case j.checks != nil && j.checks.sure.probed[t.Index] != nil:
		s.audits.fresh.cameFrom(from, j, t)
		return
	case j.have.Contains(t.Index):
		return
	}
	key := ResultKey(j.id, t.Index)
	old := s.fetches[key]
	if old != nil && old.instead == nil && sameEnd(&old.summary, t) {
		old.by = from // who brought it first may be gone with what it held
		return
	}
	if err := s.checkEnd(from, j, t); err != nil {
		s.refuseEnd(from, j, t.Index, err)
		return
	}
	switch {
	case old != nil:
		s.replace(from, key, old, t)
	case len(message.OutputsOf(t)) == 0, t.Failed && j.failed >= maxWords:
		s.hold(from, j, t)
	case j.fetching < maxFetching:
		f := &resultFetch{job: j, summary: *t, by: from, pause: s.timing.RetryMin}
		j.fetching++
		s.fetches[key] = f
		s.fetch(key, f)
	}
}

// sameEnd says whether two ends of a task are the same results of the same
// workers.
func sameEnd(a, b *message.TaskSummary) bool {
	return a.Failed == b.Failed && slices.EqualFunc(a.Results, b.Results, func(x, y task.Result) bool {
		return x.Worker == y.Worker && slices.Equal(x.Mark(), y.Mark())
	})
}

// replace goes on with another end of a task whose first one is on its way: the
// leader had it run again, or knows of more workers that hold the blocks.
func (s *Submitter) replace(from task.PeerID, key string, f *resultFetch, t *message.TaskSummary) {
	f.instead, f.by = t, from
	if f.waiting {
		f.waiting = false
		s.fetch(key, f)
	}
}
