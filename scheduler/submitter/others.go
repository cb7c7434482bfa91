package submitter

import (
	"fmt"
	"slices"
	"time"

	"godwit/credibility"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// Other members run tasks again that this node would take too long for: of a node that lends no core,
// all; else what its queue has beyond the time that the job took so far. The leader hears that the
// tasks are lacking, in another delivery, and who is not to have them: so their workers get ordinary
// leases of them. What is held stays held. A leader that brings nothing, or the same workers' word,
// only delays: see comeHome.

const (
	// askEvery is how often more tasks of a job are given to others: each time is another delivery,
	// of which the leader goes through what it has of the job.
	askEvery = 2 * time.Second
	// askAfter is for how long a machine lends nothing until others are asked.
	askAfter = 2 * time.Minute
	// answerIn and answerRuns are within what others have to answer: this, and so many times what the
	// first run took.
	answerIn   = 10 * time.Minute
	answerRuns = 8
	// queueIn is what this node's queue may take however young the job is.
	queueIn = time.Minute
	// redone is the share of what others ran again that this node does itself.
	redone = .1
)

// ask gives tasks of each job to others, as many as are due to go.
func (a *abroad) ask() {
	a.seers.look(a.s.cfg.Coordinators, a.s.now)
	a.recounted()
	for _, j := range a.polled() {
		c := j.checks
		a.comeHome(j)
		a.nameAll(j)
		a.seek(j)
		a.fresh.probe(j)
		if !a.mayAsk(j) {
			continue
		}
		if a.s.now.Before(c.askAt) {
			continue
		}
		if set := a.toAsk(j); len(set) > 0 {
			a.sendOut(j, set)
		} else {
			a.readPolls(j)
		}
	}
}

// polled lists the jobs that have results that others may run again.
func (a *abroad) polled() (out []*submitted) {
	for _, j := range a.jobs {
		if c := j.checks; len(c.polls)+len(c.sure.at)+len(c.due) > 0 {
			out = append(out, j)
		}
	}
	return out
}

// sendOut has others run tasks again.
func (a *abroad) sendOut(j *submitted, set ledger.Set) {
	var last *poll
	all, sent := a.workers(), 0
	for _, r := range set {
		for i := r.From; i < r.To; i++ {
			p := j.checks.polls[i]
			if !a.choose(j, i, all) {
				a.home(j, i, true)
				continue
			}
			sent++
			a.asks(j, p)
			if last == nil || p.answerBy().After(last.answerBy()) {
				last = p
			}
			j.checks.away.Add(i)
			a.notePoll(j, i)
		}
	}
	if sent == 0 {
		a.s.finish(j, false)
		return
	}
	a.remind(last)
	j.checks.askAt = a.s.now.Add(askEvery)
	a.s.timers.Set(j.checks.askAt, auditTimer)
	a.goOn(j)
	a.s.emit(message.Decided{Task: task.TaskID{Job: j.id}, Action: "run once more",
		Reason: fmt.Sprintf("others run %d tasks again, to compare", sent)})
}

// answerBy is when others must have answered.
func (p *poll) answerBy() time.Time {
	return p.asked.Add(answerIn + answerRuns*min(p.wall, task.MaxDuration))
}

// comeHome ends the wait for others that did not answer in time: others are drawn, and after mostTries this node
// runs the task itself.
func (a *abroad) comeHome(j *submitted) {
	c := j.checks
	if len(c.away) == 0 {
		return
	}
	var back ledger.Set
	for _, r := range c.away {
		for i := r.From; i < r.To; i++ {
			if !a.s.now.Before(c.polls[i].answerBy()) {
				back.Add(i)
			}
		}
	}
	for _, r := range back {
		for i := r.From; i < r.To; i++ {
			c.polls[i].tries++
			a.home(j, i, a.lends || c.polls[i].tries >= mostTries)
		}
	}
	if len(back) > 0 && !a.s.finish(j, false) {
		a.s.got(j)
	}
}

// came takes in what another worker came to of a task. The same workers' word is none: the leader is
// told again who is not to have the task.
func (a *abroad) came(from task.PeerID, j *submitted, t *message.TaskSummary) {
	asked := from == a.s.leader || from == a.s.self // nobody else was asked to bring it
	if err := a.s.checkEnd(from, j, t); err != nil {
		a.s.refuseEnd(from, j, t.Index, err)
		if asked {
			a.inVain(j, t.Index)
		}
		return
	}
	a.cast(j, t, asked)
}

// inVain takes in that the leader brought what is no answer. It is told again; one that goes on so is not
// waited for: this node runs the task itself, if it lends a core, else others are drawn, as if nobody had
// answered.
func (a *abroad) inVain(j *submitted, i uint64) {
	p := j.checks.polls[i]
	if p.vain++; !a.lends && p.vain < mostVain {
		j.againTold = false
		return
	}
	p.vain = 0
	p.tries++
	if a.home(j, i, a.lends || p.tries >= mostTries); !a.s.finish(j, false) {
		a.s.got(j)
	}
}

// count decides by what others came to: it is believed, or one more is asked, or this node runs the
// task.
func (a *abroad) count(j *submitted, i uint64) {
	p := j.checks.polls[i]
	switch {
	case len(p.against) > 0 && a.lends: // the referee is here
		a.home(j, i, true)
	case a.resolve(j, i):
	case a.wantsMore(j, i) && a.choose(j, i, a.workers()):
		a.asks(j, p)
		a.remind(p)
		j.againTold = false
		a.notePoll(j, i)
	default:
		a.home(j, i, true)
	}
}

// wantsMore reports whether another run of a task could decide it.
func (a *abroad) wantsMore(j *submitted, i uint64) bool {
	p := j.checks.polls[i]
	return p.ran() < mostOpposed && (len(p.against) > 0 || a.saying(p.with) < mostAgreeing)
}

// resolve decides what the runs of a task come to, if that is beyond doubt, and reports whether it is.
func (a *abroad) resolve(j *submitted, i uint64) bool {
	p, signer, target := j.checks.polls[i], j.checks.signer[i], a.bound(j)
	id := task.TaskID{Job: j.id, Index: i}
	held, winners, doubt := a.vote(j, i)
	if len(p.against) == 0 {
		if len(p.with) == 0 || !a.enough(j, signer, winners) || doubt > target || a.crowds(j, winners) {
			return false
		}
		a.agreed(j, i)
		return true
	}
	if doubt > target || a.lends || held && len(p.with) == 0 { // its signer's word alone is no agreement
		return false
	}
	losers := p.losers(signer, winners)
	if held {
		a.outvote(id, losers)
		a.agreed(j, i)
		return true
	}
	if j.state.Settled { // its owner has it
		return false
	}
	k := slices.IndexFunc(p.against, func(b ballot) bool { return b.Worker == winners[0] })
	j.checks.elected[i] = &elected{p.against[k].Says, winners}
	doubting{a.audits}.reopen(j, only(i), signer, "most came to something else: others run the task again")
	a.outvote(id, losers)
	return true
}

// agreed believes a result by what others came to. Some of these this node runs again all the same,
// drawn when all is signed: before the job is over, where it lends a core, else once it does.
func (a *abroad) agreed(j *submitted, i uint64) {
	c, id := j.checks, task.TaskID{Job: j.id, Index: i}
	p, signer := c.polls[i], c.signer[i]
	for _, w := range p.with {
		a.praise(signer, w)
		a.praise(w, signer)
	}
	drawn := len(credibility.Draw(task.DrawKey(a.s.key, j.spec.Nonce), i, p.drawn, 1, redone)) > 0
	by, with := signer, p.with
	if a.known(signer).Faults > 0 { // its word is none: another's stands for it
		by, with = with[0], with[1:]
	}
	if drawn && a.lends || by != signer && !j.state.Settled {
		a.home(j, i, true)
		return
	}
	mark := a.known(by)
	at := mark.Mark(a.s.now)
	a.note(j, checked{Index: i, State: verdictAccepted, Worker: by, Audits: at.Audits, At: at.At.Unix(),
		Failed: c.failed.Contains(i), Engine: c.engines[by], With: with, ByVote: true, Redo: drawn, Network: a.networkOf(by)})
	a.s.emit(message.Decided{Task: id, Action: "agreed", Peer: p.with[len(p.with)-1],
		Reason: fmt.Sprintf("%d others came to the same", len(p.with))})
	a.deliver(j)
}

// praise adds to what is believed of a worker that another came to the same: as far as this node saw
// that one right itself.
func (a *abroad) praise(of, by task.PeerID) {
	credit := a.known(by)
	weight := min(1, credit.Right(a.s.now))
	if a.s.cfg.Pool.Prior <= credibility.InvitedPool.Prior {
		weight = 1
	}
	if credit.Says(a.s.now) && weight > 0 {
		a.credit(of).Praise(weight, a.s.now)
		a.keep(of)
	}
}

// drop deletes what others came to of a task.
func (a *abroad) drop(id task.TaskID) {
	for _, key := range OtherKeys(id) {
		a.s.emit(message.Persist{Key: key})
	}
}

// recounted decides what can be decided now that somebody has no more say.
func (a *abroad) recounted() {
	for a.recount {
		a.recount = false
		for _, j := range a.polled() {
			decided := false
			for _, r := range slices.Clone(j.checks.away) {
				for i := r.From; i < r.To; i++ {
					if p := j.checks.polls[i]; p != nil && p.ran() > 0 && j.checks.away.Contains(i) && a.resolve(j, i) {
						decided = true
					}
				}
			}
			if !a.s.finish(j, false) && decided { // it may have waited for these alone
				a.s.got(j)
			}
		}
	}
}
