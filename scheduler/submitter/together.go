package submitter

import (
	"maps"
	"slices"

	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/task"
)

// A result stands no better than those that it was made of: what is final was made of final ones.

// together are how the results of a job stand with what they were made of. It is of one moment.
type together struct {
	a   *audits
	j   *submitted
	all map[uint64]message.Standing // of jobs with stages, as far as it was asked
	// whole are how the worst stands of all tasks of a stage.
	whole map[int]message.Standing
}

func (a *audits) together(j *submitted) *together {
	return &together{a: a, j: j, all: map[uint64]message.Standing{}, whole: map[int]message.Standing{}}
}

// of tells how the result of a task stands.
func (t *together) of(i uint64) message.Standing {
	own := t.a.standing(t.j, i)
	if t.j.staged == nil || own == "" || i < t.j.spec.Roots() {
		return own
	}
	if known, ok := t.all[i]; ok {
		return known
	}
	for n, members := range t.j.spec.Needed(i) {
		if n.Kind == task.NeedAfter {
			own = worse(own, t.stage(int(n.Stage)))
			continue
		}
		for u := range members.All() {
			own = worse(own, t.of(u))
		}
	}
	t.all[i] = own
	return own
}

// stage tells how the worst of all tasks of a stage stands.
func (t *together) stage(k int) message.Standing {
	worst, known := t.whole[k]
	if known {
		return worst
	}
	worst = message.StandingFinal
	from, to := t.j.spec.StageRange(k)
	for u := from; u < to; u++ {
		worst = worse(worst, t.of(u))
	}
	t.whole[k] = worst
	return worst
}

// worse returns the result's own standing, or what one that it was made of leaves of it.
func worse(own, of message.Standing) message.Standing {
	rank := func(s message.Standing) int {
		switch s {
		case message.StandingFinal, message.StandingReplaced:
			return 4
		case message.StandingAccepted:
			return 3
		case message.StandingUnchecked:
			return 2
		case message.StandingDoubted:
			return 0
		}
		return 1 // held, or not
	}
	if rank(of) >= rank(own) {
		return own
	}
	if of == "" {
		return message.StandingHeld
	}
	return of
}

// count tells how many results are accepted, unchecked and final.
func (t *together) count() (accepted, unchecked, final uint64) {
	for _, r := range t.j.have {
		for i := r.From; i < r.To; i++ {
			switch t.of(i) {
			case message.StandingAccepted:
				accepted++
			case message.StandingUnchecked:
				unchecked++
			case message.StandingFinal, message.StandingReplaced:
				final++
			}
		}
	}
	return accepted, unchecked, final
}

// standing tells how the result of a task that is held stands, whatever it was made of: see message.Standing.
func (a *audits) standing(j *submitted, i uint64) message.Standing {
	c := j.checks
	switch {
	case c == nil || !j.have.Contains(i):
		return ""
	case c.doubted.Contains(i):
		return message.StandingDoubted
	case c.wrong.Contains(i):
		return message.StandingReplaced
	case c.due.Contains(i), c.open.Contains(i), c.unread.Contains(i), c.unmatched.Contains(i):
		return message.StandingHeld
	}
	for worker, of := range c.by {
		if of.tasks.Contains(i) {
			return a.standingOf(j, worker, of, i)
		}
	}
	return message.StandingFinal // it was run here
}

// standingOf tells how a result of a worker stands that this node has not run again.
func (a *audits) standingOf(j *submitted, worker task.PeerID, of *accepted, i uint64) message.Standing {
	switch credit := a.known(worker); {
	case credit.Final(of.mark, a.s.now):
		return message.StandingFinal
	case a.abroad.accepts(worker), j.checks.parts[i].Checked > 0, j.checks.byVote.Contains(i):
		return message.StandingAccepted
	}
	return message.StandingUnchecked
}

// seen are the results that this node has not run again as a whole, but in part, or on which enough others agreed.
func (c *checks) seen() ledger.Set {
	out := slices.Clone(c.byVote)
	for _, i := range slices.Sorted(maps.Keys(c.parts)) {
		out.Add(i)
	}
	return out
}

// standingsOf counts the results of a worker that this node has not run again by how they stand; seen is as checks has
// it.
func (a *audits) standingsOf(worker task.PeerID, of *accepted, seen ledger.Set) (accepted, unchecked uint64) {
	switch credit := a.known(worker); {
	case credit.Final(of.mark, a.s.now):
		return 0, 0
	case a.abroad.accepts(worker):
		return of.tasks.Count(), 0
	}
	unchecked = of.tasks.Minus(seen).Count()
	return of.tasks.Count() - unchecked, unchecked
}
