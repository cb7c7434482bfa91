package overlay

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"godwit/task"
)

const (
	// lookFirst is after how long a member that was lost is looked for again; each further time it
	// takes twice as long. A process that starved for a while, or a network that was away, lets
	// members seem lost that are there, and nobody may connect to them, or hear their next advert,
	// for a quarter of an hour.
	lookFirst = 30 * time.Second
	// maxLooks of them take as long as it does until the next advert.
	maxLooks = 5

	// tellSlack is how far the clock of a member may be ahead of this one: an advert that it issued so long
	// after it was lost is a sign of life.
	tellSlack = 10 * time.Second
	// maxAsks lost members are asked at once, within askSpan, because somebody told of them: a neighbour that
	// has not lost them tells of a few. Who tells of thousands has no more dials made than that.
	maxAsks = 4
	askSpan = ProbeWait + driverGrace
)

// Told takes in that somebody tells of a lost member, by an advert that it issued then. It reports whether
// the member is there: one that was issued before the loss says only that whoever tells it has not noticed
// yet, so that the member is asked at once, if that was not done just now, and not too many are asked.
func (s *Suspicion) Told(peer task.PeerID, issued, now time.Time) (there bool, effects []SuspicionEffect) {
	w := s.members[peer]
	if w == nil || w.state != Lost || issued.After(w.since.Add(tellSlack)) {
		return true, nil
	}
	oldest := s.asks[s.nextAsk]
	if w.phase == looking || now.Sub(w.retold) < lookFirst || !oldest.IsZero() && now.Sub(oldest) < askSpan {
		return false, nil
	}
	s.asks[s.nextAsk], w.retold = now, now
	s.nextAsk = (s.nextAsk + 1) % maxAsks
	return false, s.look(peer, w, now)
}

// lookLater has a lost member looked for again after a while, unless that was done often enough. The
// times of several nodes, and for several members, are spread by their names.
func (s *Suspicion) lookLater(peer task.PeerID, w *watch, now time.Time) {
	if w.looks >= maxLooks {
		w.phase, s.moved = quiet, true
		return
	}
	after := lookFirst << w.looks
	name := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", s.self, peer, w.looks))
	w.looks++
	drawn := binary.BigEndian.Uint32(name[:]) % uint32(after.Milliseconds()/2)
	w.phase, w.until, s.moved = resting, now.Add(after+time.Duration(drawn)*time.Millisecond), true
}

// look asks a lost member for a sign of life.
func (s *Suspicion) look(peer task.PeerID, w *watch, now time.Time) []SuspicionEffect {
	wait := s.waits(ProbeWait)
	w.phase, w.until, w.wait, w.probed, s.moved = looking, now.Add(wait), wait, now, true
	return []SuspicionEffect{Probe{Peer: peer, Wait: wait}}
}
