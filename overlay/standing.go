package overlay

import (
	"time"

	"godwit/task"
	"godwit/trace"
)

const (
	// standingPrior is how long a stranger is taken to have told the truth.
	standingPrior = 6 * time.Hour
	// standingSlack is left out at both ends of an absence: a lost connection is
	// noticed late, and a suspended machine knows of its sleep only afterwards.
	standingSlack = 2 * time.Minute
	// standingMemory bounds what is remembered of one member, good and bad
	// together: older behaviour fades as newer comes.
	standingMemory = 30 * 24 * time.Hour
	// maxAbsences bounds the absences of one member that wait for its account.
	maxAbsences = 64
	// maxStandings bounds the members remembered. With more, the one goes of which least was seen.
	maxStandings = 8192
)

// A Standing is how far members' own accounts are believed: what they say they
// did, against what this node saw of them while it relied on them. It is for one
// goroutine at a time; the zero value is empty.
type Standing struct {
	members map[task.PeerID]*account
}

// An account is what is known of one member.
type account struct {
	good, bad time.Duration
	absences  []window // not yet compared, oldest first
}

type window struct{ from, to time.Time }

// Present notes that a member was in reach for a time, as it said.
func (s *Standing) Present(peer task.PeerID, d time.Duration) {
	if a := s.of(peer); a != nil && d > 0 {
		a.good += d
		a.fade()
	}
}

// Absent notes that a member which this node relied on was out of reach from one
// time to another. Whether it then claims to have been there comes with Claims.
func (s *Standing) Absent(peer task.PeerID, from, to time.Time) {
	from, to = from.Add(standingSlack), to.Add(-standingSlack)
	a := s.of(peer)
	if a == nil || !from.Before(to) {
		return
	}
	if len(a.absences) == maxAbsences {
		a.absences = a.absences[1:]
	}
	a.absences = append(a.absences, window{from, to})
}

// Claims compares a member's own history with its absences. Each absence is
// judged once, when the history reaches beyond it: what the member claims to have
// been there for, in whatever state, counts against it, the rest for it.
func (s *Standing) Claims(peer task.PeerID, h *trace.History) {
	a, ok := s.members[peer]
	if !ok || h.Len() == 0 {
		return
	}
	left := a.absences[:0]
	for _, w := range a.absences {
		if h.Until().Before(w.to) {
			left = append(left, w)
			continue
		}
		there := claimed(h, w)
		a.bad += there
		a.good += max(0, w.to.Sub(w.from)-there)
	}
	a.absences = left
	a.fade()
}

// claimed is for how much of a window a history has the host on the network.
func claimed(h *trace.History, w window) time.Duration {
	var sum time.Duration
	for i := max(0, h.Find(later(w.from, h.Since()))); i < h.Len(); i++ {
		s := h.Spell(i)
		if !s.Start.Before(w.to) {
			break
		}
		if s.State < trace.Unavailable {
			sum += max(0, earlier(s.End, w.to).Sub(later(s.Start, w.from)))
		}
	}
	return sum
}

// Weight is how far a member's account is to be believed, above 0 and at most 1:
// the share of the time compared in which it spoke the truth. A stranger has 1.
func (s *Standing) Weight(peer task.PeerID) float64 {
	a, ok := s.members[peer]
	if !ok {
		return 1
	}
	good := float64(standingPrior + a.good)
	return good / (good + float64(a.bad))
}

// fade scales what is remembered down to standingMemory.
func (a *account) fade() {
	if sum := a.good + a.bad; sum > standingMemory {
		f := float64(standingMemory) / float64(sum)
		a.good, a.bad = time.Duration(f*float64(a.good)), time.Duration(f*float64(a.bad))
	}
}

// forgetLeast forgets the member of which least was seen: names that come and go do not take the places of members that
// this node relied on.
func (s *Standing) forgetLeast() {
	var least task.PeerID
	for peer, a := range s.members {
		if o := s.members[least]; o == nil || a.seen() < o.seen() || a.seen() == o.seen() && peer < least {
			least = peer
		}
	}
	delete(s.members, least)
}

// seen is the time of which something is known, or is to be compared.
func (a *account) seen() time.Duration {
	sum := a.good + a.bad
	for _, w := range a.absences {
		sum += w.to.Sub(w.from)
	}
	return sum
}

func (s *Standing) of(peer task.PeerID) *account {
	if a, ok := s.members[peer]; ok {
		return a
	}
	if len(s.members) >= maxStandings {
		s.forgetLeast()
	}
	if s.members == nil {
		s.members = map[task.PeerID]*account{}
	}
	a := &account{}
	s.members[peer] = a
	return a
}
