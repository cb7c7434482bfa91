package submitter

import (
	"maps"
	"slices"
	"time"

	"godwit/scheduler/message"
	"godwit/task"
)

// Who coordinates has the ledger, and can tell that a task ran before: a run of it there is no blind
// one. So coordinators get no repeat where many others could have it, nor any task that checks a
// newcomer: what is known of them comes from their own results, of which as many are drawn as of
// anybody's. In a small pool, where repeats would wait for few, they get them.

// Bystanders says who may run a task. Its methods are called during Step only.
type Bystanders interface {
	// Group returns the coordinators by rank, at most seven. It is read only.
	Group() []task.PeerID
	// Lending lists members that lend slots, this node not among them, nor some besides; at most so
	// many, in order.
	Lending(besides []task.PeerID, most int) []task.PeerID
}

const (
	// mostSeers is how many are remembered that coordinated, the latest.
	mostSeers = 64
	// othersLend is how many lend beside the coordinators, to one of these, where repeats are blind:
	// they wait for two thirds of the pool at least.
	othersLend = 2
)

// Seers are the members that can tell what ran before.
type seers struct{ at map[task.PeerID]time.Time } // when each was last seen to coordinate

// look notes who coordinates now.
func (s *seers) look(who Bystanders, now time.Time) {
	if who == nil {
		return
	}
	for _, w := range who.Group() {
		if s.at == nil {
			s.at = map[task.PeerID]time.Time{}
		}
		s.at[w] = now
	}
	for len(s.at) > mostSeers {
		oldest := slices.MinFunc(slices.Sorted(maps.Keys(s.at)), func(a, b task.PeerID) int {
			return s.at[a].Compare(s.at[b])
		})
		delete(s.at, oldest)
	}
}

// see reports whether a member has coordinated since a job was handed in.
func (s *seers) see(j *submitted, w task.PeerID) bool {
	at, did := s.at[w]
	return did && !at.Before(j.spec.Submitted.Time)
}

// of lists those that have coordinated since a job was handed in, in order.
func (s *seers) of(j *submitted) []task.PeerID {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.at)), func(w task.PeerID) bool { return !s.see(j, w) })
}

// lending lists members that may run tasks of a job again and cannot tell that these ran before: more
// than ran one. There are none where they would be too few.
func (a *abroad) lending(j *submitted) []task.PeerID {
	who := a.s.cfg.Bystanders
	if who == nil {
		return nil
	}
	seers := a.seers.of(j)
	out := who.Lending(seers, max(message.MaxBarred+1, othersLend*len(seers)))
	if len(out) < othersLend*len(seers) {
		return nil
	}
	return slices.DeleteFunc(out, func(w task.PeerID) bool { return a.known(w).Faults > 0 })
}

// shut has a task that is about to run again go to nobody who coordinates, where others are lending
// that may have it. When they did not answer in time anybody may.
func (a *abroad) shut(j *submitted, i uint64, lending []task.PeerID) {
	p := j.checks.polls[i]
	p.shut = p.tries == 0 && len(j.spec.Verify.Auditors) == 0 && slices.ContainsFunc(lending, func(w task.PeerID) bool {
		return !slices.Contains(p.makers, w)
	})
}

// notFor lists who is not to have a task that runs again, as many as a message names: this node, which
// runs it otherwise if it is to, those who ran it, and those who coordinate where the task is shut.
func (a *abroad) notFor(j *submitted, p *poll) []task.PeerID {
	out := barred(p.makers, a.s.self)
	if !p.shut {
		return out
	}
	for _, w := range a.seers.of(j) {
		if len(out) < message.MaxBarred && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
