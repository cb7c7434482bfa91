package submitter

import (
	"maps"
	"slices"

	"godwit/scheduler/message"
	"godwit/task"
)

// Others' submitters find wrong results, too. What they show counts here once this node has run the
// task itself: its driver does that, and tells of it with Proven.

// proven refuses a worker that signed a wrong result of another's job.
func (a *audits) proven(ev *message.Proven) {
	if ev.Worker == a.s.self || a.known(ev.Worker).Faults > 0 {
		return
	}
	a.accuse(ev.Worker, ev.Task, ev.Why)
	a.s.emit(message.Decided{Task: ev.Task, Action: "proven wrong", Peer: ev.Worker, Reason: task.ClipMessage(ev.Why)})
	a.tellRefused()
}

// accuse notes that a worker was wrong, as this node has seen itself.
func (a *audits) accuse(worker task.PeerID, id task.TaskID, why string) {
	a.credit(worker).Faults++
	a.keep(worker)
	f := fault{a.s.now.Unix(), id.Job, id.Index, task.ClipMessage(why)}
	a.s.save(submitterProven+string(worker), id, &f)
	a.accused.note(worker, f)
	doubting{a}.distrust(worker, true)
}

// Proven returns the workers that were proven wrong to a submitter's node, sorted; with fresh those alone that
// were since it was last asked so.
func Proven(s *Submitter, fresh bool) []message.Proven {
	if fresh {
		return s.audits.accused.take()
	}
	return s.audits.accused.all()
}

// tellRefused tells leaders whom the jobs here refuse.
func (a *audits) tellRefused() {
	for _, id := range slices.Sorted(maps.Keys(a.s.jobs)) { // no more of them
		if j := a.s.jobs[id]; !j.state.Final {
			a.s.got(j)
		}
	}
}

// Refuses reports whether a worker is to have no task of the jobs here.
func (s *Submitter) Refuses(worker task.PeerID) bool { return s.audits.known(worker).Faults > 0 }

// Faulty reports whether a worker that answers for a stored result of a job has a proven fault, and the task has not run
// again here.
func (s *Submitter) Faulty(id task.JobID, t *message.TaskSummary) bool {
	j := s.jobs[id]
	if j == nil || j.checks != nil && (j.checks.right.Contains(t.Index) || j.checks.wrong.Contains(t.Index)) {
		return false
	}
	return s.audits.faulty(t)
}

// FoundWrong lists tasks whose results were found wrong here, and that others may be shown: of jobs
// that are not sealed, with sealed of all, at most so many, the newest of each job first.
func (s *Submitter) FoundWrong(most int, sealed bool) []task.TaskID {
	var out []task.TaskID
	for _, id := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.jobs[id]
		if !j.showsWrong() || !sealed && len(j.spec.Sealed) > 0 {
			continue
		}
		for _, r := range slices.Backward(j.checks.wrong) {
			for i := r.To; i > r.From; i-- {
				if task.SignsReads(j.spec, i-1) { // what it read is not shown with it
					continue
				}
				if len(out) == most {
					return out
				}
				out = append(out, task.TaskID{Job: id, Index: i - 1})
			}
		}
	}
	return out
}

// showsWrong reports whether results of a job were found wrong that others may be shown: with its
// program and its inputs, which are needed as long.
func (j *submitted) showsWrong() bool {
	return j.checks != nil && len(j.checks.wrong) > 0
}
