package scheduler

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"godwit/scheduler/ledger"
	"godwit/task"
)

func (s *Submitter) receive(from task.PeerID, m *Message) {
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

func (s *Submitter) accepted(a *Accepted) {
	j := s.jobs[a.Job]
	if j == nil || j.state.Final {
		return
	}
	switch {
	case a.Error == "":
		if !j.state.Accepted {
			j.state.Accepted = true
			s.persist(j)
			s.emit(JobChanged{Job: j.id})
		}
		s.heard(j, true)
	case a.RetryAfter > 0:
		s.later(j, min(a.RetryAfter, s.cfg.RetryMax))
	case !j.state.Accepted: // a job once accepted is never given up
		j.state.Error, j.state.Final = task.ClipMessage(a.Error), true
		s.persist(j)
		s.emit(JobChanged{Job: j.id})
	}
}

// progress takes results, and answers what is held so far, which also asks
// for the next batch.
func (s *Submitter) progress(from task.PeerID, p *Progress) {
	j := s.jobs[p.Job]
	if j == nil {
		return
	}
	news := j.state.Summary != p.Summary
	j.state.Summary = p.Summary
	for i := range p.Tasks {
		s.take(from, j, &p.Tasks[i])
	}
	if len(p.Tasks) > 0 {
		s.got(j)
	}
	s.finish(j, len(p.Tasks) == 0)
	if news || len(p.Tasks) > 0 {
		s.emit(JobChanged{Job: j.id})
	}
	if !j.state.Final {
		s.heard(j, news)
	}
}

// take verifies one task's end and holds it, once its blocks are here. What
// this node's own coordinator sends was verified there.
func (s *Submitter) take(from task.PeerID, j *submitted, t *TaskSummary) {
	if t.Index >= j.total || j.have.Contains(t.Index) || j.fetching[t.Index] {
		return
	}
	if err := checkSummary(j, t, from != s.self); err != nil {
		s.emit(Decided{Task: task.TaskID{Job: j.id, Index: t.Index}, Action: "refused", Peer: from, Reason: err.Error()})
		return
	}
	cids := blocksOf(t)
	if len(cids) == 0 {
		s.hold(j, t)
		return
	}
	f := &resultFetch{job: j, summary: *t, pause: s.cfg.RetryMin, holders: []task.PeerID{from}}
	for i := range t.Results {
		if w := t.Results[i].Worker; !slices.Contains(f.holders, w) && len(f.holders) < MaxHolders {
			f.holders = append(f.holders, w)
		}
	}
	key := taskKey(submitterTask, task.TaskID{Job: j.id, Index: t.Index})
	j.fetching[t.Index] = true
	s.fetches[key] = f
	s.fetch(key, f)
}

func (s *Submitter) fetch(key string, f *resultFetch) {
	s.emit(Fetch{Key: key, CIDs: blocksOf(&f.summary), Holders: f.holders})
}

func (s *Submitter) fetched(ev Fetched) {
	f := s.fetches[ev.Key]
	if f == nil || f.waiting {
		return
	}
	if ev.Err != "" {
		f.waiting = true
		s.timers.set(s.now.Add(f.pause), ev.Key)
		f.pause = min(2*f.pause, s.cfg.RetryMax)
		return
	}
	delete(s.fetches, ev.Key)
	delete(f.job.fetching, f.summary.Index)
	s.hold(f.job, &f.summary)
	s.got(f.job)
	s.finish(f.job, false)
	s.emit(JobChanged{Job: f.job.id})
}

// hold makes a task's end durable.
func (s *Submitter) hold(j *submitted, t *TaskSummary) {
	b, err := task.Encode(t)
	if err != nil {
		panic("scheduler: " + err.Error()) // it was decoded from such bytes
	}
	j.keep(t, b)
	s.emit(Persist{Key: taskKey(submitterTask, task.TaskID{Job: j.id, Index: t.Index}), Value: b})
}

func (j *submitted) keep(t *TaskSummary, encoded []byte) {
	if !j.have.Add(t.Index) {
		return
	}
	j.tasks[t.Index] = encoded
	if t.Failed {
		j.failed++
	}
}

func (s *Submitter) got(j *submitted) {
	if s.leader != "" {
		s.emit(Send{To: s.leader, Message: Message{Got: &Got{Job: j.id, Have: slices.Clone(j.have)}}})
	}
}

// finish closes the job when nothing is missing: it holds every task, or the
// leader says that the job is over and has no more results for it.
func (s *Submitter) finish(j *submitted, nothingMore bool) {
	whole := j.have.Count() == j.total
	over := nothingMore && FinalState(j.state.Summary.State) && len(j.fetching) == 0
	if j.state.Final || !whole && !over {
		return
	}
	j.state.Final = true
	if whole && !FinalState(j.state.Summary.State) {
		j.state.Summary = j.summary()
	}
	s.persist(j)
	s.emit(JobChanged{Job: j.id})
}

// checkSummary refuses an end that is not what the job asked for.
func checkSummary(j *submitted, t *TaskSummary, verify bool) error {
	if !t.Failed && len(t.Results) < j.spec.Replicas {
		return fmt.Errorf("%d results, the job wants %d that agree", len(t.Results), j.spec.Replicas)
	}
	workers := map[task.PeerID]bool{}
	for i := range t.Results {
		r := &t.Results[i]
		switch {
		case r.Task != task.TaskID{Job: j.id, Index: t.Index}:
			return fmt.Errorf("the result is of task %v", r.Task)
		case t.Failed:
		case r.Outcome != task.Completed:
			return fmt.Errorf("outcome %v of a task said to be done", r.Outcome)
		case workers[r.Worker]:
			return fmt.Errorf("two results of the same worker %s", r.Worker)
		case i > 0 && r.Digest() != t.Results[0].Digest():
			return errors.New("the results do not agree")
		}
		workers[r.Worker] = true
		if verify {
			if err := r.Verify(); err != nil {
				return err
			}
		}
	}
	return nil
}

// blocksOf lists what a task's end needs fetched: the outputs, of the first of
// the agreeing results, that did not come with it. Failures keep theirs.
func blocksOf(t *TaskSummary) []task.CID {
	if t.Failed || len(t.Results) == 0 {
		return nil
	}
	return remoteOutputs(&t.Results[0])
}

func remoteOutputs(r *task.Result) []task.CID {
	var cids []task.CID
	for i := range r.Outputs {
		if o := &r.Outputs[i]; o.Size > 0 && len(o.Inline) == 0 {
			cids = append(cids, o.CID)
		}
	}
	return cids
}

// taskKey names a task in durable keys, so that keys sort as indices do.
func taskKey(prefix string, id task.TaskID) string {
	return prefix + strings.TrimPrefix(ledger.RowKey(id), "r/")
}

// summary is the leader's last word, brought in line with what is held here.
func (j *submitted) summary() JobSummary {
	sum := j.state.Summary
	held := j.have.Count()
	sum.Total = j.total
	sum.Done, sum.Failed = max(sum.Done, held-j.failed), max(sum.Failed, j.failed)
	sum.Running = min(sum.Running, j.total-min(j.total, sum.Done+sum.Failed))
	sum.Waiting = j.total - min(j.total, sum.Done+sum.Failed+sum.Running)
	switch {
	case j.state.Error != "":
		sum.State = JobFailed
	case FinalState(sum.State):
	case held == j.total:
		sum.State = endState(sum.Done, sum.Failed)
	case j.state.Accepted:
		sum.State = JobRunning
	default:
		sum.State = JobOffered
	}
	return sum
}

// endState is the state of a job of which every task has ended.
func endState(done, failed uint64) string {
	switch {
	case failed == 0:
		return JobDone
	case done == 0:
		return JobFailed
	}
	return JobPartly
}

// Jobs returns every job offered to this node, without tasks, by submission
// time, then ID.
func (s *Submitter) Jobs() []JobStatus {
	out := make([]JobStatus, 0, len(s.jobs))
	for _, id := range sortedKeys(s.jobs) {
		out = append(out, s.jobs[id].status())
	}
	slices.SortStableFunc(out, func(a, b JobStatus) int { return a.Submitted.Compare(b.Submitted) })
	return out
}

func (j *submitted) status() JobStatus {
	st := newJobStatus(j.id, j.spec, j.record.Submitter(), j.summary())
	st.Error, st.Held, st.Final = j.state.Error, j.have.Count(), j.state.Final
	return st
}

// Job returns a job with a page of the tasks whose results are held.
func (s *Submitter) Job(id task.JobID, page Page) (JobStatus, bool) {
	j := s.jobs[id]
	if j == nil {
		return JobStatus{}, false
	}
	st := j.status()
	for t := range s.resultsFrom(j, page.From) {
		if len(st.TasksList) >= page.Limit {
			break
		}
		state := JobDone
		if t.Failed {
			state = JobFailed
		}
		ts := newTaskStatus(j.spec, t.Index, state, t.Attempts, t.Results)
		ts.Reason = t.Reason
		st.TasksList = append(st.TasksList, ts)
	}
	return st, true
}

// Accepted says whether a leader has acknowledged the job.
func (s *Submitter) Accepted(id task.JobID) bool {
	j := s.jobs[id]
	return j != nil && j.state.Accepted
}

// Record returns the signed record of a job offered here.
func (s *Submitter) Record(id task.JobID) (task.Record, bool) {
	j := s.jobs[id]
	if j == nil {
		return task.Record{}, false
	}
	return j.record, true
}

// Results gives the ended tasks of a job that are held, by index. Stepping the
// machine during the iteration is not allowed.
func (s *Submitter) Results(id task.JobID) iter.Seq[TaskSummary] {
	if j := s.jobs[id]; j != nil {
		return s.resultsFrom(j, 0)
	}
	return func(func(TaskSummary) bool) {}
}

// ResultsFrom is like Results for the tasks from index from on.
func (s *Submitter) ResultsFrom(id task.JobID, from uint64) iter.Seq[TaskSummary] {
	if j := s.jobs[id]; j != nil {
		return s.resultsFrom(j, from)
	}
	return func(func(TaskSummary) bool) {}
}

func (s *Submitter) resultsFrom(j *submitted, from uint64) iter.Seq[TaskSummary] {
	return func(yield func(TaskSummary) bool) {
		for _, r := range j.have {
			for i := max(r.From, from); i < r.To; i++ {
				var t TaskSummary
				if err := task.Decode(j.tasks[i], &t); err != nil {
					panic("scheduler: " + err.Error()) // encoded or decoded before
				}
				if !yield(t) {
					return
				}
			}
		}
	}
}

// sortedKeys returns a map's keys in order.
func sortedKeys[K interface{ ~string | ~uint64 }, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
