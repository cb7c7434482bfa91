package overlay

import (
	"cmp"
	"slices"
	"time"

	"godwit/task"
)

// Tick says that it is now. It is called when Next says, and may be at any time.
func (s *Suspicion) Tick(now time.Time) []SuspicionEffect {
	s.relax(now)
	var effects []SuspicionEffect
	for _, peer := range s.watched() {
		w := s.members[peer]
		switch {
		case w.phase == waiting && !now.Before(w.until):
			w.why = "only others reach it"
			effects = append(effects, s.probe(peer, w, now)...)
		case w.phase == resting && !now.Before(w.until):
			effects = append(effects, s.look(peer, w, now)...)
		case (w.phase == probing || w.phase == looking) && !now.Before(w.until.Add(driverGrace)):
			effects = append(effects, s.Failed(peer, false, now)...)
		case w.phase == asking && !now.Before(w.until):
			if s.late(w, now) {
				// Their answers may be waiting to be read.
				w.until, s.moved = now.Add(s.waits(IndirectWait)), true
				continue
			}
			effects = append(effects, s.lose(peer, w, w.silence()+", and no answer came through others either", now)...)
		}
	}
	return effects
}

// Next returns when Tick is to be called at the latest, and false while nobody
// is suspected.
func (s *Suspicion) Next() (time.Time, bool) {
	if s.moved { // it is asked after each sign of life, which mostly changes nothing
		s.next, s.moved = s.first(), false
	}
	return s.next, !s.next.IsZero()
}

// first is when the first phase ends; zero for never.
func (s *Suspicion) first() time.Time {
	var next time.Time
	for _, w := range s.members {
		at := w.until
		switch w.phase {
		case quiet:
			continue
		case probing, looking:
			at = at.Add(driverGrace)
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// watched are the members whose probing is under way, sorted.
func (s *Suspicion) watched() []task.PeerID {
	var out []task.PeerID
	for peer, w := range s.members {
		if w.phase != quiet {
			out = append(out, peer)
		}
	}
	slices.Sort(out)
	return out
}

// late says whether the end of a phase came so late that this process must have
// stood still, so that the phase is to be repeated. It is believed all the same
// after maxDelays.
func (s *Suspicion) late(w *watch, now time.Time) bool {
	end := w.until.Add(lateness)
	if w.phase == probing {
		end = end.Add(driverGrace)
	}
	if now.Before(end) {
		return false
	}
	s.strained(now)
	if w.delays == maxDelays {
		return false
	}
	w.delays++
	return true
}

// strained adds to the strain: see Lease.notice.
func (s *Suspicion) strained(now time.Time) {
	s.strain, s.calm = min(s.strain+1, maxStrain), now
}

// relax takes from the strain what time has.
func (s *Suspicion) relax(now time.Time) {
	if n := int(now.Sub(s.calm) / calmAfter); n > 0 {
		s.strain, s.calm = max(0, s.strain-n), now
	}
}

// of returns what is held of a member, made if need be. It is nil for this node
// itself, and for a newcomer when MaxBeliefs are held and none of them is lost.
func (s *Suspicion) of(peer task.PeerID, now time.Time) *watch {
	if w, ok := s.members[peer]; ok || peer == s.self {
		return w
	}
	s.trim(now)
	if len(s.members) >= MaxBeliefs {
		return nil
	}
	w := &watch{since: now}
	s.members[peer] = w
	return w
}

// trim makes room when MaxBeliefs are held: it forgets those lost for lostMemory,
// and at least an eighth of those lost at all, the ones lost first. So a flood of
// names that come and go costs little for each.
func (s *Suspicion) trim(now time.Time) {
	if len(s.members) < MaxBeliefs {
		return
	}
	var lost []task.PeerID
	for peer, w := range s.members {
		if w.state == Lost {
			lost = append(lost, peer)
		}
	}
	slices.SortFunc(lost, func(a, b task.PeerID) int {
		return cmp.Or(s.members[a].since.Compare(s.members[b].since), cmp.Compare(a, b))
	})
	for i, peer := range lost {
		if i <= len(lost)/8 || now.Sub(s.members[peer].since) >= lostMemory {
			delete(s.members, peer)
			s.moved = true
		}
	}
}
