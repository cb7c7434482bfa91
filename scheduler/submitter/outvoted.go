package submitter

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// A worker to whom others' runs, beyond doubt, came to something else has no more say here, for as long
// as credibility.Credit says, nor a task of a job that is checked. That proves nothing: nobody is named,
// and nobody else is told. What it had a say in before is looked at again without it.

// says reports whether a worker has a say in what others came to.
func (a *audits) says(w task.PeerID) bool {
	c := a.known(w)
	return c.Says(a.s.now)
}

// saying counts those of some workers that have a say.
func (a *audits) saying(workers []task.PeerID) (n int) {
	for _, w := range workers {
		if a.says(w) {
			n++
		}
	}
	return n
}

// losers are all who had a say in a poll and are not among the winners.
func (p *poll) losers(signer task.PeerID, winners []task.PeerID) []task.PeerID {
	all := append([]task.PeerID{signer}, p.with...)
	for _, b := range p.against {
		all = append(all, b.Worker)
	}
	return slices.DeleteFunc(all, func(w task.PeerID) bool { return slices.Contains(winners, w) })
}

// outvote takes their say from workers that others outvoted.
func (a *abroad) outvote(id task.TaskID, losers []task.PeerID) {
	for _, w := range losers {
		if !a.says(w) {
			continue
		}
		a.credit(w).Outvote(a.s.now)
		a.keep(w)
		a.s.emit(message.Decided{Task: id, Action: "outvoted", Peer: w,
			Reason: "most came to something else, and this machine lends no core to see"})
		a.distrust(w, true)
	}
	a.tellRefused()
}

// pardon gives all who were outvoted their say again: one that had a say then lied.
func (a *audits) pardon() {
	for _, w := range slices.Sorted(maps.Keys(a.credits)) {
		if c := a.credits[w]; c.Faults == 0 && !c.Says(a.s.now) {
			a.s.emit(message.Decided{Action: "has a say again", Peer: w,
				Reason: "it was outvoted, and one that others agreed with was wrong"})
			c.Outvoted = time.Time{}
			a.keep(w)
		}
	}
}

// recounted decides what can be decided now that somebody has no more say.
func (a *abroad) recounted() {
	for a.recount {
		a.recount = false
		for _, id := range a.polled() {
			j := a.s.jobs[id]
			for _, r := range slices.Clone(j.checks.away) {
				for i := r.From; i < r.To; i++ {
					if p := j.checks.polls[i]; p != nil && p.ran() > 0 && j.checks.away.Contains(i) {
						a.resolve(j, i)
					}
				}
			}
		}
	}
}
