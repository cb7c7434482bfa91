package submitter

import (
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// A leader may keep what those came to that were to run a task once more. So halfway to when they must have answered
// the members that were drawn are asked themselves. They ran it as any other task, and are asked as any member is of
// which a submitter has too little: that tells them nothing. What they bring counts if they were drawn, and signed it.

// seekAt is when those who were drawn are asked themselves.
func (p *poll) seekAt() time.Time { return p.asked.Add(p.answerBy().Sub(p.asked) / 2) }

// remind has a poll be looked at in time.
func (a *abroad) remind(p *poll) {
	a.s.timers.Set(p.seekAt(), auditTimer)
	a.s.timers.Set(p.answerBy(), auditTimer)
}

// seek asks those who were drawn for tasks of a job, once each time that others are asked.
func (a *abroad) seek(j *submitted) {
	var of []task.PeerID
	for _, r := range j.checks.away {
		for i := r.From; i < r.To; i++ {
			if p := j.checks.polls[i]; !p.sought.Equal(p.asked) && !a.s.now.Before(p.seekAt()) {
				p.sought = p.asked
				of = append(of, p.only...)
			}
		}
	}
	slices.Sort(of)
	b := backups{a.s}
	for _, peer := range b.others(slices.Compact(of)) {
		if peer != a.s.self {
			b.ask(j, peer)
		}
	}
}

// broughtBy takes in what a member that was asked says that it came to of a task that runs once more. That it failed
// is no answer of one alone. It reports whether that counts.
func (a *abroad) broughtBy(from task.PeerID, j *submitted, t *message.TaskSummary) bool {
	p := j.checks.polls[t.Index]
	if t.Failed || len(t.Results) != 1 || t.Results[0].Worker != from || !slices.Contains(p.only, from) ||
		p.had(&t.Results[0]) {
		return false
	}
	if err := a.s.checkEnd(from, j, t); err != nil {
		a.s.refuseEnd(from, j, t.Index, err)
		return false
	}
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id, Index: t.Index}, Action: "brought by a worker", Peer: from,
		Reason: "it ran the task once more, which the leader did not bring"})
	a.cast(j, t, true)
	return true
}
