package submitter

import (
	"cmp"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/memo"
	"godwit/scheduler/message"
	"godwit/task"
)

// Results that are held of one job may be those of another: of tasks of the same name. The driver finds them, before
// anybody hears of the new job, and they are held of it from then on like results that came. Nobody but this node
// says what they are, since it alone knows what it holds.

// reusing is what a submitter keeps of results of other jobs that a job took. The zero value is of none.
type reusing struct {
	waits bool // for a Reuse that is the last: the job is not spoken of before
	from  []message.Taken
}

// takings are what a submitter does about results of other jobs, and of those that leaders do not know.
type takings struct{ s *Submitter }

// reuse takes results of other jobs for one.
func (t takings) reuse(ev *message.Reuse) {
	s := t.s
	j := s.jobs[ev.Job]
	if j == nil || j.state.Final {
		return
	}
	for i := range ev.Tasks {
		t.one(j, &ev.Tasks[i])
	}
	if !ev.Last {
		return
	}
	j.reusing.waits = false
	s.emit(message.JobChanged{Job: j.id})
	if !s.finish(j, false) {
		s.soon(j)
	}
}

// one takes one, if it is still held and as good as the job asks.
func (t takings) one(j *submitted, r *message.Reused) {
	s, end := t.s, &r.End
	of := s.jobs[r.Of.Job]
	strict := of != nil && asksMore(j.spec, of.spec)
	if of == nil || of == j || end.From == nil || end.Index >= j.total || j.have.Contains(end.Index) ||
		!s.audits.together(of).sound(r.Of.Index, strict) || !memo.Fits(j.spec, end.Index, end) ||
		s.audits.faulty(end) {
		return
	}
	if !s.save(ResultKey(j.id, end.Index), task.TaskID{Job: j.id, Index: end.Index}, end) {
		return
	}
	j.keep(end.Index, false)
	j.reusing.took(end.From.Job)
	s.audits.tookOf(of, r.Of.Index, j, end)
	switch {
	case j.checks == nil:
	case of.checks != nil && !of.checks.unproven(r.Of.Index): // it was run here
		s.audits.note(j, checked{Index: end.Index, State: verdictRight})
	default:
		s.audits.check(j, end)
	}
}

// took counts a result of a job.
func (r *reusing) took(of task.JobID) {
	i := slices.IndexFunc(r.from, func(t message.Taken) bool { return t.Job == of })
	if i < 0 {
		i = len(r.from)
		r.from = append(r.from, message.Taken{Job: of})
	}
	r.from[i].Tasks++
}

// told lists where results came from, those of most tasks first.
func (r *reusing) told() []message.Taken {
	out := slices.Clone(r.from)
	slices.SortFunc(out, func(a, b message.Taken) int {
		return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.Job, b.Job))
	})
	return out
}

// asksMore reports whether a job wants its results checked more than another does.
func asksMore(j, of *task.Job) bool {
	return of.Verify.Less(j.Verify) ||
		j.Verify != nil && j.Verify.Confirm != "" && (of.Verify == nil || of.Verify.Confirm != j.Verify.Confirm)
}

// sound reports whether a result that is held may be taken for another job: not while it is to be checked, or could
// not be. Where the other job wants more checked, the result is to have been run on this node.
func (t *together) sound(i uint64, checked bool) bool {
	j := t.j
	switch {
	case !j.have.Contains(i):
		return false
	case j.checks == nil:
		return !checked
	}
	switch t.of(i) {
	case message.StandingAccepted, message.StandingUnchecked:
		return !checked && !j.checks.away.Contains(i)
	case message.StandingFinal, message.StandingReplaced:
		return !checked || !j.checks.unproven(i)
	}
	return false
}

// unproven reports whether a result is believed without having been run here.
func (c *checks) unproven(i uint64) bool {
	for _, of := range c.by {
		if of.tasks.Contains(i) {
			return true
		}
	}
	return false
}

// Sound returns which results of a job may be taken for another one. If that wants more of its results checked, these
// are the results that were run here.
func Sound(s *Submitter, id task.JobID, other *task.Job) ledger.Set {
	j := s.jobs[id]
	if j == nil {
		return nil
	}
	checked := asksMore(other, j.spec)
	if j.checks == nil && checked {
		return nil
	}
	if j.checks == nil {
		return slices.Clone(j.have)
	}
	var out ledger.Set
	all := s.audits.together(j)
	for _, r := range j.have {
		for i := r.From; i < r.To; i++ {
			if all.sound(i, checked) {
				out.Add(i)
			}
		}
	}
	return out
}

// recall has results read of which the leader knows no end, and others read them.
func (t takings) recall(j *submitted, unknown []message.Range) {
	set, err := ledger.MakeSet(unknown)
	if j.staged == nil || err != nil || len(set) == 0 || j.recalling {
		return
	}
	var tasks []uint64
	for _, r := range set {
		for i := r.From; i < min(r.To, j.total) && len(tasks) < message.MaxProgress; i++ {
			if j.have.Contains(i) && !j.staged.over.Contains(i) {
				tasks = append(tasks, i)
			}
		}
	}
	if len(tasks) > 0 {
		j.recalling = true
		t.s.emit(message.Recall{Job: j.id, Tasks: tasks})
	}
}

// recalled tells the leader of results that others read.
func (t takings) recalled(ev *message.Recalled) {
	s := t.s
	j := s.jobs[ev.Job]
	if j == nil {
		return
	}
	j.recalling = false
	if j.state.Final || s.leader == "" {
		return
	}
	m := &message.Made{Job: j.id}
	size := 0
	for i := range ev.Tasks {
		end := &ev.Tasks[i]
		if !j.have.Contains(end.Index) || len(m.Tasks) == message.MaxProgress {
			continue
		}
		made := message.MadeTask{Index: end.Index, Failed: end.Failed}
		if !end.Failed && len(end.Results) > 0 {
			made.Outputs = end.Results[0].Outputs
			if size += message.ResultBytes(&end.Results[0]); size > message.BatchBytes && len(m.Tasks) > 0 {
				break
			}
		}
		m.Tasks = append(m.Tasks, made)
	}
	if len(m.Tasks) > 0 {
		s.emit(message.Send{To: s.leader, Message: message.Message{Made: m}})
	}
}
