package submitter

import (
	"slices"

	"godwit/credibility"
	"godwit/task"
)

// Keys cost nothing in an open pool, so agreeing strangers prove little. Each stranger's vote is weighed with the
// prior for strangers, results on which only strangers agree stay within the limits for crowds, and strangers never
// decide a vote in which workers disagree.

// knownAfter is the number of a worker's tasks that this node has to find right before the worker counts as known. A
// source's first three results are always checked, and a part of these fades.
const knownAfter = 2

// isKnown reports whether a worker's vote can decide between different results: this node has found enough of its
// work right itself, or the pool assumes no strangers. A worker's age alone does not suffice.
func (a *abroad) isKnown(w task.PeerID) bool {
	c := a.known(w)
	return a.s.cfg.Strangers.Prior == 0 || c.Right(a.s.now) >= knownAfter
}

// acceptedAfter is the number of a worker's tasks that this node has to find right before it calls unchecked results of
// the worker accepted. By credibility.Terms.Doubt with the prior for strangers, .33, the chance of a wrong one is then at
// most 3 %. A worker with every second result wrong passes six checks one time in 64.
const acceptedAfter = 6

// accepts reports whether this node calls a worker's results accepted that it did not check.
func (a *abroad) accepts(w task.PeerID) bool {
	c := a.known(w)
	return a.s.cfg.Strangers.Prior == 0 || c.Right(a.s.now) >= acceptedAfter
}

// bound is the chance of a wrong result up to which a vote on a task of the job is accepted. A job that names a share
// instead of a bound has the default bound.
func (a *abroad) bound(j *submitted) float64 {
	if target := j.spec.Verify.Target(); target > 0 {
		return target
	}
	return credibility.OpenPool.Target
}

// votes groups the workers that ran a task by their result. The first group is the signer's, whose result is held.
func (p *poll) votes(signer task.PeerID) [][]task.PeerID {
	groups := [][]task.PeerID{append([]task.PeerID{signer}, p.with...)}
	var says []stamp
	for _, b := range p.against {
		k := slices.IndexFunc(says, b.Says.agrees)
		if k < 0 {
			k = len(says)
			says, groups = append(says, b.Says), append(groups, nil)
		}
		groups[k+1] = append(groups[k+1], b.Worker)
	}
	return groups
}

// vote returns whether the held result is most likely right, the workers that agree on the most likely result, and
// the chance that this result is wrong. Where workers disagree, only known workers count for the winner, and all
// workers against it. Workers that were found wrong, or outvoted, have no vote.
func (a *abroad) vote(j *submitted, i uint64) (held bool, winners []task.PeerID, doubt float64) {
	signer := j.checks.signer[i]
	groups := j.checks.polls[i].votes(signer)
	doubts := make([][]float64, len(groups))
	for k, g := range groups {
		doubts[k] = a.weigh(j, signer, g, func(task.PeerID) bool { return true })
	}
	best, doubt := credibility.Vote(doubts)
	if len(groups) > 1 {
		doubts[best] = a.weigh(j, signer, groups[best], func(w task.PeerID) bool {
			return a.isKnown(w) || a.isAuditor(j, signer, w)
		})
		decided, at := credibility.Vote(doubts)
		if doubt = at; decided != best || len(doubts[best]) == 0 {
			doubt = 1
		}
	}
	return best == 0, groups[best], doubt
}

// weigh returns the chance that each of some workers is wrong, of those that count and have a vote.
func (a *abroad) weigh(j *submitted, signer task.PeerID, group []task.PeerID, counts func(task.PeerID) bool) (
	doubts []float64) {
	for _, w := range group {
		switch credit := a.known(w); {
		case credit.Faults > 0 || !counts(w):
		case a.isAuditor(j, signer, w): // its owner's word
			doubts = append(doubts, 0)
		case a.says(w):
			terms := credibility.Terms{Prior: a.priorOf(w)}
			doubts = append(doubts, terms.Doubt(credit.Believed(a.s.now)))
		}
	}
	return doubts
}

// isAuditor reports whether the job names a worker, which is not the result's signer, as an auditor.
func (a *abroad) isAuditor(j *submitted, signer, w task.PeerID) bool {
	return w != signer && slices.Contains(j.spec.Verify.Auditors, w)
}

// enough reports whether agreeing workers are more than one with a vote, or include an auditor.
func (a *abroad) enough(j *submitted, signer task.PeerID, agree []task.PeerID) bool {
	return a.saying(agree) > 1 ||
		slices.ContainsFunc(agree, func(w task.PeerID) bool { return a.isAuditor(j, signer, w) })
}

// says reports whether a worker has a vote.
func (a *abroad) says(w task.PeerID) bool {
	c := a.known(w)
	return c.Says(a.s.now)
}

// saying counts the workers that have a vote.
func (a *abroad) saying(workers []task.PeerID) (n int) {
	for _, w := range workers {
		if a.says(w) {
			n++
		}
	}
	return n
}

// crowds reports whether a result on which some workers agree exceeds a limit for crowds: all of them are in one
// network, or all are strangers of whose work this node has checked too little.
func (a *abroad) crowds(j *submitted, agree []task.PeerID) bool {
	if a.s.cfg.Strangers == (credibility.Strangers{}) ||
		slices.ContainsFunc(agree, func(w task.PeerID) bool { return slices.Contains(j.spec.Verify.Auditors, w) }) {
		return false
	}
	network, strangers := a.networkOf(agree[0]), true
	for _, w := range agree {
		if a.networkOf(w) != network {
			network = ""
		}
		credit := a.known(w)
		strangers = strangers && credit.Stranger(a.s.now) && !a.isKnown(w)
	}
	return a.crowdingWith(j, strangers, network).times > 1
}
