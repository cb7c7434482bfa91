package submitter

import (
	"maps"
	"slices"
	"time"

	"godwit/task"
)

// Who coordinates has the ledger, and can tell that a task ran before: a run of it there is no blind
// one. So coordinators get no repeat where many others could have it, nor any task that checks a
// newcomer: what is known of them comes from their own results, of which as many are drawn as of
// anybody's. In a small pool, where repeats would wait for few, they get them.

// Coordinators says who coordinates. It is asked during Step only.
type Coordinators interface {
	// Group returns the coordinators by rank, at most seven. It is read only.
	Group() []task.PeerID
}

const (
	// mostSeers is how many are remembered that coordinated, the latest.
	mostSeers = 64
	// othersLend is how many lend beside the coordinators, to one of these, where repeats are blind:
	// they wait for three quarters of the pool at least.
	othersLend = 3
)

// Seers are the members that can tell what ran before. They are looked at in each Step, and mostly are the same.
type seers struct {
	at    map[task.PeerID]time.Time // when each was last seen to coordinate, but for those of group
	group []task.PeerID             // who coordinated at looked, in at too
	// looked is when the group was last seen.
	looked time.Time
}

// look notes who coordinates now.
func (s *seers) look(who Coordinators, now time.Time) {
	if who == nil {
		return
	}
	group := who.Group()
	if slices.Equal(group, s.group) {
		s.looked = now
		return
	}
	if s.at == nil {
		s.at = map[task.PeerID]time.Time{}
	}
	for _, w := range s.group {
		s.at[w] = s.looked
	}
	for _, w := range group {
		s.at[w] = now
	}
	s.group, s.looked = slices.Clone(group), now
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
	if slices.Contains(s.group, w) {
		at = s.looked
	}
	return did && !at.Before(j.spec.Submitted.Time)
}

// blind returns who of those that lend slots cannot tell that tasks of a job ran before; all, where these
// are too few.
func (s *seers) blind(j *submitted, all []task.PeerID) []task.PeerID {
	out := slices.DeleteFunc(slices.Clone(all), func(w task.PeerID) bool { return s.see(j, w) })
	if len(out) < othersLend*(len(all)-len(out)) {
		return all
	}
	return out
}
