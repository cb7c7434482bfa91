package submitter

import (
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

const (
	// lackAfter is how often a result's blocks are fetched in vain before the
	// leader is told: with the pauses between, holders that were only restarted
	// are back by then.
	lackAfter = 4
	// wordsTries is how often what a task said before it failed is fetched.
	wordsTries = 2
	// maxWords is of how many tasks of a job that failed it is kept beyond what is in their results:
	// 256 MiB, if each of them said as much as it may.
	maxWords = 4096
	// gotEvery is how many fetched results one Got tells of, while others are
	// still on their way.
	gotEvery = 32
	// maxFetching bounds the results of one job whose blocks are on their way,
	// and so the memory that a leader can take here. It is what an honest one
	// sends ahead of a Got.
	maxFetching = message.Window
)

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
	f.holders = holdersOf(&f.summary, f.by)
	s.emit(message.Fetch{
		Key: key, CIDs: message.OutputsOf(&f.summary), Holders: f.holders,
		Sizes: message.SizesOfEnd(&f.summary), Most: task.MaxOutputBytes,
	})
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
	s.hold(f.by, j, &f.summary)
	s.emit(message.JobChanged{Job: j.id})
	if !s.finish(j, false) && j.fetching%gotEvery == 0 {
		s.answer(j, f.by)
	}
}

// missed tries again later, and says so when it was in vain too often.
func (s *Submitter) missed(key string, f *resultFetch, why string) {
	j, i := f.job, f.summary.Index
	f.waiting = true
	f.tries++
	if f.summary.Failed && f.tries >= wordsTries { // that it failed counts without them
		s.arrived(key, f)
		return
	}
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
		s.answer(j, f.by)
	}
}

// hold makes a task's end durable that a member delivered, or "" for this node itself.
func (s *Submitter) hold(from task.PeerID, j *submitted, t *message.TaskSummary) {
	if s.save(ResultKey(j.id, t.Index), task.TaskID{Job: j.id, Index: t.Index}, t) {
		j.keep(t.Index, t.Failed)
		j.noteFailure(t)
		j.credits(t)
		j.settled(t.Index)
		j.took(t, s.now)
		j.disputed = dispute{}
		j.withheld.brought(wallOf(t))
		s.unaided.brought(j)
		s.gifts.note(s, j, t)
		s.audits.took(from, j, t)
		s.audits.check(j, t)
		j.staged.skip(s, j)
	}
}

// wallOf is how long the run of a task took, by its worker's word; 0 where there is none.
func wallOf(t *message.TaskSummary) time.Duration {
	if len(t.Results) == 0 {
		return 0
	}
	return t.Results[0].Wall
}

// noteFailure notes that a task failed that ran, for those who look.
func (j *submitted) noteFailure(t *message.TaskSummary) {
	if !t.Failed || len(t.Results) == 0 {
		return
	}
	if len(j.failures) == message.MaxFailures {
		j.failures = j.failures[1:]
	}
	j.failures = append(slices.Clip(j.failures), message.FailedTask{Index: t.Index, Name: j.spec.TaskName(t.Index),
		Reason: task.ClipMessage(t.WhyFailed())})
}
