package submitter

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Which tasks others run again, and what of that a leader hears.

// An abroad has other members run tasks again: see askAfter. It goes by all that the audits know.
type abroad struct {
	*audits
	// lends says whether the machine lends a core, and since when that is so; heard is set once it
	// was said.
	lends, heard bool
	since        time.Time
	// recount is set while somebody lost its say since polls were looked at.
	recount bool
	seers   seers
}

// lend takes in how many cores the machine lends.
func (a *abroad) lend(cores int) {
	if a.lends != (cores > 0) {
		if a.lends = !a.lends; a.heard { // else it lent nothing before, either
			a.since = a.s.now
		}
		a.s.timers.Set(a.since.Add(askAfter), auditTimer)
	}
	a.heard = true
}

// abroad reports whether this machine has lent nothing for so long that others are asked.
func (a *abroad) lendsNothing() bool { return !a.lends && !a.s.now.Before(a.since.Add(askAfter)) }

// told is what the leader hears that is held of a job: all but what others are to run again, and
// what other cells have.
func (j *submitted) told() ledger.Set {
	if j.lending == nil {
		return j.waived()
	}
	out := slices.Clone(j.waived())
	out.Union(j.lent())
	return out
}

// mine is what is held of a job and is not to run again elsewhere.
func (j *submitted) mine() ledger.Set {
	if j.checks == nil || len(j.checks.away)+len(j.checks.sure.probed) == 0 {
		return j.have
	}
	return j.have.Minus(j.checks.away).Minus(j.checks.sure.out())
}

// again lists what a leader is to have run once more.
func (a *abroad) again(j *submitted) []message.Again {
	if j.checks == nil {
		return nil
	}
	var out []message.Again
	self := a.s.self
	for _, r := range j.checks.away {
		for i := r.From; i < r.To; i++ {
			p := j.checks.polls[i]
			out = append(out, message.Again{Index: i, Not: barred(p.makers, self), Only: slices.Clone(p.only)})
		}
	}
	s := &j.checks.sure
	for _, i := range slices.Sorted(maps.Keys(s.probed)) {
		out = append(out, message.Again{Index: i, Not: barred(s.at[i].poll.makers, self),
			Only: []task.PeerID{s.probed[i].worker}})
	}
	return out
}

// barred is as many of the makers of a task as a message names, and this node, which runs the task
// otherwise if it is to.
func barred(makers []task.PeerID, self task.PeerID) []task.PeerID {
	return append([]task.PeerID{self}, makers[:min(len(makers), message.MaxBarred-1)]...)
}

// mayAsk reports whether others can be asked about a job now.
func (a *abroad) mayAsk(j *submitted) bool {
	return j.checks != nil && a.s.leader != "" && j.state.Error == "" && !j.ended(a.s.now) &&
		j.state.Delivery+1 < ledger.MaxDelivery
}

// toAsk lists the tasks of a job that others are to run again now, as many as may be at a time.
func (a *abroad) toAsk(j *submitted) (out ledger.Set) {
	c := j.checks
	queue := c.due.Minus(c.away).Minus(c.stays)
	over := a.beyond(j, queue.Count())
	if room := message.MaxAgain - mostProbed - int(c.away.Count()); over > room {
		over = room
	}
	for _, r := range slices.Backward(queue) {
		for i := r.To; i > r.From && over > 0; i-- {
			if c.polls[i-1] != nil && a.at[task.TaskID{Job: j.id, Index: i - 1}] == nil {
				out.Add(i - 1)
				over--
			}
		}
	}
	return out
}

// beyond is how many of the tasks of a job that wait to be run again are too many for this node.
func (a *abroad) beyond(j *submitted, queue uint64) int {
	if a.lendsNothing() {
		return int(min(queue, message.MaxAgain))
	}
	if len(j.spec.Verify.Auditors) > 0 {
		return int(min(queue-min(queue, uint64(a.s.cfg.Audits)), message.MaxAgain))
	}
	if !a.lends {
		return 0
	}
	most := a.leftHere(j)
	if takes := j.takesHere(a.s.now); takes > 0 {
		limit := max(queueIn, a.s.now.Sub(j.spec.Submitted.Time)) * time.Duration(a.s.cfg.Audits)
		most = min(most, uint64(limit/takes))
	}
	return int(min(queue-min(queue, most), message.MaxAgain))
}

// goOn has a job go on, in another delivery: the leader is to bring something again.
func (a *abroad) goOn(j *submitted) {
	j.over = farewell{}
	j.state.Final, j.state.Have, j.state.Failed = false, nil, 0
	j.state.Delivery++
	j.againTold = false
	a.s.persist(j)
	a.s.emit(message.JobChanged{Job: j.id})
	a.s.soon(j)
}

// notePoll keeps what is known of a task that is due and its poll.
func (a *abroad) notePoll(j *submitted, i uint64) {
	c := j.checks
	signer, p := c.signer[i], c.polls[i]
	a.note(j, checked{Index: i, State: verdictDue, Doubted: c.doubted.Contains(i), Worker: signer,
		Failed: c.failed.Contains(i), Engine: c.engines[signer], Poll: p.kept(c.engines[signer], c.stays.Contains(i))})
	if now := c.polls[i]; now != nil {
		now.only, now.drawn, now.vain, now.sought = p.only, p.drawn, p.vain, p.sought
	}
}

// allHome ends the wait for all others, of a job of which nothing more is to be had.
func (a *abroad) allHome(j *submitted) {
	for _, r := range slices.Clone(j.checks.away) {
		for i := r.From; i < r.To; i++ {
			a.home(j, i, true)
		}
	}
}

// asksSoon reports whether others are to run tasks of a job again that they do not yet.
func (a *abroad) asksSoon(j *submitted) bool { return a.mayAsk(j) && len(a.toAsk(j)) > 0 }

// home has a task wait for this node, or until others are asked again.
func (a *abroad) home(j *submitted, i uint64, stays bool) {
	c := j.checks
	c.away = c.away.Minus(only(i))
	c.polls[i].asked, c.polls[i].only = time.Time{}, nil
	if stays {
		c.stays.Add(i)
	}
	a.notePoll(j, i)
}

// leaves reports whether others may be asked about a task that is to run again here, where nothing is
// lent.
func (a *abroad) leaves(at *auditing) bool {
	j, i := a.s.jobs[at.id.Job], at.id.Index
	return j.staged == nil && a.lendsNothing() && at.compiled == nil && a.mayAsk(j) && !j.checks.stays.Contains(i) &&
		!j.checks.unpolled.Contains(i) // what has no poll yet is read for one
}

// alone reports whether nobody but this node can run a task again.
func (a *abroad) alone(id task.TaskID) bool {
	c := a.s.jobs[id.Job].checks
	return c.polls[id.Index] == nil || c.stays.Contains(id.Index)
}

// mayHere reports whether this node is to run a task again now: where it lends a core, and else what
// nobody else can, so that no result waits for ever. Its owner asked for that with the job. Before it is heard
// whether it lends one nothing runs: it would wait for a core where there may be none.
func (a *abroad) mayHere(at *auditing) bool {
	return a.lends && a.heard || a.lendsNothing() && (at.compiled != nil || a.alone(at.id))
}
